import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../testing/database.ts'
import { type Db, openDatabase } from './client.ts'
import { holdSnapshot, readOr, readSnapshot } from './transaction.ts'

let database: { url: string; drop(): Promise<void> }
let db: Db
/** Takes locks as a migration does: of a table, and then of a table that a read has locked. */
let migration: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase({ url: database.url, connectionsMax: 1, onError: () => {} }).db
  migration = new pg.Client({ connectionString: database.url })
  await migration.connect()
})
afterAll(async () => {
  await migration.end()
  await db.destroy()
  await database.drop()
})

/** Runs a read that needs `networks` and then `tokens`, and makes it the victim of a deadlock. */
async function asVictim<Result>(read: () => Promise<Result>): Promise<Result> {
  await migration.query('begin; lock table tokens in access exclusive mode')
  const answered = read()
  answered.catch(() => {})
  const isWaiting = async () =>
    (await migration.query(`select from pg_locks where relation = 'tokens'::regclass and not granted`)).rowCount
  await expect.poll(isWaiting).toBe(1)
  // PostgreSQL ends the session that has waited for a second first, which is the read.
  await migration.query('lock table networks in access exclusive mode')
  await migration.query('rollback')
  return answered
}

const networks = sql`select count(*) from networks`
const tokens = sql`select count(*) from tokens`
const ways: Record<string, () => Promise<unknown>> = {
  'a single statement': () => sql`select from networks, tokens`.execute(db),
  'a snapshot': () =>
    readSnapshot(db, async (trx) => {
      await networks.execute(trx)
      return tokens.execute(trx)
    }),
  'a snapshot with parts that may fail': () =>
    readSnapshot(db, async (trx) => {
      await networks.execute(trx)
      return readOr(
        trx,
        () => tokens.execute(trx),
        () => expect.fail('A conflict is not an unreadable row'),
      )
    }),
}

describe.each(Object.entries(ways))('%s that is the victim of a deadlock with a migration', (_, read) => {
  it('is repeated', async () => {
    await expect(asVictim(read)).resolves.toMatchObject({ rows: expect.any(Array) })
  })
})

it('a snapshot whose rows leave the service while they are read is not repeated', async () => {
  let uses = 0
  const used = asVictim(() =>
    holdSnapshot(db, async (trx) => {
      uses += 1
      await networks.execute(trx)
      return tokens.execute(trx)
    }),
  )
  await expect(used).rejects.toMatchObject({ code: '40P01' })
  expect(uses).toBe(1)
})
