import { expect, it } from 'vitest'
import { feeOfAll, spendable } from './spendable.ts'

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

it('estimates a fee that grows with what is spent, of what is left of it', async () => {
  const amounts: bigint[] = []
  const feeOf = (fees: (string | null)[]) => (amount: bigint) => {
    amounts.push(amount)
    return Promise.resolve(fees.shift() ?? null)
  }
  expect(await feeOfAll(1_000n, feeOf(['50', '70']))).toBe('70')
  expect(amounts.splice(0)).toEqual([900n, 900n])
  expect(await feeOfAll(1_000n, feeOf(['60', '50']))).toBe('60')
  expect(amounts.splice(0)).toEqual([900n, 880n])
  expect(await feeOfAll(1_000n, feeOf(['60', null]))).toBe('60')
  expect(await feeOfAll(1_000n, feeOf(['600']))).toBe('600')
  expect(await feeOfAll(1_000n, feeOf([null]))).toBeNull()
})
