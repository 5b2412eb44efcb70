const shortDecimalsMax = 8

/**
 * Cuts an amount after eight decimals. An amount that would read as zero stays whole.
 * @param decimal the amount in the form of the API: "1234.5"
 */
export function shorten(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.')
  const cut = fraction.slice(0, shortDecimalsMax)
  const readsAsZero = /^-?0$/.test(whole) && /^0*$/.test(cut)
  return fraction.length <= shortDecimalsMax || readsAsZero ? decimal : `${whole}.${cut}`
}
