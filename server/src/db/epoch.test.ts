import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../testing/database.ts'
import { openDatabase } from './client.ts'
import { epochOption, holdEpoch, schemaEpoch } from './epoch.ts'
import { migrate } from './migrate.ts'

let database: { url: string; drop(): Promise<void> }
let owner: pg.Client
const log = { warn() {} }

beforeAll(async () => {
  database = await createTestDatabase()
  owner = await connect()
})
afterAll(async () => {
  await owner.end()
  await database.drop()
})

async function connect(options = '', applicationName = 'test'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url, options, application_name: applicationName })
  await client.connect()
  return client
}

/** Gives the database another epoch for the time of the work, as a migration of another version does. */
async function atEpoch(epoch: number, work: () => Promise<void>): Promise<void> {
  const set = (to: number) =>
    owner.query(`create or replace function schema_epoch() returns integer language sql stable as 'select ${to}'`)
  await set(epoch)
  try {
    await work()
  } finally {
    await set(schemaEpoch)
  }
}

it('the database is of the epoch of this version', async () => {
  expect((await owner.query('select schema_epoch() as epoch')).rows).toEqual([{ epoch: schemaEpoch }])
})

describe('a table that the service writes', () => {
  it('has the trigger that refuses older nodes', async () => {
    const { rows } = await owner.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
         and relname not like 'schema\\_migrations%' and not exists (select from pg_trigger
           where tgrelid = pg_class.oid and tgname = 'refuse_older_nodes' and tgenabled = 'O')`,
    )
    expect(rows).toEqual([])
  })

  it.each([
    'insert into users select * from users where false',
    'update users set name = name where false',
    'delete from sessions where false',
  ])('refuses "%s" of an earlier version, and accepts it from this version and the owner', async (statement) => {
    const older = await connect('-c role=strongroom_app')
    await expect(older.query(statement)).rejects.toMatchObject({ code: '25006' })
    await older.end()
    const present = await connect(`-c role=strongroom_app ${epochOption}`)
    await present.query(statement)
    await present.end()
    await owner.query(statement)
  })

  it('refuses writes of this version after a later version has migrated the database', async () => {
    const { db } = openDatabase({ url: database.url, onError: () => {} })
    const write = () => sql`delete from sessions where false`.execute(db)
    await write()
    await atEpoch(schemaEpoch + 1, async () => {
      await expect(write()).rejects.toMatchObject({ code: '25006' })
    })
    await write()
    await db.destroy()
  })
})

describe('a migration that raises the epoch', () => {
  it('names the nodes that still run, and changes nothing', async () => {
    const node = await connect('', 'strongroom')
    await atEpoch(schemaEpoch - 1, async () => {
      await expect(migrate(database.url)).rejects.toThrow(
        /^Nodes of an earlier version still run: .* \(1 connections\)/,
      )
    })
    await node.end()
  })

  it('waits until the nodes have ended, if it is told to', async () => {
    const node = await connect('', 'strongroom')
    const lines: string[] = []
    await atEpoch(schemaEpoch - 1, async () => {
      const migrated = migrate(database.url, database.url, { waits: true, say: (line) => lines.push(line) })
      await expect.poll(() => lines, { timeout: 60_000 }).toHaveLength(1)
      await node.end()
      await migrated
    })
    expect(lines).toEqual([
      expect.stringMatching(/^Nodes of an earlier version still run: .* Waiting until they have ended\.$/),
    ])
  })

  it('runs once, when several nodes of the new version start together', async () => {
    await atEpoch(schemaEpoch - 1, async () => {
      await Promise.all([migrate(database.url), migrate(database.url)])
    })
  })

  it('is not needed for a database of this epoch: nodes of this version run beside it', async () => {
    const node = await connect('', 'strongroom')
    await migrate(database.url)
    await node.end()
  })
})

describe('a node', () => {
  /** Other tests hold epochs of other databases of the same server. */
  const holders = `pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted
    and database = (select oid from pg_database where datname = current_database())`
  const holdersOf = async () =>
    (await owner.query<{ pid: number }>(`select pid from ${holders}`)).rows.map(({ pid }) => pid)
  const waiting = { timeout: 60_000 }
  const isWaiting = async () => {
    const { rowCount } = await owner.query(`select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`)
    return rowCount === 1
  }

  it('holds the epoch while it runs, and again after its connection was lost', async () => {
    const held = await holdEpoch(database.url, log)
    try {
      const [first, ...others] = await holdersOf()
      expect([typeof first, others]).toEqual(['number', []])
      await owner.query('select pg_terminate_backend($1)', [first])
      await expect.poll(async () => (await holdersOf()).filter((pid) => pid !== first), waiting).toHaveLength(1)
      await expect.poll(holdersOf, waiting).not.toContain(first)
    } finally {
      await held.release()
    }
    await expect.poll(holdersOf, waiting).toEqual([])
  })

  it('that ends while its connection is opened again holds nothing afterwards', async () => {
    const held = await holdEpoch(database.url, log)
    const [first] = await holdersOf()
    await owner.query('select pg_terminate_backend($1)', [first])
    await owner.query('select pg_advisory_lock(7365001)')
    await expect.poll(isWaiting, waiting).toBe(true)
    await held.release()
    await owner.query('select pg_advisory_unlock(7365001)')
    await expect.poll(isWaiting, waiting).toBe(false)
    await expect.poll(holdersOf, waiting).toEqual([])
  })

  it('of another epoch than the database does not start', async () => {
    await atEpoch(schemaEpoch + 1, async () => {
      await expect(holdEpoch(database.url, log)).rejects.toThrow(
        `has epoch ${schemaEpoch + 1}, and this version works with ${schemaEpoch}`,
      )
      await expect(migrate(database.url)).rejects.toThrow(`has epoch ${schemaEpoch + 1}`)
    })
  })

  it('waits for a running migration before it starts', async () => {
    await owner.query('select pg_advisory_lock(7365001)')
    let isHeld = false
    const holding = holdEpoch(database.url, log).then((held) => {
      isHeld = true
      return held
    })
    await sleep(300)
    expect(isHeld).toBe(false)
    await owner.query('select pg_advisory_unlock(7365001)')
    await (await holding).release()
  })
})

describe('a database that was restored without the privileges of the service', () => {
  it('gets them from migrate', async () => {
    await owner.query('revoke all on all tables in schema public from strongroom_app')
    await migrate(database.url)
    const service = await connect(`-c role=strongroom_app ${epochOption}`)
    await service.query('delete from sessions where false')
    await expect(service.query('delete from audit_records where false')).rejects.toMatchObject({ code: '42501' })
    await service.end()
  })
})
