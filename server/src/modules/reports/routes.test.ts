import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createReportWorld, type ReportWorld } from '../../testing/report-world.ts'

let world: ReportWorld
beforeAll(async () => {
  world = await createReportWorld()
})
afterAll(() => world.close())

describe('address_activity', () => {
  it('says what happened, exactly', async () => {
    const { own, add, report } = world
    const supplier = await world.addCounterparty('Supplier')
    await add({ at: '2026-03-01T10:00:00Z', amount: '100.000001', counterparty: supplier, paymentPurpose: 'Invoice 1' })
    await add({ at: '2026-03-01T11:00:00Z', amount: '50' })
    await add({ at: '2026-03-02T10:00:00Z', amount: '1', token: 'eth', rate: '2000.5' })
    await add({ type: 'transfer', at: '2026-03-03T10:00:00Z', amount: '30.5', counterparty: supplier, rate: '0.999' })
    await add({ type: 'transfer', at: '2026-03-03T11:00:00Z', amount: '7', status: 'failed' })
    await add({ type: 'transfer', at: '2026-03-03T12:00:00Z', amount: '9', status: 'awaiting_approval' })
    await add({ at: '2026-03-04T00:00:00Z', amount: '1000' })
    const body = await report('address_activity', {
      addressId: own.id,
      from: '2026-03-01',
      to: '2026-03-04',
      includeShared: 'false',
    })
    expect(body.summary).toMatchObject({
      operationsCount: 6,
      incomingCount: 3,
      outgoingCount: 3,
      confirmedCount: 4,
      awaitingApprovalCount: 1,
      failedCount: 1,
      activeDays: 3,
      incomingUsd: '2150.50',
      outgoingUsd: '30.47',
      grossTurnoverUsd: '2180.97',
      netFlowUsd: '2120.03',
      firstOperationAt: '2026-03-01T10:00:00.000Z',
      lastOperationAt: '2026-03-03T12:00:00.000Z',
    })
    console.log(JSON.stringify(body, null, 1).slice(0, 9000))
  })
})
