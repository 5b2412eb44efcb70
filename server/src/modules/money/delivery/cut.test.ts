import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { createDelivery } from './deliver.ts'

vi.mock('../../../lib/limits.ts', async (original) => ({ ...(await original<object>()), deliveriesInProgressMax: 2 }))

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

it('a claim that the limit of the node cut is followed by another one at once, although the lane has places', async () => {
  const address = await bench.fundedAddress()
  const ids = await Promise.all(Array.from({ length: 3 }, async () => (await bench.order(address.id, '1')).body.id))
  const pauses: number[] = []
  const delivery = createDelivery(bench.test.deps, undefined, (milliseconds) => pauses.push(milliseconds))
  expect((await delivery.round()).claimed).toBe(2)
  await delivery.finish()
  expect(pauses).toEqual([0, 0])
  expect((await delivery.round()).claimed).toBe(1)
  await delivery.finish()
  expect(pauses.slice(2)).not.toContain(0)
  expect(ids.map((id) => bench.vault.wallet.broadcastCount(id))).toEqual([1, 1, 1])
})
