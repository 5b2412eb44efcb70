/** The fields whose text may have several lines, by their name; every other text is one line. */
const multiLineFields = new Set([
  'blockReason',
  'comment',
  'description',
  'helpText',
  'note',
  'paymentPurpose',
  'reason',
])

/**
 * An emoji that may need joiners and variation selectors to be drawn. Unicode defines its look, so it cannot hide text.
 */
// biome-ignore lint/complexity/useRegexLiterals: TypeScript knows the flag v of a literal only from ES2024 on.
const emoji = new RegExp('\\p{RGI_Emoji}', 'gv')
const lineBreaksAndTabs = /[\t\n\r]/g
/** Control characters, line separators, and characters that are invisible or change the direction of text. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

/**
 * Returns why a text cannot be shown to people as it is, or null if it can. People vote on what they read, so a name must
 * not look like another one or hide a part of itself.
 */
export function faultOfText(text: string, field: string): string | null {
  const isMultiLine = multiLineFields.has(field)
  const rest = text.replace(emoji, '').replace(lineBreaksAndTabs, (found) => (isMultiLine ? '' : found))
  const found = hidden.exec(rest)?.[0]
  if (found === undefined) return null
  if (found === '\n' || found === '\r') return 'must be one line'
  const code = found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  return `must not hold the invisible character U+${code}`
}
