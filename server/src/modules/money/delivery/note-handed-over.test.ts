import { afterAll, beforeAll, expect, it } from 'vitest'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { noteHandedOver } from './note-handed-over.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

const note = (id: string) => noteHandedOver(bench.test.deps.db, bench.vault.id, id, bench.test.clock.now())

it('T26 a transfer that was paid, and waits for its hand-over in restored books, is followed and not ordered or failed', async () => {
  const address = await bench.fundedAddress({ usdt: '1000' })
  const { body } = await bench.order(address.id, '1')
  bench.vault.wallet.remember(body.id, {
    id: body.id,
    status: 'confirmed',
    txHash: fakeTxHash(body.id),
    fee: null,
    feePaidBy: null,
    confirmations: 12,
    blockTime: '2026-01-31T09:30:00.000Z',
    failureReason: null,
    network: 'ethereum',
    fromAddress: address.address,
    toAddress: bench.recipient,
    contractAddress: usdtContract,
    amount: '1000000',
  })
  expect(await note(body.id)).toBe(true)
  expect(await note(body.id)).toBe(false)
  // Without the note, the books would fail it for the token that is disabled meanwhile.
  await bench.sql(`update tokens set enabled = false where contract_key = $1`, [usdtContract.toLowerCase()])
  await bench.deliver()
  await bench.sql(`update tokens set enabled = true where contract_key = $1`, [usdtContract.toLowerCase()])
  expect(await bench.read(body.id)).toMatchObject({ status: 'confirmed', txHash: fakeTxHash(body.id) })
  expect(bench.vault.wallet.broadcastCount(body.id)).toBe(0)
  expect(await bench.balances(address.id)).toEqual({ available: '999', reserved: '0' })
})

it('a transfer that waits for votes, or has ended, stays as it is', async () => {
  const address = await bench.fundedAddress()
  const { body: waiting } = await bench.order(address.id, '500')
  const { body: ended } = await bench.order(address.id, '1')
  await bench.act(bench.owner, ended.id, 'cancel')
  expect([await note(waiting.id), await note(ended.id)]).toEqual([false, false])
  expect(await bench.read(waiting.id)).toMatchObject({ status: 'awaiting_approval' })
  expect(await bench.read(ended.id)).toMatchObject({ status: 'cancelled' })
})
