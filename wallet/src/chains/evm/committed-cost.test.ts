import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../database/migrate.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { readCommittedCost, readOpening } from './committed-cost.ts'

const sender = { network: 'ethereum', from_address: '0xa11ce00000000000000000000000000000000001' } as const
const ended = 2_000

let database: TestDatabase
let pool: pg.Pool

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url })
  await migrate(pool)
  await pool.query(
    `insert into wallet.clients (id, name, token_hash, sealed_mnemonic)
     values (gen_random_uuid(), 'first', sha256('token'), 'sealed')`,
  )
  await insert(1, ended, 'confirmed')
  await insert(ended + 1, ended + 3, 'broadcast')
  await pool.query('insert into wallet.nonces (network, address, next_nonce) values ($1, $2, $3)', [
    sender.network,
    sender.from_address,
    ended + 4,
  ])
  await pool.query('analyze wallet.transfers')
})

afterAll(async () => {
  await pool?.end()
  await database?.drop()
})

/** Transfers of the nonces from `first` to `last`, each of which may take 10. */
async function insert(first: number, last: number, status: string): Promise<void> {
  await pool.query(
    `insert into wallet.transfers (client_id, id, network, coin_type, derivation_path, from_address, to_address, amount, status,
       nonce, raw_transaction, tx_hash, max_cost, updated_at)
     select (select id from wallet.clients), 'transfer-' || n, $1, 60, 'm/44/60/0/0', $2, '0xdead', 1, $3, n, '0x', '0x' || n, 10,
       now() - interval '1 day'
     from generate_series($4::int, $5::int) n`,
    [sender.network, sender.from_address, status, first, last],
  )
}

/** Returns the rows of transfers that the connection has read. */
async function countRead(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ rows: number }>(
    `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relid = 'wallet.transfers'::regclass`,
  )
  return rows[0]!.rows
}

/** Returns the committed cost, and the rows of transfers that were read for it. */
async function read(opening: Awaited<ReturnType<typeof readOpening>>) {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const before = await countRead(client)
    const cost = await readCommittedCost(client, sender, opening)
    return { cost, rowsRead: (await countRead(client)) - before }
  } finally {
    await client.query('rollback')
    client.release()
  }
}

test('The committed cost is what is in flight, and no transfer that ended earlier is read for it.', async () => {
  const { cost, rowsRead } = await read(await readOpening(pool, sender))
  expect(cost).toBe(30n)
  expect(rowsRead).toBe(3)
})

test('A transfer that ended after the balance was read still counts.', async () => {
  const opening = await readOpening(pool, sender)
  await pool.query(
    `update wallet.transfers set status = 'confirmed', updated_at = clock_timestamp() where id in ('transfer-2001', 'transfer-2003')`,
  )
  expect((await read(opening)).cost).toBe(30n)
  expect((await read(await readOpening(pool, sender))).cost).toBe(10n)
})

test('When nothing is in flight, only transfers that are signed after the opening count.', async () => {
  await pool.query(
    `update wallet.transfers set status = 'confirmed', updated_at = now() - interval '1 day' where status = 'broadcast'`,
  )
  const opening = await readOpening(pool, sender)
  expect(opening.nonce).toBe(BigInt(ended + 4))
  await insert(ended + 4, ended + 4, 'queued')
  expect(await read(opening)).toEqual({ cost: 10n, rowsRead: 1 })
})

test('A transfer that is in flight again after the opening counts, whatever its nonce is.', async () => {
  const opening = await readOpening(pool, sender)
  await pool.query(`update wallet.transfers set status = 'broadcast' where id = 'transfer-5'`)
  expect((await read(opening)).cost).toBe(20n)
})
