import { formatter } from './formatter.ts'

/**
 * An amount as the reader's language writes it: exact at any length, with separators of thousands and all the decimals
 * that the amount has.
 * @param decimal digits with an optional sign and decimals, as the API sends them: "1234.5"
 */
export function formatAmount(decimal: string): string {
  const decimals = decimal.split('.')[1]?.length ?? 0
  const format = formatter(Intl.NumberFormat, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })
  // A string is formatted digit by digit; a number would be rounded.
  return format.format(decimal as Intl.StringNumericLiteral)
}

/** A value in USD with two decimals; unknown is "–" and never zero. */
export function formatUsd(value: string | null | undefined): string {
  if (value === null || value === undefined) return '–'
  const format = formatter(Intl.NumberFormat, { style: 'currency', currency: 'USD' })
  return format.format(value as Intl.StringNumericLiteral)
}

/** What a person typed, as the API wants it: "1234.5". Null where it is no amount with at most `decimals` decimals. */
export function parseAmount(text: string, decimals: number): string | null {
  const separator = decimalSeparator()
  const [whole = '', fraction, ...rest] = text
    .trim()
    .replace(/[\s'’\u00a0\u202f]/g, '')
    .split(separator)
  const thousands = separator === ',' ? /^\d{1,3}(?:\.\d{2,3})*\.\d{3}$/ : /^\d{1,3}(?:,\d{2,3})*,\d{3}$/
  // "1.5" where the comma parts decimals is a slip and not 15: separators of thousands must stand where they belong.
  if (rest.length > 0 || !(/^\d+$/.test(whole) || thousands.test(whole))) return null
  if (fraction !== undefined && (!/^\d+$/.test(fraction) || fraction.length > decimals)) return null
  const plain = whole.replace(/[.,]/g, '') + (fraction === undefined ? '' : `.${fraction}`)
  return plain
}

function decimalSeparator(): string {
  const parts = formatter(Intl.NumberFormat).formatToParts(1.5)
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.'
}
