import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../../config/config.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
beforeEach(() => {
  bench.vault.wallet.fee = '21000'
  // The kept fees are too old by then.
  bench.test.clock.advance(16_000)
})
afterEach(async () => {
  Object.assign(bench.vault.wallet, { down: false, delayMilliseconds: 0 })
  await bench.expectSoundLedger()
})

const countFeeQuestions = () => bench.vault.wallet.requests.filter(({ path }) => path === '/fees').length
const refusalOf = async (addressId: string, amount: string, more = {}) => {
  const { status, body } = await bench.order(addressId, amount, more)
  return [status, body.reason, body.details]
}

it('a lacking fee is a problem that blocks nothing where gas is not checked, as in demo mode', async () => {
  expect(readConfig({ DEMO: 'true' }).checksGas).toBe(false)
  const demo = await createTransferBench({ GAS_CHECK: 'off' })
  demo.vault.wallet.fee = '21000'
  const { id: fromAddressId } = await demo.fundedAddress()
  const order = { fromAddressId, toAddress: demo.recipient, amount: '10' }
  const { body } = await demo.owner.post(`/vaults/${demo.vault.code}/transfers/preview`, order)
  expect(body.problems).toMatchObject([{ code: 'insufficient_gas', blocks: false }])
  expect((await demo.order(fromAddressId, '10')).status).toBe(201)
  await demo.close()
})

describe('an address that cannot pay the network fee', () => {
  it('is refused with the lacking amount, before any funds are reserved', async () => {
    const { id } = await bench.fundedAddress({ eth: '0.000000000000001' })
    const written = () => Promise.all(['operations', 'transfers', 'ledger_entries'].map(bench.count))
    const before = await written()
    const refusal = [
      409,
      'insufficient_gas',
      'The address lacks 0.00000000000002 ETH for the network fee of the transfer',
    ]
    expect(await refusalOf(id, '10')).toEqual(refusal)
    expect(await written()).toEqual(before)
    expect(await bench.balances(id)).toEqual({ available: '1000', reserved: '0' })
    bench.vault.wallet.fee = '1000'
    expect((await bench.order(id, '10')).status).toBe(201)
  })

  it('gets the other faults of its order first', async () => {
    const { id } = await bench.fundedAddress({ usdt: '5' })
    expect((await refusalOf(id, '10'))[1]).toBe('insufficient_funds')
    expect((await refusalOf(id, '0'))[1]).toBe('validation_failed')
    expect((await refusalOf('nothing', '1'))[0]).toBe(404)
  })

  it('counts an amount of the coin itself', async () => {
    const { id } = await bench.fundedAddress({ eth: '1' })
    expect(await refusalOf(id, '1', { token: 'ETH' })).toEqual([
      409,
      'insufficient_gas',
      'The address lacks 0.000000000000021 ETH for the network fee of the transfer',
    ])
    expect((await bench.order(id, '0.999999999999979', { token: 'ETH' })).status).toBe(201)
  })
})

describe('the wallet service', () => {
  it('is asked once for orders that can pay, and again before an order is refused', async () => {
    const rich = await bench.fundedAddress({ eth: '1' })
    const poor = await bench.fundedAddress()
    const before = countFeeQuestions()
    for (let i = 0; i < 3; i += 1) expect((await bench.order(rich.id, '1')).status).toBe(201)
    expect(countFeeQuestions() - before).toBe(1)
    expect((await refusalOf(poor.id, '1'))[1]).toBe('insufficient_gas')
    // Fees fell: with the kept fee the order would be refused, so the wallet service is asked again.
    bench.vault.wallet.fee = '0'
    expect((await bench.order(poor.id, '1')).status).toBe(201)
    expect(countFeeQuestions() - before).toBe(3)
    bench.test.clock.advance(16_000)
    expect((await bench.order(rich.id, '1')).status).toBe(201)
    expect(countFeeQuestions() - before).toBe(4)
  })

  it.each(['no fees', 'an error', 'nothing'])(
    'that says %s refuses no order, and is not asked for each order',
    async (says) => {
      const { id } = await bench.fundedAddress()
      if (says === 'no fees') bench.vault.wallet.fee = null
      else bench.vault.wallet.down = says === 'nothing' ? 'refused' : 'error'
      expect((await bench.order(id, '1')).status).toBe(201)
      const before = countFeeQuestions()
      expect((await bench.order(id, '1')).status).toBe(201)
      expect(countFeeQuestions()).toBe(before)
    },
  )

  it('that is slow delays an order by at most two seconds', async () => {
    const { id } = await bench.fundedAddress()
    bench.vault.wallet.delayMilliseconds = 30_000
    const before = Date.now()
    expect((await bench.order(id, '1')).status).toBe(201)
    expect(Date.now() - before).toBeLessThan(9_000)
  })

  it('is not asked about an address that the caller may not spend from', async () => {
    const { id } = await bench.fundedAddress()
    const before = countFeeQuestions()
    expect((await bench.order(id, '1', {}, bench.firstApprover)).status).toBe(404)
    expect(countFeeQuestions()).toBe(before)
  })
})
