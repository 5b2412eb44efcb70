import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address, Deposit } from '../../../testing/answer.ts'
import type { Client } from '../../../testing/app.ts'
import { addMember } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

const minute = 60_000
const base = '/vaults/main-vault'

let bench: TransferBench
let address: Address
beforeAll(async () => {
  bench = await createTransferBench()
  address = await bench.fundedAddress()
})
afterAll(() => bench.close())

/** A transfer that no rate is fresh enough for; a quarter of an hour lies between two of them. */
async function unrated(amount = '2.5') {
  bench.test.clock.advance(16 * minute)
  const { status, body } = await bench.order(address.id, amount)
  expect([status, body.usdRate, body.usdValue]).toEqual([201, null, null])
  bench.test.clock.advance(minute)
  return body
}

/** Records a rate of a time before the creation of an operation. */
async function record(usdRate: string, { createdAt }: { createdAt: string }, minutesBefore: number) {
  const asOf = new Date(Date.parse(createdAt) - minutesBefore * minute).toISOString()
  const rate = { usdRate, asOf, source: 'manual' }
  const { status, body } = await bench.vault.admin.post(`/tokens/${bench.vault.tokens.usdt.id}/rates`, rate)
  expect(status, JSON.stringify(body)).toBe(201)
  return asOf
}

const addRate = ({ id }: { id: string }, by: Client = bench.vault.admin, type = 'transfer') =>
  by.post(`${base}/operations/${type}/${id}/rate`)
const recordsOf = async ({ id }: { id: string }) => {
  const rows = await bench.sql(
    `select content from audit_records where target_id = $1 and action = 'operation.rate_added'`,
    [id],
  )
  return rows.map(({ content }) => JSON.parse(content))
}

describe('adding the rate of an operation', () => {
  it('takes the newest recorded rate that was at most 15 minutes old, as its creation would have', async () => {
    const transfer = await unrated()
    await record('1.03', transfer, 16)
    await record('1.020', transfer, 14)
    const asOf = await record('1.01', transfer, 1)
    await record('1.04', transfer, -0.1 / 60)
    const added = await addRate(transfer)
    const rate = { usdRate: '1.01', usdRateAsOf: asOf, usdRateSource: 'later:manual', usdValue: '2.52' }
    expect([added.status, added.body]).toEqual([200, { id: transfer.id, operationType: 'transfer', ...rate }])
    expect(await bench.read(transfer.id)).toMatchObject(rate)
    const history = (await bench.owner.get(`${base}/history?limit=1`)).body.items[0]
    expect(history).toMatchObject({ id: transfer.id, usdRate: '1.01', usdRateSource: 'later:manual', usdValue: '2.52' })
    expect(await recordsOf(transfer)).toMatchObject([
      { action: 'operation.rate_added', actorId: bench.vault.admin.userId, targetType: 'transfer', details: rate },
    ])
  })

  it('is possible for deposits, too, and changes the sums of reports', async () => {
    bench.test.clock.advance(16 * minute)
    const other = await bench.fundedAddress({ usdt: '40' })
    const [credited] = (await bench.owner.get(`${base}/deposits?addressId=${other.id}`)).body.items
    const deposit = credited as Deposit
    expect(deposit.usdRate).toBeNull()
    await record('1', deposit, 2)
    const grossOf = async () => {
      const { body } = await bench.owner.get(`${base}/reports/address_activity?addressId=${other.id}`)
      return [body.summary.grossTurnoverUsd, body.dataQuality.operationsWithoutUsdRate]
    }
    expect(await grossOf()).toEqual(['0.00', 1])
    expect((await addRate(deposit, bench.vault.admin, 'deposit')).body.usdValue).toBe('40.00')
    expect(await grossOf()).toEqual(['40.00', 0])
    expect((await bench.owner.get(`${base}/deposits/${deposit.id}`)).body).toMatchObject({
      usdRate: '1',
      usdRateSource: 'later:manual',
      usdValue: '40.00',
    })
  })

  it('never changes a rate that is there', async () => {
    const transfer = await unrated()
    await record('1.01', transfer, 3)
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => addRate(transfer)))
    expect(first!.body.usdRate).toBe('1.01')
    for (const other of others) expect(other.body).toEqual(first!.body)
    await record('1.05', transfer, 1)
    expect((await addRate(transfer)).body).toEqual(first!.body)
    expect(await recordsOf(transfer)).toHaveLength(1)

    const rated = (await bench.order(address.id, '1')).body
    expect([rated.usdRate, rated.usdRateSource]).toEqual(['1.05', 'manual'])
    expect((await addRate(rated)).body).toMatchObject({ usdRate: '1.05', usdRateSource: 'manual' })
    expect(await recordsOf(rated)).toEqual([])
  })

  it('changes no decision and no vote of a transfer that waits', async () => {
    const transfer = await unrated('200')
    expect(transfer.status).toBe('awaiting_approval')
    expect((await bench.act(bench.firstApprover, transfer.id, 'approve')).status).toBe(200)
    await record('1', transfer, 1)
    expect((await addRate(transfer)).status).toBe(200)
    expect((await bench.act(bench.secondApprover, transfer.id, 'approve')).body.status).toBe('pending')
    await bench.deliver()
    expect((await bench.read(transfer.id)).haltReason).toBeNull()
    await bench.expectSoundLedger()
  })
})

