import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addClient, findClientByName } from '../clients.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { migrate } from '../database/migrate.ts'
import { openKeyring } from '../keys/keyring.ts'
import { createTestDatabase, type TestDatabase, testPassphrase } from '../testing/database.ts'
import { authority, authorize, follow, order, signVote, team } from '../testing/signing.ts'
import type { TransferRow } from '../transfers/transfer-row.ts'
import { hashOf } from './canonical.ts'
import type { Authority, Authorization } from './documents.ts'
import { lockClient, pinAuthority } from './protection.ts'
import { stopOrders } from './stops.ts'
import { AuthorityStore } from './store.ts'
import { claimSigning } from './verify-stored.ts'

let database: TestDatabase
let pool: pg.Pool
let directory: string
let clientId: string
let pinned: Authority

beforeAll(async () => {
  ;[database, directory] = await Promise.all([createTestDatabase(), mkdtemp(join(tmpdir(), 'lock-'))])
  pool = new pg.Pool({ connectionString: database.url })
  // Dropping the database ends connections that are being closed.
  pool.on('error', () => undefined)
  await migrate(pool)
  await addClient(pool, await openKeyring(pool, testPassphrase), 'locked')
  clientId = (await findClientByName(pool, 'locked'))!
  const rules = [{ ...authority.rules[0]!, floors: [], perDay: '100' }]
  pinned = { ...authority, rules }
  await pinAuthority(pool, new AuthorityStore(directory), clientId, pinned)
})
afterAll(async () => {
  await pool?.end()
  await database?.drop()
  await rm(directory, { recursive: true, force: true })
})

/** A row as a process of the wallet service reads it, with the columns that the claim reads. */
const rowOf = (transferId: string, amount: string) =>
  ({
    client_id: clientId,
    network: 'ethereum',
    contract_address: null,
    signed_order: authorize({ ...order, transferId, amount }, { by: team.anna }),
  }) as unknown as TransferRow

/** Claims as a process of its own does, with a store that has read nothing yet. */
const claim = (row: TransferRow, nonce: number) =>
  inTransaction(pool, (tx) =>
    claimSigning(tx, new AuthorityStore(directory), row, { nonce, kind: 'payment', fee: 0n, unsignedLimit: 1n }),
  )

test('T58 processes that sign at once share the amount of a day, and none signs an order twice', async () => {
  const several = await Promise.all(Array.from({ length: 8 }, (_, i) => claim(rowOf(`several-${i}`, '40'), i)))
  expect(several.filter((wait) => wait === null)).toHaveLength(2)
  for (const wait of several) expect(wait ?? 'PER_DAY_EXCEEDED: 80 of 100').toMatch(/^PER_DAY_EXCEEDED: 80 of 100/)
  const same = await Promise.all(Array.from({ length: 8 }, (_, nonce) => claim(rowOf('same', '20'), nonce)))
  expect(same.filter((wait) => wait === null)).toHaveLength(1)
  for (const wait of same) expect(wait ?? 'ALREADY_SIGNED: ').toMatch(/^ALREADY_SIGNED: /)
  const lines = (await readFile(join(directory, `${clientId}.signed`), 'utf8')).trim().split('\n')
  expect(lines).toHaveLength(3)
})

test('T58 an order that was stopped after its verification is not signed, and a stop waits for a running signature', async () => {
  const row = rowOf('stopped', '1')
  const stop = () => {
    const { order: stopped } = row.signed_order as Authorization
    const vote = { hash: hashOf(stopped), decision: 'reject' as const, authority: hashOf(pinned) }
    return stopOrders(pool, new AuthorityStore(directory), clientId, [signVote(team.ben, vote)])
  }
  let isStopped = false
  const stopping = await inTransaction(pool, async (tx) => {
    await lockClient(tx, clientId)
    const stopping = stop().then(() => {
      isStopped = true
    })
    await sleep(200)
    expect(isStopped).toBe(false)
    return { stopping }
  })
  await stopping.stopping
  expect(await claim(row, 90)).toMatch(/^STOPPED: ben signed on /)
})

test('T58 an order whose authority was replaced after its verification is not signed', async () => {
  const row = rowOf('replaced', '1')
  const next = follow(pinned, { keys: pinned.keys.filter(({ person }) => person !== 'anna'), rules: [] }, [
    team.dora,
    team.emil,
  ])
  const claims = await inTransaction(pool, async (tx) => {
    await lockClient(tx, clientId)
    const claiming = claim(row, 91)
    await new AuthorityStore(directory).append(clientId, { ...next, inForceAt: new Date().toISOString() })
    return { claiming }
  })
  expect(await claims.claiming).toMatch(
    /^AUTHORITY_VERSION_DIFFERS: the votes were collected for version 1, the present/,
  )
})
