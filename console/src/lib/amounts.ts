import { formatter } from './formatter.ts'

/**
 * Formats an amount in the reader's language: exact at any length, with separators of thousands and all its decimals.
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

/** Formats a value in USD with two decimals. An unknown value is "–" and never zero. */
export function formatUsd(value: string | null | undefined, signDisplay: 'auto' | 'exceptZero' = 'auto'): string {
  if (value === null || value === undefined) return '–'
  const format = formatter(Intl.NumberFormat, { style: 'currency', currency: 'USD', signDisplay })
  return format.format(value as Intl.StringNumericLiteral)
}

/**
 * Reads a typed amount in the form of the API, such as "1234.5". Returns null if it is not an amount with at most
 * `decimals` decimals.
 */
export function parseAmount(text: string, decimals: number): string | null {
  const separator = decimalSeparator()
  const [whole = '', fraction, ...rest] = text
    .trim()
    .replace(/[\s'’\u00a0\u202f]/g, '')
    .split(separator)
  const thousands = separator === ',' ? /^\d{1,3}(?:\.\d{2,3})*\.\d{3}$/ : /^\d{1,3}(?:,\d{2,3})*,\d{3}$/
  // "1.5" in a language with a decimal comma is a slip and does not mean 15, so separators of thousands must stand at
  // their places.
  if (rest.length > 0 || !(/^\d+$/.test(whole) || thousands.test(whole))) return null
  if (fraction !== undefined && (!/^\d+$/.test(fraction) || fraction.length > decimals)) return null
  const plain = whole.replace(/[.,]/g, '') + (fraction === undefined ? '' : `.${fraction}`)
  return plain
}

function decimalSeparator(): string {
  const parts = formatter(Intl.NumberFormat).formatToParts(1.5)
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.'
}
