import { formatMinute } from '../../../lib/period.ts'

/** The facts of an announcement: what happened, and the values before and after. It must not hold a secret. */
export type ChangeInWords = {
  /** One sentence without the actor and the full stop: `The policy "Large" was updated`. */
  sentence: string
  before?: Record<string, unknown> | undefined
  after?: Record<string, unknown> | undefined
}

const valueLengthMax = 300
/** How many characters of a long value are shown before the first difference. */
const contextLength = 100

/** The text of one change in a mail: what changed, the old and new values, the actor, the time and the audit record. */
export function describeChange(
  { sentence, before = {}, after = {} }: ChangeInWords,
  { actor, now, auditRecordId }: { actor: string; now: Date; auditRecordId: string },
): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const values = names.flatMap((name) => {
    if (!(name in after)) return isEmpty(before[name]) ? [] : [`- ${name} was: ${quote(before[name])}`]
    if (!(name in before)) return isEmpty(after[name]) ? [] : [`- ${name}: ${quote(after[name])}`]
    return [`- ${name}: from ${excerpt(before[name], after[name])} to ${excerpt(after[name], before[name])}`]
  })
  return [
    `${sentence}.`,
    ...values,
    `By: ${quote(actor)}`,
    `At: ${formatMinute(now)}`,
    `Audit record: ${auditRecordId}`,
  ].join('\n')
}

/** A value as JSON. A long one is cut to the part around the first difference from the other value. */
function excerpt(value: unknown, other: unknown): string {
  const [text, otherText] = [JSON.stringify(value ?? null), JSON.stringify(other ?? null)]
  if (Math.max(text.length, otherText.length) <= valueLengthMax) return text
  let same = 0
  while (same < text.length && text[same] === otherText[same]) same += 1
  const begin = Math.max(0, Math.min(same, text.length) - contextLength)
  const end = begin + valueLengthMax
  return `${begin > 0 ? '…' : ''}${text.slice(begin, end)}${end < text.length ? '…' : ''}`
}

/** A value as JSON on one line, so that a name cannot add lines to a mail. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return text.length > valueLengthMax ? `${text.slice(0, valueLengthMax)}…` : text
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}
