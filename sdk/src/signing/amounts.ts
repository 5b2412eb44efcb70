/** The decimals of a token, or the token itself. */
type Decimals = number | { decimals: number }

/**
 * Returns the smallest units of a decimal amount: `toRaw('1.5', token)` is `1500000n` for 6 decimals.
 *
 * @throws RangeError for an inexact amount: another form, or more fraction digits than the token has
 */
export function toRaw(amount: string, token: Decimals): bigint {
  const decimals = decimalsOf(token)
  const [whole, fraction] = partsOf(amount)
  const significant = fraction.replace(/0+$/, '')
  if (significant.length > decimals) throw new RangeError(`${amount} has more than ${decimals} fraction digits`)
  const raw = BigInt(whole.replace('-', '') + significant.padEnd(decimals, '0'))
  return whole.startsWith('-') ? -raw : raw
}

/**
 * Returns smallest units as a decimal amount without trailing zeros: `fromRaw(1500000n, token)` is `'1.5'` for 6
 * decimals.
 */
export function fromRaw(raw: bigint | string, token: Decimals): string {
  const decimals = decimalsOf(token)
  const value = BigInt(raw)
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** Compares two decimal amounts exactly. Returns -1, 0 or 1, as `sort` takes it. */
export function compare(a: string, b: string): -1 | 0 | 1 {
  const scale = Math.max(partsOf(a)[1].length, partsOf(b)[1].length)
  const difference = toRaw(a, scale) - toRaw(b, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function partsOf(amount: string): [whole: string, fraction: string] {
  const match = /^(-?\d+)(?:\.(\d+))?$/.exec(amount)
  if (match === null) throw new RangeError(`${amount} is not a decimal amount such as 1.5`)
  return [match[1]!, match[2] ?? '']
}

function decimalsOf(token: Decimals): number {
  const decimals = typeof token === 'number' ? token : token.decimals
  if (!Number.isInteger(decimals) || decimals < 0) throw new RangeError(`${decimals} is not a number of decimals`)
  return decimals
}
