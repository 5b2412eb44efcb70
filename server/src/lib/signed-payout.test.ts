import { describe, expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import { sha256 } from './secrets.ts'
import { isAtPlace, planPayout } from './signed-payout.ts'

const head = {
  payoutId: 'payout',
  vaultId: 'vault',
  initiatorId: 'ada',
  rulesVersion: 7,
  expiresAt: '2026-11-01T12:00:00.000Z',
}
const { payoutId: _, ...terms } = head
const orderOf = (index: number) => ({
  ...terms,
  transferId: `transfer-${index}`,
  network: 'ethereum',
  contractAddress: index % 3 === 2 ? '0x5FbDB2315678afecb367f032d93F642f64180aa3' : null,
  amount: String(index + 1),
})
type Order = ReturnType<typeof orderOf>

const planOf = (orders: Order[]) =>
  planPayout(
    head,
    orders.map((order) => ({ ...order, order: sha256(canonicalJson(order)).toString('hex') })),
  )

describe('T58 a signed payout', () => {
  test.each([1, 2, 3, 4, 5, 8, 13, 33])('of %i rows proves each row at its place only', (count) => {
    const orders = Array.from({ length: count }, (_, index) => orderOf(index))
    const plan = planOf(orders)
    const total = plan.document.sums.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
    expect(total).toBe(BigInt((count * (count + 1)) / 2))
    for (const [i, order] of orders.entries()) {
      for (const j of orders.keys()) expect(isAtPlace(order, plan.placeOf(j)), `${i} at ${j}`).toBe(i === j)
      expect(isAtPlace({ ...order, amount: '999' }, plan.placeOf(i))).toBe(false)
      expect(isAtPlace({ ...order, expiresAt: '2027-11-01T12:00:00.000Z' }, plan.placeOf(i))).toBe(false)
    }
  })

  test('has another hash when rows change their order, their number or an amount', () => {
    const orders = [orderOf(0), orderOf(1), orderOf(3)]
    const others = [
      [...orders].reverse(),
      orders.slice(1),
      [...orders, orderOf(4)],
      [{ ...orders[0]!, amount: '9' }, ...orders.slice(1)],
    ]
    const hashes = [orders, ...others].map((variant) => planOf(variant).hash.toString('hex'))
    expect(new Set(hashes).size).toBe(hashes.length)
  })

  test('proves nothing with a path or a place that cannot be read', () => {
    const place = planOf([orderOf(0), orderOf(1)]).placeOf(0)
    for (const broken of [{ path: [] }, { path: [null] }, { payout: null }, { position: -1 }, { position: 2 }])
      expect(isAtPlace(orderOf(0), { ...place, ...broken } as never)).toBe(false)
  })
})
