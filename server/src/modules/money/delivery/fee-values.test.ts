import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import { deposit } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyLedger } from '../verifications/verify-ledger.ts'
import { postOutstandingFees } from './fees.ts'

let bench: TransferBench
let address: Address
beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

async function ordered(): Promise<string> {
  const { status, body } = await bench.order(address.id, '40')
  expect([status, body.status]).toEqual([201, 'pending'])
  return body.id
}

describe('the USD value of a fee', () => {
  const booked = async (id: string) => {
    const [row] = await bench.sql(
      `select fee_amount::text as amount, trim_scale(fee_usd_rate)::text as rate, fee_usd_rate_source as source,
        fee_usd_value::text as value, fee_booked_at as at from operations where id = $1`,
      [id],
    )
    return row
  }

  /** Records a rate of the coin behind the guard against jumps, at a moment of the clock of the service. */
  async function rateOfCoin(usdRate: string, minutesAgo = 0): Promise<void> {
    const at = new Date(bench.test.deps.clock().getTime() - minutesAgo * 60_000)
    await bench.sql(
      `insert into token_rates (token_id, as_of, source, usd_rate, created_at) values ($1, $2, 'manual', $3, $2)`,
      [bench.vault.tokens.eth.id, at, usdRate],
    )
  }

  async function confirmedWith(fee: string): Promise<string> {
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.confirm(id, { fee })
    return id
  }

  it('follows the rate at the time when the fee is booked, and never changes', async () => {
    address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
    const id = await confirmedWith('1500000000000000')
    await rateOfCoin('2503.5')
    await bench.deliver()
    // 0.0015 ETH at 2503.5 are 3.75525 USD.
    expect(await booked(id)).toMatchObject({
      amount: '1500000000000000',
      rate: '2503.5',
      source: 'manual',
      value: '3.76',
    })
    expect(await bench.read(id)).toMatchObject({ fee: '1500000000000000', feeUsdValue: '3.76' })
    const { body } = await bench.owner.get('/vaults/main-vault/history?limit=1')
    expect(body.items[0]).toMatchObject({ id, feeUsdValue: '3.76' })
    await expect(bench.sql('update operations set fee_usd_value = 1 where id = $1', [id])).rejects.toThrow(
      'booked once',
    )
    expect((await verifyLedger(bench.test.deps.db)).differences).toEqual([])
  })

  it('is unknown without a fresh rate', async () => {
    address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
    const id = await confirmedWith('1500000000000000')
    bench.test.clock.advance(60 * 60_000)
    await rateOfCoin('2600', 16)
    await bench.deliver()
    expect(await booked(id)).toMatchObject({ amount: '1500000000000000', rate: null, source: null, value: null })
    expect(await bench.read(id)).toMatchObject({ fee: '1500000000000000', feeUsdValue: null })
  })

  it('that is owed follows the rate at the time when the fee can be posted', async () => {
    address = await bench.fundedAddress({ usdt: '1000' })
    const id = await confirmedWith('2000000000000000')
    await rateOfCoin('2700')
    await bench.deliver()
    expect(await booked(id)).toMatchObject({ amount: null, at: null, value: null })
    bench.test.clock.advance(60 * 60_000)
    await rateOfCoin('2800')
    await deposit(bench.test, { address: address.address, amount: '1' })
    await postOutstandingFees(bench.test.deps)
    expect(await booked(id)).toMatchObject({ amount: '2000000000000000', rate: '2800', value: '5.60' })
    expect((await verifyLedger(bench.test.deps.db)).differences).toEqual([])
  })

  it('that a node of the previous version books comes from the entry that the node writes', async () => {
    address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
    const id = await confirmedWith('1500000000000000')
    await rateOfCoin('2503')
    await bench.deliver()
    const known = await booked(id)
    const value = `select fee_amount::text as amount, trim_scale(fee_usd_rate)::text as rate, fee_usd_rate_source as source,
      fee_usd_value::text as value, fee_booked_at as at from operations where id = '${id}'`
    const noted = await bench.rolledBack(async (query) => {
      await query('alter table operations disable trigger operations_keep_fee')
      await query(
        `update operations set fee_amount = null, fee_booked_at = null, fee_usd_rate = null,
        fee_usd_rate_as_of = null, fee_usd_rate_source = null, fee_usd_value = null where id = $1`,
        [id],
      )
      await query('create temporary table entry as select * from ledger_entries where operation_id = $1', [id])
      await query(`alter table ledger_entries disable trigger user`)
      await query(`delete from ledger_entries where operation_id = $1 and kind = 'fee'`, [id])
      await query(`alter table ledger_entries enable trigger user`)
      await query(`insert into ledger_entries overriding system value select * from entry where kind = 'fee'`)
      return query(value)
    })
    expect(noted).toEqual([known])
  })
})
