/** A change in words: what it was, and values as they were and as they are now. Never a secret. */
export type ChangeInWords = {
  /** One sentence that names what changed and not who did it: `The policy "Large" was updated`. */
  sentence: string
  before?: Record<string, unknown> | undefined
  after?: Record<string, unknown> | undefined
}

const valueLengthMax = 300

/** The lines that a mail shows of one change: what, from which values to which, by whom, when, and where it is recorded. */
export function describeChange(
  { sentence, before = {}, after = {} }: ChangeInWords,
  { actor, now, auditRecordId }: { actor: string; now: Date; auditRecordId: string },
): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const values = names.flatMap((name) => {
    if (!(name in after)) return isEmpty(before[name]) ? [] : [`- ${name} was: ${quote(before[name])}`]
    if (!(name in before)) return isEmpty(after[name]) ? [] : [`- ${name}: ${quote(after[name])}`]
    return [`- ${name}: from ${quote(before[name])} to ${quote(after[name])}`]
  })
  return [
    `${sentence}.`,
    ...values,
    `By: ${quote(actor)}`,
    `At: ${now.toISOString()}`,
    `Audit record: ${auditRecordId}`,
  ].join('\n')
}

/** A value within quotation marks and on one line, out of which no name can break. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return text.length > valueLengthMax ? `${text.slice(0, valueLengthMax)}…` : text
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}
