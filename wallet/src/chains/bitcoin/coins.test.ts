import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inputsMax, type Selection, type Spending, selectCoins } from './coins.ts'
import { type Coin, feeOf, sizeOf } from './sizes.ts'

const script = Uint8Array.from([0x00, 0x14, ...new Array<number>(20).fill(1)])
const changeScript = Uint8Array.from([0x00, 0x14, ...new Array<number>(20).fill(2)])
const limits = { dustRate: 3_000n, feeRateMin: 1_000n, spendMin: 10_000n }
const dust = 294n

const coinsOf = (...amounts: (bigint | number)[]): Coin[] =>
  amounts.map((amount, index) => ({ txHash: 'ab'.repeat(32), index, amount: BigInt(amount) }))
const spending = (other: Partial<Spending> = {}): Spending => ({
  amount: 100_000n,
  script,
  changeScript,
  feeRate: 2_000n,
  gathersSmall: false,
  maxFee: null,
  ...other,
})
const select = (coins: Coin[], other: Partial<Spending> = {}) => selectCoins(coins, spending(other), limits)
const amountsOf = (selection: ReturnType<typeof select>) =>
  'coins' in selection ? selection.coins.map(({ amount }) => Number(amount)) : selection

describe('the selection of outputs', () => {
  it('takes the smallest that is enough alone, and returns the change', () => {
    const selection = select(coinsOf(90_000, 500_000, 200_000, 300_000))
    expect(selection).toEqual({
      coins: [{ txHash: 'ab'.repeat(32), index: 2, amount: 200_000n }],
      size: 141,
      fee: 282n,
      change: 99_718n,
      left: { count: 0, amount: 0n },
    })
  })

  it('takes the largest where none is enough alone', () => {
    expect(amountsOf(select(coinsOf(30_000, 60_000, 50_000, 40_000)))).toEqual([60_000, 50_000])
    const same = select(coinsOf(60_000, 60_000, 60_000))
    expect(same).toMatchObject({ coins: [{ index: expect.any(Number) }, { index: expect.any(Number) }] })
    expect(new Set((same as Selection).coins.map(({ index }) => index)).size).toBe(2)
  })

  it('a change below dust is a part of the fee', () => {
    const least = 100_000n + feeOf(2_000n, sizeOf(1, [script]))
    expect(select(coinsOf(least))).toMatchObject({ fee: 220n, change: 0n, size: 110 })
    const withChange = 100_000n + 282n
    expect(select(coinsOf(withChange + dust - 1n))).toMatchObject({ fee: 282n + dust - 1n, change: 0n })
    expect(select(coinsOf(withChange + dust))).toMatchObject({ fee: 282n, change: dust })
    expect(select(coinsOf(least - 1n))).toEqual({
      refusal: 'INSUFFICIENT_FUNDS',
      missing: 1n,
      left: { count: 0, amount: 0n },
    })
  })

  it('an amount below dust is refused with the least amount', () => {
    expect(select(coinsOf(500_000), { amount: dust - 1n })).toEqual({ refusal: 'BELOW_DUST', least: dust })
    expect(select(coinsOf(500_000), { amount: dust })).toMatchObject({ change: 499_424n })
  })

  it('leaves and counts outputs below spendMin, and those that bring no more than they cost', () => {
    const coins = coinsOf(9_999, 10_000, 120_000, 130_000)
    expect(select(coins, { amount: 240_000n })).toMatchObject({
      coins: [{ amount: 130_000n }, { amount: 120_000n }],
      left: { count: 1, amount: 9_999n },
    })
    // Spending an output costs 68 virtual bytes, here 10,200 units.
    expect(select(coins, { amount: 300_000n, feeRate: 150_000n })).toMatchObject({
      refusal: 'INSUFFICIENT_FUNDS',
      left: { count: 2, amount: 19_999n },
    })
    const free = selectCoins(coinsOf(136, 137), spending({ amount: 294n, feeRate: 2_000n }), {
      ...limits,
      spendMin: 0n,
    })
    expect(free).toMatchObject({ refusal: 'INSUFFICIENT_FUNDS', left: { count: 1, amount: 136n } })
  })

  it('at the level low up to ten small outputs go along, as far as the limit of the fee permits', () => {
    const coins = coinsOf(2_000_000, ...new Array<number>(12).fill(50_000), 150_000)
    const order = { amount: 1_000_000n, gathersSmall: true }
    expect(amountsOf(select(coins, order))).toEqual([2_000_000, ...new Array<number>(10).fill(50_000)])
    const fees = feeOf(2_000n, sizeOf(4, [script, changeScript]))
    const limited = select(coins, { ...order, maxFee: fees + 1n })
    expect(limited).toMatchObject({ fee: fees, size: sizeOf(4, [script, changeScript]) })
    expect(amountsOf(limited)).toHaveLength(4)
    expect(amountsOf(select(coins, { ...order, gathersSmall: false }))).toHaveLength(1)
  })

  it('a limit of the fee lowers the rate, and is never exceeded', () => {
    const coins = coinsOf(500_000)
    expect(select(coins, { maxFee: 200n })).toMatchObject({ fee: 200n, change: 399_800n })
    expect(select(coins, { maxFee: 140n })).toEqual({ refusal: 'FEE_ABOVE_MAX', least: 141n })
    expect(select(coins, { maxFee: 0n })).toEqual({ refusal: 'FEE_ABOVE_MAX', least: 141n })
    // The rest would be above the limit and is not a change: a second output makes a change of it.
    const two = select(coinsOf(100_500, 20_000), { maxFee: 450n })
    expect(two).toMatchObject({ change: 20_500n - 418n, fee: 418n })
    expect(select(coinsOf(100_500), { maxFee: 450n })).toEqual({ refusal: 'FEE_ABOVE_MAX', least: 500n })
  })

  it('a payment of too many outputs is refused with the highest amount', () => {
    const coins = coinsOf(...new Array<number>(inputsMax + 20).fill(20_000))
    const refused = select(coins, { amount: BigInt(inputsMax) * 20_000n })
    expect(refused).toMatchObject({ refusal: 'TOO_MANY_OUTPUTS' })
    const { most } = refused as { most: bigint }
    expect(amountsOf(select(coins, { amount: most }))).toHaveLength(inputsMax)
    expect(select(coins, { amount: most + 1n })).toMatchObject({ refusal: 'TOO_MANY_OUTPUTS', most })
    expect(select(coins, { amount: BigInt(inputsMax + 20) * 20_000n })).toMatchObject({ refusal: 'INSUFFICIENT_FUNDS' })
  })

  it('is exact for any outputs, and refuses only what is impossible', () => {
    const amounts = fc.array(fc.bigInt(1n, 300_000n), { maxLength: 30 })
    const order = fc.record({
      amount: fc.bigInt(1n, 2_000_000n),
      feeRate: fc.bigInt(1_000n, 200_000n),
      gathersSmall: fc.boolean(),
      maxFee: fc.option(fc.bigInt(0n, 60_000n)),
    })
    fc.assert(
      fc.property(amounts, order, (list, other) => {
        const coins = coinsOf(...list)
        const result = select(coins, other)
        if (!('coins' in result)) {
          expect(isRefusalRight(coins, spending(other), result)).toBe(true)
          return
        }
        const spent = result.coins.reduce((sum, { amount }) => sum + amount, 0n)
        expect(spent).toBe(other.amount + result.fee + result.change)
        expect(new Set(result.coins).size).toBe(result.coins.length)
        expect(result.coins.every((coin) => coins.includes(coin) && coin.amount >= limits.spendMin)).toBe(true)
        expect(result.change === 0n || result.change >= dust).toBe(true)
        expect(other.maxFee === null || result.fee <= other.maxFee).toBe(true)
        const size = sizeOf(result.coins.length, result.change > 0n ? [script, changeScript] : [script])
        expect(result.size).toBe(size)
        expect(result.fee).toBeGreaterThanOrEqual(feeOf(limits.feeRateMin, size))
        const lost = result.change === 0n ? dust + feeOf(other.feeRate, 32) : 0n
        expect(result.fee).toBeLessThanOrEqual(feeOf(other.feeRate, size) + lost)
      }),
      { numRuns: 2_000 },
    )
  })

  it('of 100,000 outputs takes at most 50 ms', () => {
    const coins = coinsOf(...Array.from({ length: 100_000 }, (_, at) => 20_000 + ((at * 7_919) % 1_000_003)))
    const times = Array.from({ length: 9 }, (_, at) => {
      const start = performance.now()
      const selection = select(coins, { amount: at % 2 === 0 ? 500_000n : 300_000_000n, gathersSmall: true })
      const time = performance.now() - start
      expect(selection).toHaveProperty('coins')
      return time
    })
    // The fastest run is the time of the selection; the others have that of other programs in them.
    expect(Math.min(...times)).toBeLessThanOrEqual(50)
  })
})

/** Tries all outputs that are worth spending: what they cannot pay at the rate, nothing can. */
function isRefusalRight(coins: Coin[], order: Spending, result: ReturnType<typeof select>): boolean {
  if ('coins' in result) return false
  if (result.refusal === 'BELOW_DUST') return order.amount < dust
  const worthy = coins.filter(({ amount }) => amount >= limits.spendMin && amount > feeOf(order.feeRate, 68))
  const rest = worthy.reduce((sum, { amount }) => sum + amount, 0n) - order.amount
  if (result.refusal === 'INSUFFICIENT_FUNDS') return rest < feeOf(order.feeRate, sizeOf(worthy.length, [script]))
  return result.refusal === 'FEE_ABOVE_MAX' && order.maxFee !== null && result.least > order.maxFee
}
