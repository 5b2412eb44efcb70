import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
beforeEach(() => {
  Object.assign(bench.vault.wallet, { fee: '100', down: false })
  // The known fees are forgotten by then.
  bench.test.clock.advance(16_000)
})
afterEach(() => bench.expectSoundLedger())

let count = 0
const rowsFrom = (fromAddressId: string, amounts: string[], more: object = {}) =>
  amounts.map((amount) => {
    count += 1
    return { externalId: `g-${count}`, fromAddressId, toAddress: fakeAddress(`g ${count}`), amount, ...more }
  })
const base = () => `/vaults/${bench.vault.code}/payouts` as const
const pay = (rows: object[]) => bench.owner.post(base(), { rows })
const countFeeQuestions = () => bench.vault.wallet.requests.filter(({ path }) => path === '/fees').length

it('refuses the rows whose fees the address cannot pay after the rows before', async () => {
  const { id } = await bench.fundedAddress({ eth: '0.00000000000000025' })
  const rows = rowsFrom(id, ['1', '2', '3', '4'])
  const details = [
    {
      line: 3,
      field: 'rows.2.fromAddressId',
      message: 'lacks 0.00000000000000005 ETH for the network fees up to this row',
    },
    {
      line: 4,
      field: 'rows.3.fromAddressId',
      message: 'lacks 0.00000000000000015 ETH for the network fees up to this row',
    },
  ]
  const { status, body } = await pay(rows)
  expect([status, body.reason, body.details]).toEqual([409, 'insufficient_gas', details])
  expect(await bench.balances(id)).toEqual({ available: '1000', reserved: '0' })
  const preview = await bench.owner.post(`${base()}/preview`, { rows })
  expect(preview.body.problems).toEqual(
    details.map(({ line, field, message }) => ({
      code: 'insufficient_gas',
      row: line,
      message: `${field} ${message}`,
    })),
  )
  expect((await pay(rows.slice(0, 2))).status).toBe(201)
})

it('counts the coin that rows pay, and asks once for each token', async () => {
  const { id } = await bench.fundedAddress({ eth: '0.000000000000002' })
  const coins = rowsFrom(id, ['0.000000000000001'], { token: 'ETH' })
  const before = countFeeQuestions()
  expect((await pay([...coins, ...rowsFrom(id, Array(9).fill('1'))])).status).toBe(201)
  expect(countFeeQuestions() - before).toBe(2)
  // 1,000 wei are left after the coin that was reserved.
  const { body } = await pay(rowsFrom(id, Array(11).fill('1')))
  expect([body.reason, body.details[0]!.line]).toEqual(['insufficient_gas', 11])
})

it('names the other faults of the rows first', async () => {
  const { id } = await bench.fundedAddress()
  expect((await pay(rowsFrom(id, ['2000']))).body.reason).toBe('insufficient_funds')
  expect((await pay(rowsFrom('nothing', ['1']))).status).toBe(404)
  expect((await pay(rowsFrom(id, ['0']))).body.reason).toBe('validation_failed')
})

it('refuses no row when the wallet service gives no estimate, or gas is not checked', async () => {
  const { id } = await bench.fundedAddress()
  bench.vault.wallet.down = 'error'
  expect((await pay(rowsFrom(id, ['1']))).status).toBe(201)
  const demo = await createTransferBench({ GAS_CHECK: 'off' })
  demo.vault.wallet.fee = '100'
  const poor = await demo.fundedAddress()
  const { status } = await demo.owner.post(`/vaults/${demo.vault.code}/payouts`, { rows: rowsFrom(poor.id, ['1']) })
  expect(status).toBe(201)
  await demo.close()
})
