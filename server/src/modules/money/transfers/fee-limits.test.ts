import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { hashPayload, type Payload } from '../orders/payload.ts'

let bench: TransferBench
let address: Address
const limits = { feeLevel: 'high', maxFee: '4200000000000000' }

beforeAll(async () => {
  bench = await createTransferBench()
  address = await bench.fundedAddress({ eth: '1' })
})
afterAll(() => bench.close())

const handedOver = (id: string) =>
  bench.vault.wallet.requests.find(({ method, body }) => method === 'POST' && body?.id === id)?.body

describe('T63 a limit of the fee', () => {
  it('is part of the order that is hashed, voted on and handed over', async () => {
    const { status, body } = await bench.order(address.id, '40', limits)
    expect([status, body.payload]).toEqual([201, expect.objectContaining(limits)])
    expect(body.payloadHash).toBe(hashPayload(body.payload as Payload).toString('hex'))
    const evidence = await bench.vault.admin.get(`/vaults/${bench.vault.code}/transfers/${body.id}/evidence`)
    expect(evidence.body.payload).toMatchObject(limits)
    await bench.deliver()
    expect(handedOver(body.id)).toMatchObject(limits)
  })

  it('is absent from the payload of an order without it, whose hash stays the same', async () => {
    const { body } = await bench.order(address.id, '40')
    expect(Object.keys(body.payload)).toHaveLength(12)
    await bench.deliver()
    expect(Object.keys(handedOver(body.id))).not.toEqual(expect.arrayContaining(['feeLevel']))
    expect(Object.keys(handedOver(body.id))).not.toEqual(expect.arrayContaining(['maxFee']))
  })

  it.each([
    ["max_fee = '9'", limits],
    ['max_fee = null', limits],
    ["fee_level = 'low'", limits],
    ["max_fee = '9'", {}],
    ["fee_level = 'high'", {}],
  ])('T27 halts the transfer when it was changed in the database: %s of %j', async (change, more) => {
    const { body } = await bench.order(address.id, '40', more)
    await bench.sql(`update transfers set ${change} where id = $1`, [body.id])
    await bench.deliver()
    expect(handedOver(body.id)).toBeUndefined()
    expect((await bench.read(body.id)).haltReason).toMatch(/: its (maxFee|feeLevel) was changed$/)
    // The funds of the halted transfer stay reserved; the next row starts afresh.
    address = await bench.fundedAddress({ eth: '1' })
  })

  it.each([
    ['maxFee', '0'],
    ['maxFee', '-1'],
    ['maxFee', '0.5'],
    ['maxFee', 5],
    ['maxFee', (2n ** 256n).toString()],
    ['feeLevel', 'urgent'],
  ])('%s %j is a 400', async (field, value) => {
    const { status, body } = await bench.order(address.id, '40', { [field]: value })
    expect([status, body.details]).toEqual([400, [expect.objectContaining({ field })]])
  })

  it('is named by the preview, which reports when the network needs more', async () => {
    const preview = async (more: object) => {
      const order = { fromAddressId: address.id, toAddress: bench.recipient, amount: '1', ...more }
      return (await bench.owner.post(`/vaults/${bench.vault.code}/transfers/preview`, order)).body
    }
    bench.vault.wallet.fee = '21000'
    expect(await preview({})).toMatchObject({ feeLevel: 'medium', maxFee: null, problems: [] })
    expect(await preview(limits)).toMatchObject({
      feeLevel: 'high',
      maxFee: { amount: '4200000000000000', amountDecimal: '0.0042', asset: 'ETH' },
      problems: [],
    })
    expect(await preview({ maxFee: '20999' })).toMatchObject({ problems: [{ code: 'above_max_fee', blocks: false }] })
    bench.vault.wallet.fee = null
  })

  it('is read by the selector maxFee, in units of the coin; without a limit it is unknown', async () => {
    const policy = await bench.policy({
      code: 'dear',
      effect: 'block',
      blockReason: 'The fee has no limit, or one that is too high',
      rules: [
        {
          conditionType: 'require',
          selectors: [{ selectorType: 'maxFee', value: { op: 'gt', value: '0.0042' } }],
        },
      ],
    })
    expect((await bench.order(address.id, '1', limits)).status).toBe(201)
    expect((await bench.order(address.id, '1', { maxFee: '4200000000000001' })).status).toBe(403)
    expect((await bench.order(address.id, '1')).status).toBe(403)
    const deleted = await bench.vault.admin.delete(`/policies/${policy.id}`)
    expect(deleted.status).toBeLessThan(300)
  })
})
