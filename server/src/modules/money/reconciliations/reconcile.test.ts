import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

it('a reconciliation includes a coin with an owed fee, although no address of the vault has an account of it', async () => {
  const address = await bench.fundedAddress({ usdt: '100' })
  const { body } = await bench.order(address.id, '10')
  await bench.deliver()
  bench.vault.wallet.confirm(body.id, { fee: '21000' })
  await bench.deliver()
  bench.vault.wallet.balances.set(address.address.toLowerCase(), '79000')
  const { tokens } = (await bench.vault.admin.get('/vaults/main-vault/ledger/reconciliation')).body
  expect(tokens).toHaveLength(2)
  expect(tokens[0]).toMatchObject({
    token: { code: 'ETH' },
    sumOfPostings: '0',
    cached: '0',
    recomputed: '0',
    onChain: '79000',
    difference: '79000',
    outstandingFees: '21000',
  })
  expect(tokens[1]).toMatchObject({ token: { code: 'USDT' }, outstandingFees: '0' })
})
