/** Amounts that are not digits of 0 to 2^256-1, each with a word for it. */
export const wrongAmounts: [string, unknown][] = [
  ['a negative amount', '-1'],
  ['a fraction', '1.5'],
  ['an exponent', '1e18'],
  ['a hexadecimal amount', '0x10'],
  ['an amount with a space', ' 1'],
  ['an empty amount', ''],
  ['2^256', (2n ** 256n).toString()],
  ['a JSON number', 1000],
  ['null', null],
]
