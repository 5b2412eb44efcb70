import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'

const day = 86_400_000

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
afterEach(() => bench.expectSoundLedger())

/** Reads the ids of all operations of an address, in pages of one operation. */
async function readHistory(addressId: string): Promise<string[]> {
  const ids: string[] = []
  let cursor = ''
  do {
    const { body } = await bench.owner.get(`/vaults/main-vault/history?addressId=${addressId}&limit=1${cursor}`)
    ids.push(...body.items.map(({ id }) => id))
    cursor = body.nextCursor === null ? '' : `&cursor=${encodeURIComponent(body.nextCursor)}`
  } while (cursor !== '')
  return ids
}

async function pay(addressId: string, amount: string): Promise<string> {
  const { status, body } = await bench.order(addressId, amount)
  expect(status).toBe(201)
  await bench.deliver()
  bench.vault.wallet.confirm(body.id)
  await bench.deliver()
  return body.id
}

describe.each([
  ['forwards', day],
  ['backwards', -day],
])('T54 a clock that jumps %s by a day', (_direction, jump) => {
  it('T54 does not disturb the books: operations before and after the jump are booked once and in full', async () => {
    const { id: addressId } = await bench.fundedAddress()
    const before = await pay(addressId, '10')
    const { body: underWay } = await bench.order(addressId, '20')
    await bench.deliver()
    bench.test.clock.advance(jump)
    const after = await pay(addressId, '30')
    bench.vault.wallet.confirm(underWay.id)
    // After a jump back, transfers become due when the clock reaches their times again, at most a day later.
    if (jump < 0) bench.test.clock.advance(-jump)
    await bench.deliver()
    for (const id of [before, underWay.id, after]) expect(await bench.read(id)).toMatchObject({ status: 'confirmed' })
    expect(await bench.balances(addressId)).toEqual({ available: '940', reserved: '0' })
    const history = await readHistory(addressId)
    expect(history).toHaveLength(4)
    expect(new Set(history)).toContain(after)
    expect(new Set(history).size).toBe(4)
  })

  it('T54 changes neither permissions nor limits', async () => {
    const { id: addressId } = await bench.fundedAddress()
    const value = { op: 'gt', value: '100', windowSeconds: 2 * 86_400, per: 'sourceAddress' }
    const rules = [{ conditionType: 'require', selectors: [{ selectorType: 'velocityAmount', value }] }]
    const { id } = await bench.policy({ code: 'two-days', effect: 'block', blockReason: 'The limit is reached', rules })
    expect((await bench.order(addressId, '90')).status).toBe(201)
    bench.test.clock.advance(jump)
    expect((await bench.order(addressId, '11')).status).toBe(403)
    expect((await bench.order(addressId, '10')).status).toBe(201)
    expect((await bench.owner.get('/users/me')).status).toBe(200)
    expect((await bench.vault.admin.delete(`/policies/${id}`)).status).toBe(204)
  })
})
