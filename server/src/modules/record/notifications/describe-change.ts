import { formatMinute } from '../../../lib/period.ts'

/** A change in words: what it was, and values as they were and as they are now. Never a secret. */
export type ChangeInWords = {
  /** One sentence that names what changed and not who did it: `The policy "Large" was updated`. */
  sentence: string
  before?: Record<string, unknown> | undefined
  after?: Record<string, unknown> | undefined
}

const valueLengthMax = 300
/** What is shown of a long value before the first difference. */
const contextLength = 100

/** The lines that a mail shows of one change: what, from which values to which, by whom, when, and where it is recorded. */
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

/** A value as `quote` shows it; a long one from shortly before the place where it begins to differ from the other one. */
function excerpt(value: unknown, other: unknown): string {
  const [text, otherText] = [JSON.stringify(value ?? null), JSON.stringify(other ?? null)]
  if (Math.max(text.length, otherText.length) <= valueLengthMax) return text
  let same = 0
  while (same < text.length && text[same] === otherText[same]) same += 1
  const begin = Math.max(0, Math.min(same, text.length) - contextLength)
  const end = begin + valueLengthMax
  return `${begin > 0 ? '…' : ''}${text.slice(begin, end)}${end < text.length ? '…' : ''}`
}

/** A value within quotation marks and on one line, out of which no name can break. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return text.length > valueLengthMax ? `${text.slice(0, valueLengthMax)}…` : text
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}
