import type { Activity, Faults, Fees, Overall } from '../modules/reports/blocks/flows.ts'
import { cutInterval } from '../modules/reports/requests/buckets.ts'
import { coinIn as coinAmong } from '../modules/reports/requests/details.ts'

/**
 * A small activity whose figures were computed by hand. Coin has 2 decimals, Dollar 0. In: 1.00 and 2.50 Coin from Supplier
 * (10.00 and 25.05 USD), 7 Dollar without a rate from an unknown sender. Out: 0.51 Coin to Supplier (5.10 USD) and 4 Dollar to
 * Buyer (4.00 USD). A transfer of 9 Dollar failed, one of 0.10 Coin waits. Fees: 0.02 Coin (0.20 USD) for the payment to
 * Supplier, 0.03 Coin (0.30 USD) for the one to Buyer, and 0.01 Coin without a rate for the failed one.
 */
const interval = { from: new Date('2026-03-01T00:00:00.000Z'), to: new Date('2026-03-05T00:00:00.000Z') }

const noFaults: Faults = {
  withoutBlockchainTime: 0,
  withoutPaymentPurpose: 0,
  withoutBusinessReference: 0,
  withoutFeeUsdRate: 0,
  uncategorized: 0,
  unmatched: 0,
  retroactivelyMatched: 0,
  conflictingCounterparty: 0,
  reclassified: 0,
}

const at = (text: string) => new Date(`2026-03-${text}:00.000Z`)
const noFees: Fees = { fees: 0n, feesUsd: 0n }
type Parts = Omit<Overall, 'faults' | 'firstAt' | 'lastAt' | keyof Fees> & Partial<Fees>
const overall = (parts: Parts, from: string, to: string, faults: Partial<Faults> = {}): Overall => ({
  ...noFees,
  ...parts,
  firstAt: at(from),
  lastAt: at(to),
  faults: { ...noFaults, ...faults },
})

const coinIn = {
  tokenId: 'coin',
  type: 'deposit',
  status: 'confirmed',
  count: 2,
  amount: 350n,
  usd: 3505n,
  rated: 2,
} as const
const dollarIn = {
  tokenId: 'dollar',
  type: 'deposit',
  status: 'confirmed',
  count: 1,
  amount: 7n,
  usd: 0n,
  rated: 0,
} as const
const coinOut = {
  tokenId: 'coin',
  type: 'transfer',
  status: 'confirmed',
  count: 1,
  amount: 51n,
  usd: 510n,
  rated: 1,
} as const
const dollarOut = {
  tokenId: 'dollar',
  type: 'transfer',
  status: 'confirmed',
  count: 1,
  amount: 4n,
  usd: 400n,
  rated: 1,
} as const
const failed = {
  tokenId: 'dollar',
  type: 'transfer',
  status: 'failed',
  count: 1,
  amount: 9n,
  usd: 900n,
  rated: 1,
} as const
const waiting = {
  tokenId: 'coin',
  type: 'transfer',
  status: 'awaiting_approval',
  count: 1,
  amount: 10n,
  usd: 100n,
  rated: 1,
} as const

const feeOfCoin: Fees = { fees: 2n, feesUsd: 20n }
const feeOfDollar: Fees = { fees: 3n, feesUsd: 30n }
const feeOfFailed: Fees = { fees: 1n, feesUsd: 0n }

const assets: Activity['assets'] = new Map([
  [
    'coin',
    {
      tokenId: 'coin',
      assetCode: 'COIN',
      assetSymbol: 'C',
      network: 'net',
      contractAddress: null,
      decimals: 2,
      coinId: 'coin',
    },
  ],
  [
    'dollar',
    {
      tokenId: 'dollar',
      assetCode: 'DOLLAR',
      assetSymbol: 'D',
      network: 'net',
      contractAddress: '0xd',
      decimals: 0,
      coinId: 'coin',
    },
  ],
])