describe('a rate is refused', () => {
  it('when no rate of that time is recorded: 409, and nothing is written', async () => {
    const transfer = await unrated()
    await record('1', transfer, 15.01)
    const refused = await addRate(transfer)
    expect([refused.status, refused.body.message]).toEqual([409, 'No rate of this time is recorded'])
    expect((await bench.read(transfer.id)).usdRate).toBeNull()
    expect(await recordsOf(transfer)).toEqual([])
  })

  it('when the rate of that time is held back', async () => {
    const transfer = await unrated()
    const asOf = new Date(Date.parse(transfer.createdAt) - minute).toISOString()
    const rate = { usdRate: '90', asOf, source: 'manual' }
    expect((await bench.vault.admin.post(`/tokens/${bench.vault.tokens.usdt.id}/rates`, rate)).status).toBe(202)
    expect((await addRate(transfer)).status).toBe(409)
  })

  it('with a body, which would choose the rate: 400', async () => {
    const transfer = await unrated()
    await record('1', transfer, 1)
    const path = `${base}/operations/transfer/${transfer.id}/rate` as const
    expect((await bench.vault.admin.post(path, { usdRate: '0.0001' })).status).toBe(400)
  })

  it('to members, and for operations that do not exist', async () => {
    const transfer = await unrated()
    await record('1', transfer, 1)
    const member = await addMember(bench.test, bench.vault, 'somebody@example.org')
    for (const by of [bench.owner, bench.firstApprover, member]) expect((await addRate(transfer, by)).status).toBe(403)
    expect((await addRate(transfer, bench.vault.admin, 'deposit')).status).toBe(404)
    expect((await addRate({ id: 'cmi8h2k1p0a1b2c3d4e5f6g7h' })).status).toBe(404)
    expect((await addRate(transfer, bench.test.anonymous)).status).toBe(401)
  })
})

describe('the database refuses', () => {
  const update = (set: string, { id }: { id: string }) =>
    bench.rolledBack((query) => query(`update operations set ${set} where id = $1`, [id]))

  it('another rate, no rate, and a rate that is not marked as added', async () => {
    const [rated, bare] = [await unrated(), await unrated()]
    await record('1', rated, 1)
    await addRate(rated)
    for (const set of ['usd_rate = 2', 'usd_value = 2', 'usd_rate = null', 'usd_rate_added_at = null']) {
      await expect(update(set, rated), set).rejects.toThrow('cannot be changed')
    }
    await expect(update('usd_rate = 2, usd_value = 2', bare)).rejects.toThrow('cannot be changed')
    await update('updated_at = now()', rated)
  })
})
