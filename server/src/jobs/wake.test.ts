import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Deps } from '../deps.ts'
import { deliverDueTransfers } from '../modules/money/delivery/deliver.ts'
import { openDeps } from '../start.ts'
import type { Address } from '../testing/answer.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'
import { runTasks } from './tasks.ts'

/** A pause that no test reaches, so that only a commit makes a task run. */
const never = 3_600_000

describe('a commit', () => {
  let bench: TransferBench
  let address: Address
  let otherNode: { deps: Deps; close(): Promise<void> }
  let stop = async () => {}

  beforeAll(async () => {
    bench = await createTransferBench()
    address = await bench.fundedAddress()
    const { config, log, clock } = bench.test.deps
    otherNode = await openDeps(config, bench.test.databaseUrl, log, clock)
  })
  afterEach(() => stop())
  afterAll(async () => {
    await otherNode.close()
    await bench.close()
  })

  /** Starts the delivery of a node and waits for its first runs, before there is work. Later only a commit makes it run. */
  async function startDelivery({ deps }: { deps: Deps }): Promise<void> {
    let runs = 0
    const run = async () => {
      await deliverDueTransfers(deps)
      runs += 1
    }
    stop = runTasks(deps, [{ name: 'deliver-transfers', everyMilliseconds: never, run }])
    await expect.poll(() => deps.changeSignal.isHeard()).toBe(true)
    // The delivery runs once at its start, and once after the connection began to listen.
    await expect.poll(() => runs).toBeGreaterThan(1)
  }

  const isHandedOver = (id: string) => bench.vault.wallet.broadcastCount(id) === 1

  it('of an order wakes the delivery of its node, and so does the last vote', async () => {
    await startDelivery(bench.test)
    const { body: order } = await bench.order(address.id, '1')
    await expect.poll(() => isHandedOver(order.id)).toBe(true)
    const { body: voted } = await bench.order(address.id, '200')
    expect(voted.status).toBe('awaiting_approval')
    await bench.act(bench.firstApprover, voted.id, 'approve')
    expect(isHandedOver(voted.id)).toBe(false)
    await bench.act(bench.secondApprover, voted.id, 'approve')
    await expect.poll(() => isHandedOver(voted.id)).toBe(true)
  })

  it('wakes the delivery of another node', async () => {
    await startDelivery(otherNode)
    const { body: order } = await bench.order(address.id, '1')
    await expect.poll(() => isHandedOver(order.id)).toBe(true)
  })

  it('wakes the delivery again after the connection that listens was replaced', async () => {
    await startDelivery(otherNode)
    await bench.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'strongroom-changes' and query ilike 'listen%'`)
    await expect.poll(() => otherNode.deps.changeSignal.isHeard()).toBe(false)
    await expect.poll(() => otherNode.deps.changeSignal.isHeard()).toBe(true)
    const { body: order } = await bench.order(address.id, '1')
    await expect.poll(() => isHandedOver(order.id)).toBe(true)
  })
})
