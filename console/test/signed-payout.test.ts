import { isAtPlace, type Order, payoutOf } from '@strongroom/sdk/signing'
import { expect, test } from 'vitest'
import type { Evidence } from '../../sdk/src/evidence/evidence.ts'
import { verifyEvidence } from '../../sdk/src/evidence/verify.ts'
import { isAtPlace as inService, planPayout } from '../../server/src/lib/signed-payout.ts'
import { hashPayload } from '../../server/src/modules/money/orders/payload.ts'

const orderOf = (index: number): Order => ({
  transferId: `transfer-${index}`,
  vaultId: 'vault',
  initiatorId: 'ada',
  fromAddressId: 'address',
  fromAddress: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  network: index % 5 === 4 ? 'polygon' : 'ethereum',
  coinType: 60,
  derivationPath: 'm/44/60/1/0',
  toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  tokenId: 'token',
  contractAddress: index % 3 === 2 ? '0x5FbDB2315678afecb367f032d93F642f64180aa3' : null,
  amount: String(index + 1),
  rulesVersion: 7,
  expiresAt: '2026-11-01T12:00:00.000Z',
})

function planOf(count: number) {
  const orders = Array.from({ length: count }, (_, index) => orderOf(index))
  const paid = orders.map((order) => ({ ...order, order: hashPayload(order).toString('hex') }))
  const { vaultId, initiatorId, expiresAt } = orders[0]!
  const head = { payoutId: 'payout', vaultId, initiatorId, rulesVersion: 7, expiresAt }
  return { orders, plan: planPayout(head, paid) }
}

test.each([1, 2, 3, 7, 12, 100])(
  'T58 a payout of %i rows is the document that the service makes of them',
  async (count) => {
    const { orders, plan } = planOf(count)
    expect(await payoutOf('payout', orders)).toEqual(plan.document)
  },
)

test.each([1, 2, 3, 7, 12])(
  'T58 of %i rows each is at its place and at no other, as the service says',
  async (count) => {
    const { orders, plan } = planOf(count)
    for (const [i, order] of orders.entries()) {
      for (const j of orders.keys()) {
        const place = plan.placeOf(j)
        expect(await isAtPlace(order, place), `${i} at ${j}`).toBe(i === j)
        expect(inService(order, place)).toBe(i === j)
      }
      expect(await isAtPlace({ ...order, amount: '999' }, plan.placeOf(i))).toBe(false)
      expect(await isAtPlace({ ...order, expiresAt: '2027-11-01T12:00:00.000Z' }, plan.placeOf(i))).toBe(false)
      const place = plan.placeOf(i)
      const sums = place.payout.sums.map((sum) => ({ ...sum, amount: `${sum.amount}0` }))
      const broken = [
        { position: -1 },
        { path: [...place.path, place.path[0]] },
        { path: null },
        { payout: { ...place.payout, sums } },
      ]
      for (const fault of broken) expect(await isAtPlace(order, { ...place, ...fault } as never)).toBe(false)
    }
  },
)

test('T58 the page for evidence names a row that is not at its place in what was signed', async () => {
  const { orders, plan } = planOf(3)
  const faultsAt = async (position: number) => {
    const parts = {
      payload: orders[0],
      payloadHash: '',
      transfer: {},
      decision: {},
      auditRecords: [],
      seals: [],
      ledgerEntries: [],
      ledgerSeals: [],
    }
    const file = { ...parts, signedVotes: [{ signed: { vote: {} } }], batch: { ...plan.placeOf(0), position } }
    const { checks } = await verifyEvidence(file as unknown as Evidence)
    return checks.find(({ name }) => name === 'signatures')?.faults
  }
  expect(await faultsAt(1)).toContain('batch')
  expect(await faultsAt(0)).not.toContain('batch')
})
