import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase } from '../testing/database.ts'
import { openDatabase } from './client.ts'
import { type Part, runParts } from './insert-rows.ts'
import { inTransaction } from './transaction.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let opened: ReturnType<typeof openDatabase>

beforeAll(async () => {
  database = await createTestDatabase()
  opened = openDatabase({ url: database.url, onError: () => {} })
})
afterAll(async () => {
  await opened.db.destroy()
  await database.drop()
})

/** Runs an insert and an update. The update changes the two open rows, and states that it changes `rows` rows. */
const changing = (rows: number) =>
  inTransaction(opened.db, async (trx) => {
    await sql`create temp table places (state text) on commit drop`.execute(trx)
    await sql`insert into places values ('open'), ('open'), ('closed')`.execute(trx)
    const closes: Part = {
      update: sql`update places set state = 'closed' where state = 'open' returning 1`,
      rows,
      otherwise: () => new Error('Somebody else closed a place.'),
    }
    await runParts(trx, [sql`insert into places values ('new')`, closes])
    const { rows: found } = await sql<{ state: string }>`select state from places order by state`.execute(trx)
    return found.map(({ state }) => state)
  })

it('runs parts as one statement when each update changes as many rows as it says', async () => {
  expect(await changing(2)).toEqual(['closed', 'closed', 'closed', 'new'])
})

it('throws the error of an update that changes fewer or more rows than it says', async () => {
  await expect(changing(3)).rejects.toThrow('Somebody else closed a place.')
  await expect(changing(1)).rejects.toThrow('Somebody else closed a place.')
})
