import { describe, expect, it } from 'vitest'
import { golden, nothing } from '../../../testing/golden-activity.ts'
import type { Activity, Group } from './flows.ts'
import { isLargeUsd, type Noticed, observe } from './observations.ts'

const quiet: Noticed = {
  largeOperations: [],
  newCounterparties: [],
  awakenedAddresses: [],
  approvalsByPolicy: [],
  ratelessTokens: [],
}
const filters = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-04T23:59:59.999Z', addressId: 'a1' }
const group = (parts: Partial<Group>): Group => ({
  tokenId: 'coin',
  type: 'deposit',
  status: 'confirmed',
  count: 1,
  amount: 1n,
  usd: 0n,
  rated: 1,
  ...parts,
})
const overallOf = (groups: Group[]): Activity['overall'] =>
  groups.map((group) => ({ ...golden.overall[0]!, ...group, largestUsd: group.usd }))

const onDays = (usd: number[]): Activity => {
  const groups = usd.map((dollars, day) => ({ ...group({ usd: BigInt(dollars) * 100n }), key: day }))
  return { ...nothing, byDay: groups, overall: overallOf(groups) }
}

describe('observations', () => {
  it('report nothing without operations', () => {
    expect(observe(nothing, quiet, filters)).toEqual([])
    expect(observe(golden, quiet, filters)).toEqual([])
  })

  it('VOLUME_SPIKE: a period of at least three times the mean of the others', () => {
    // The mean of the others is (300 + 300 + 400) / 3 = 333.33, and three times that is exactly 1000.
    expect(observe(onDays([300, 1000, 300, 400]), quiet, filters)).toEqual([
      expect.objectContaining({
        code: 'VOLUME_SPIKE',
        metric: 'grossTurnoverUsd',
        currentValue: '1000.00',
        comparisonValue: '333.33',
        changePercent: 200,
        drilldownFilters: { ...filters, from: '2026-03-02T00:00:00.000Z', to: '2026-03-02T23:59:59.999Z' },
      }),
    ])
    expect(observe(onDays([300, 999, 300, 400]), quiet, filters)).toEqual([])
    expect(observe(onDays([1, 900, 1, 1]), quiet, filters)).toEqual([])
  })

  it('LARGE_OPERATION: at least 10,000 USD and five times the mean of the others', () => {
    expect(isLargeUsd(1_000_000n, 1_000_000n + 200_000n, 2)).toBe(true)
    expect(isLargeUsd(1_000_000n, 1_000_000n + 200_001n, 2)).toBe(false)
    expect(isLargeUsd(999_999n, 999_999n + 1n, 2)).toBe(false)
    expect(isLargeUsd(1_000_000n, 1_000_000n, 1)).toBe(false)
    const operation = {
      id: 'op',
      type: 'transfer',
      addressId: 'a2',
      tokenId: 'coin',
      txHash: '0xabc',
      createdAt: new Date('2026-03-02T10:00:00.000Z'),
      usdValue: '10000.00',
    } as const
    const activity = { ...nothing, overall: overallOf([group({ count: 3, rated: 3, usd: 1_300_000n })]) }
    expect(observe(activity, { ...quiet, largeOperations: [operation] }, filters)).toEqual([
      expect.objectContaining({
        code: 'LARGE_OPERATION',
        currentValue: '10000.00',
        comparisonValue: '1500.00',
        drilldownFilters: {
          from: '2026-03-02T10:00:00.000Z',
          to: '2026-03-02T10:00:00.000Z',
          addressId: 'a2',
          tokenId: 'coin',
          direction: 'out',
          txHash: '0xabc',
        },
      }),
    ])
  })

  it('COUNTERPARTY_CONCENTRATION: half of the turnover with one of several', () => {
    const parties = [
      { ...group({ usd: 50_000n }), key: 'supplier' },
      { ...group({ usd: 30_000n }), key: 'buyer' },
      { ...group({ usd: 20_000n }), key: null },
    ]
    const activity = { ...nothing, byCounterparty: parties, overall: overallOf(parties) }
    expect(observe(activity, quiet, filters)).toEqual([
      expect.objectContaining({
        code: 'COUNTERPARTY_CONCENTRATION',
        description: 'Supplier has at least 50 per cent of the turnover. 20 per cent of it has no known counterparty.',
        currentValue: 50,
        comparisonValue: 50,
        drilldownFilters: { ...filters, counterpartyId: 'supplier' },
      }),
    ])
    expect(observe({ ...activity, reclassifiedCount: 3 }, quiet, filters)).toEqual([
      expect.objectContaining({
        currentValue: 50,
        description: expect.stringContaining(
          '3 operations have another counterparty now than when created; the history lists them under the recorded counterparty.',
        ),
      }),
    ])
    const single = parties.slice(0, 1)
    expect(observe({ ...nothing, byCounterparty: single, overall: overallOf(single) }, quiet, filters)).toEqual([])
  })

  it.each([
    [9, 1, ['warning']],
    [10, 1, []],
    [8, 1, []],
    [9, 3, ['critical']],
  ])('HIGH_FAILURE_RATE: %d confirmed and %d failed transfers', (confirmed, failed, severities) => {
    const overall = overallOf([
      group({ type: 'transfer', count: confirmed }),
      group({ type: 'transfer', status: 'failed', count: failed }),
      group({ type: 'deposit', count: 1000 }),
    ])
    const seen = observe({ ...nothing, overall }, quiet, filters)
    expect(seen.map(({ severity }) => severity)).toEqual(severities)
    for (const observation of seen) {
      expect(observation).toMatchObject({ currentValue: (100 * failed) / (failed + confirmed), comparisonValue: 10 })
      expect(observation.drilldownFilters).toEqual({ ...filters, statuses: 'failed' })
    }
  })

  it.each([
    [24, 'warning'],
    [48, 'critical'],
  ])('SLOW_APPROVALS: a median of %d hours', (hours, severity) => {
    const half = BigInt(hours) * 3_600_000n
    const policy = (milliseconds: bigint) => ({
      ...quiet,
      approvalsByPolicy: [
        {
          policyId: 'p1',
          policyCode: 'large',
          times: { count: 2, sum: 0n, lower: milliseconds, upper: milliseconds, longest: milliseconds },
        },
      ],
    })
    expect(observe(nothing, policy(half), filters)).toEqual([
      expect.objectContaining({
        code: 'SLOW_APPROVALS',
        severity,
        currentValue: hours * 3600,
        comparisonValue: 24 * 3600,
        drilldownFilters: { ...filters, decisionPolicyId: 'p1' },
      }),
    ])
    expect(observe(nothing, policy(24n * 3_600_000n - 1n), filters)).toEqual([])
  })

  it('NEW_COUNTERPARTY, DORMANT_ADDRESS_ACTIVE, MISSING_RATES: each with its own drill-down', () => {
    const instant = (day: string) => new Date(`2026-03-${day}T00:00:00.000Z`)
    const noticed: Noticed = {
      ...quiet,
      newCounterparties: [{ id: 'supplier', name: 'Supplier', count: 2 }],
      awakenedAddresses: [
        { id: 'a1', lastBefore: new Date('2025-12-01T00:00:00.000Z'), firstWithin: instant('02'), count: 3 },
      ],
      ratelessTokens: [{ tokenId: 'coin', missing: 2, operations: 5, firstAt: instant('01'), lastAt: instant('03') }],
    }
    expect(observe(nothing, noticed, filters)).toEqual([
      expect.objectContaining({
        code: 'NEW_COUNTERPARTY',
        currentValue: 2,
        comparisonValue: 0,
        drilldownFilters: { ...filters, counterpartyId: 'supplier' },
      }),
      expect.objectContaining({
        code: 'DORMANT_ADDRESS_ACTIVE',
        currentValue: 3,
        comparisonValue: 0,
        description: 'Nothing happened on 0xa1 for 91 days until 2026-03-02T00:00:00.000Z.',
        drilldownFilters: { ...filters, addressId: 'a1' },
      }),
      expect.objectContaining({
        code: 'MISSING_RATES',
        currentValue: 2,
        comparisonValue: 5,
        drilldownFilters: {
          ...filters,
          tokenId: 'coin',
          from: '2026-03-01T00:00:00.000Z',
          to: '2026-03-03T00:00:00.000Z',
        },
      }),
    ])
  })
})
