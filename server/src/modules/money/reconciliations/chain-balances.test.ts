import { describe, expect, it } from 'vitest'
import { type BookedBalance, unexplained } from './chain-balances.ts'

const booked = (more: Partial<BookedBalance>): BookedBalance => ({
  addressId: 'a1',
  address: '0x1',
  tokenId: 't1',
  code: 'USDT',
  decimals: 6,
  network: 'ethereum',
  contract: null,
  held: 100n,
  exposure: 0n,
  owedFees: 0n,
  inFlight: 0n,
  hasUnknownFee: false,
  ...more,
})

describe('T76 a difference that the books do not explain', () => {
  it.each<[string, Partial<BookedBalance>, bigint, bigint]>([
    ['nothing', {}, 100n, 0n],
    ['a surplus', {}, 101n, 1n],
    ['a loss', {}, 99n, -1n],
    ['nothing beside fees that are owed', { owedFees: 7n }, 93n, 0n],
    ['a fee that was not taken', { owedFees: 7n }, 100n, 7n],
    ['nothing beside an exposure', { exposure: 40n }, 60n, 0n],
    ['nothing while a transfer may have left', { inFlight: 30n }, 70n, 0n],
    ['nothing while a transfer may not have left', { inFlight: 30n }, 100n, 0n],
    ['more than can have left', { inFlight: 30n }, 69n, -1n],
    ['nothing of the coin while a fee is not known', { hasUnknownFee: true }, 1n, 0n],
    ['a surplus of the coin all the same', { hasUnknownFee: true }, 101n, 1n],
  ])('T76 is %s', (_what, more, onChain, expected) => {
    expect(unexplained(booked(more), onChain)).toBe(expected)
  })
})
