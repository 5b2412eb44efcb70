import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { createCostMeter } from '../../../testing/feed-cost.ts'
import {
  allowAll,
  createAddress,
  createVaultFixture,
  usdtContract,
  type VaultFixture,
} from '../../../testing/fixtures.ts'
import { findEventTargets } from './queries.ts'

const now = new Date('2026-03-01T12:00:00Z')

let test: TestApp
let vault: VaultFixture
let meter: ReturnType<typeof createCostMeter>
let toAddress: string

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  await allowAll(vault, 'create_address')
  toAddress = (await createAddress(vault.admin)).address
  meter = createCostMeter(test.databaseUrl)
})
afterAll(async () => {
  await meter.close()
  await test.close()
})

it('the cost of an event does not grow with the vault, even before there are statistics', async () => {
  const before = await buffersOfAnEvent()
  await fill(3_000)
  const after = await buffersOfAnEvent()
  // The indexes may be one level deeper; every other part must not grow.
  expect(after - before).toBeLessThan(15)
})

async function buffersOfAnEvent(): Promise<number> {
  const event = {
    network: 'ethereum',
    contract: usdtContract,
    amountDecimal: '1',
    toAddress,
    txHash: `0x${'ab'.repeat(32)}`,
    index: 0,
    fromAddress: `0x${'cd'.repeat(20)}`,
    blockTime: null,
    notFinal: null,
    kind: 'TOPUP' as const,
    occurrence: 0,
  }
  const { result, cost } = await meter.measure((db) => findEventTargets(db, [event], now))
  expect(result[0]?.address?.vaultId).toBe(vault.id)
  return cost.buffers
}

/** Adds more addresses and transfers of the same vault; the statistics of PostgreSQL are not updated. */
async function fill(count: number): Promise<void> {
  await meter.db.connection().execute(async (db) => {
    await sql`
      insert into addresses (vault_id, id, network_id, address, address_key, derivation_path, static_prefix, path_index,
        segments, owner_id, token_id, created_at, updated_at)
      select a.vault_id, 'caddress' || lpad(n::text, 17, '0'), a.network_id, 'address ' || n, 'address ' || n, 'm/1/' || n,
        'm/1', n, '{}', a.owner_id, a.token_id, now(), now()
      from (select * from addresses limit 1) a, generate_series(1, ${count}::int) n`.execute(db)
    await sql`
      insert into operations (vault_id, id, type, status, address_id, owner_id, initiator_id, network_id, token_id, amount,
        flow_type, tx_hash, created_at, updated_at)
      select a.vault_id, 'ctransfer' || lpad(n::text, 16, '0'), 'transfer', 'confirmed', a.id, a.owner_id, a.owner_id,
        a.network_id, a.token_id, 1, 'external', '0x' || n, now() - n * interval '1 second', now()
      from (select * from addresses order by id limit 1) a, generate_series(1, ${count}::int) n`.execute(db)
  })
}
