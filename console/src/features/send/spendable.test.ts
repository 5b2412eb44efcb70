import { expect, it } from 'vitest'
import { spendable } from './spendable.ts'

const coin = { isNativeCoin: true }
const token = { isNativeCoin: false }

it.each([
  ['a token, to its last unit', { available: '50000000001', decimals: 6 }, { ...token, fee: '21000' }, '50000.000001'],
  ['a token whose fee is unknown', { available: '5', decimals: 0 }, { ...token, fee: null }, '5'],
  [
    'a coin, without twice the fee',
    { available: '5000000000000000000', decimals: 18 },
    { ...coin, fee: '1' },
    '4.999999999999999998',
  ],
  ['a coin whose fee is unknown', { available: '5', decimals: 18 }, { ...coin, fee: null }, null],
  ['a coin that does not pay for the fee', { available: '5', decimals: 18 }, { ...coin, fee: '4' }, '0'],
  [
    'more digits than a number holds',
    { available: '123456789012345678901234567890', decimals: 18 },
    { ...token, fee: null },
    '123456789012.34567890123456789',
  ],
])('%s', (_, balance, gas, expected) => expect(spendable(balance, gas)).toBe(expected))