export const golden: Activity = {
  calendar: cutInterval(interval, 'UTC', 'day'),
  isCounted: (status) => status === 'confirmed',
  overall: [
    overall({ ...coinIn, largestUsd: 2505n }, '01T10:00', '02T10:00', { unmatched: 0 }),
    overall({ ...dollarIn, largestUsd: null }, '02T11:00', '02T11:00', {
      unmatched: 1,
      withoutBlockchainTime: 1,
    }),
    overall({ ...coinOut, ...feeOfCoin, largestUsd: 510n }, '04T09:00', '04T09:00', {
      uncategorized: 1,
    }),
    overall({ ...dollarOut, ...feeOfDollar, largestUsd: 400n }, '04T23:59', '04T23:59', {
      withoutPaymentPurpose: 1,
    }),
    overall({ ...failed, ...feeOfFailed, largestUsd: 900n }, '04T12:00', '04T12:00', {
      withoutBusinessReference: 1,
      withoutFeeUsdRate: 1,
    }),
    overall({ ...waiting, largestUsd: 100n }, '01T09:00', '01T09:00', {
      retroactivelyMatched: 1,
      conflictingCounterparty: 1,
    }),
  ],
  byDay: [
    { ...coinIn, count: 1, amount: 100n, usd: 1000n, rated: 1, key: 0 },
    { ...waiting, key: 0 },
    { ...coinIn, count: 1, amount: 250n, usd: 2505n, rated: 1, key: 1 },
    { ...dollarIn, key: 1 },
    { ...coinOut, key: 3 },
    { ...dollarOut, key: 3 },
    { ...failed, key: 3 },
  ],
  byCounterparty: [
    { ...coinIn, key: 'supplier' },
    { ...coinOut, key: 'supplier' },
    { ...dollarOut, key: 'buyer' },
    { ...dollarIn, key: null },
    { ...failed, key: null },
    { ...waiting, key: null },
  ],
  byAddress: [
    { ...coinIn, key: 'a1' },
    { ...coinOut, key: 'a1' },
    { ...waiting, key: 'a1' },
    { ...dollarIn, key: 'a2' },
    { ...dollarOut, key: 'a2' },
    { ...failed, key: 'a2' },
  ],
  byCategory: [
    { ...coinIn, ...noFees, key: 'sales' },
    { ...dollarIn, ...noFees, key: 'sales' },
    { ...coinOut, ...feeOfCoin, key: null },
    { ...dollarOut, ...feeOfDollar, key: null },
    { ...failed, ...feeOfFailed, key: null },
    { ...waiting, ...noFees, key: null },
  ],
  byOwner: [
    { ...coinIn, key: 'u1' },
    { ...dollarOut, key: 'u2' },
  ],
  reclassifiedCount: 0,
  orderStatistics: new Map([
    ['coin', { smallest: 51n, lower: 100n, upper: 100n, largest: 250n }],
    ['dollar', { smallest: 4n, lower: 4n, upper: 7n, largest: 7n }],
  ]),
  assets,
  coinOf: coinAmong(assets),
  counterparties: new Map([
    ['supplier', { name: 'Supplier', kind: 'company' }],
    ['buyer', { name: 'Buyer', kind: 'individual' }],
  ]),
  addresses: new Map(
    ['a1', 'a2'].map((id) => [
      id,
      { address: `0x${id}`, label: null, derivationPath: `m/${id}`, segments: { purpose: 1 }, folderSnapshots: [] },
    ]),
  ),
  owners: new Map(
    ['u1', 'u2'].map((id) => [id, { id, name: id, username: null, image: null, color: null, emoji: null }]),
  ),
}

/** An empty activity over the same days. */
export const nothing: Activity = {
  ...golden,
  overall: [],
  byDay: [],
  byCounterparty: [],
  byAddress: [],
  byCategory: [],
  byOwner: [],
  orderStatistics: new Map(),
}

export const coin = (amount: string) => ({ ...named('coin'), amount })
export const dollar = (amount: string) => ({ ...named('dollar'), amount })

function named(id: 'coin' | 'dollar') {
  const { decimals: _, coinId: _coin, ...asset } = golden.assets.get(id)!
  return asset
}
