import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../testing/database.ts'
import { migrate } from './migrate.ts'

let database: { url: string; drop(): Promise<void> }
let owner: pg.Client

const connect = async (url = database.url) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

beforeAll(async () => {
  database = await createTestDatabase()
  owner = await connect()
})
afterAll(async () => {
  await owner.end()
  await database.drop()
})

describe('a migration of a database that is up to date', () => {
  const wrong: [statement: string, question: string, right: boolean][] = [
    ['revoke insert on users from strongroom_app', `has_table_privilege('strongroom_app', 'users', 'insert')`, true],
    [
      'grant delete on audit_records to strongroom_app',
      `has_table_privilege('strongroom_app', 'audit_records', 'delete')`,
      false,
    ],
    [
      'grant update (amount) on ledger_entries to strongroom_app',
      `has_column_privilege('strongroom_app', 'ledger_entries', 'amount', 'update')`,
      false,
    ],
    [
      'revoke update (mac) on audit_records from strongroom_app',
      `has_column_privilege('strongroom_app', 'audit_records', 'mac', 'update')`,
      true,
    ],
    ['grant truncate on users to strongroom_app', `has_table_privilege('strongroom_app', 'users', 'truncate')`, false],
    ['grant trigger on users to strongroom_app', `has_table_privilege('strongroom_app', 'users', 'trigger')`, false],
    ['grant create on schema public to public', `has_schema_privilege('strongroom_app', 'public', 'create')`, false],
    [
      'drop trigger refuse_older_nodes on users',
      `exists (select from pg_trigger where tgrelid = 'users'::regclass and tgname = 'refuse_older_nodes')`,
      true,
    ],
    [
      'revoke usage on schema public from strongroom_app, public',
      `has_schema_privilege('strongroom_app', 'public', 'usage')`,
      true,
    ],
  ]

  it.each(wrong)('T8 undoes %s', async (statement, question, right) => {
    const read = async () => (await owner.query(`select ${question} as answer`)).rows[0].answer
    await owner.query(statement)
    expect(await read()).toBe(!right)
    await migrate(database.url)
    expect(await read()).toBe(right)
  })

  it('T8 refuses a state that it cannot undo: a privilege of PUBLIC', async () => {
    await owner.query('grant delete on audit_records to public')
    await expect(migrate(database.url)).rejects.toThrow('delete on audit_records is too much; run "strongroom migrate"')
    await owner.query('revoke delete on audit_records from public')
    await migrate(database.url)
  })

  it('can run on several nodes at the same time', async () => {
    await owner.query('revoke insert on users from strongroom_app')
    await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)])
  })
})

it('a migration that waits for a table lets others work on it, and goes on when the table is free', async () => {
  const [holder, other] = [await connect(), await connect()]
  await owner.query('drop trigger refuse_older_nodes on users')
  await holder.query('begin; lock table users in row exclusive mode')
  const lines: string[] = []
  const migrated = migrate(database.url, database.url, { say: (line) => lines.push(line) })
  const isWaiting = async () =>
    (await owner.query(`select from pg_locks where relation = 'users'::regclass and not granted`)).rowCount
  await expect.poll(isWaiting).toBe(1)
  await other.query(`set statement_timeout = '10s'`)
  await other.query('update users set name = name where false')
  await expect.poll(() => lines, { timeout: 10_000 }).toEqual([expect.stringMatching(/^A table is in use/)])
  await holder.query('commit')
  await migrated
  for (const client of [holder, other]) await client.end()
})

it('a migration gives way in a deadlock with a request', async () => {
  const request = await connect()
  await owner.query('drop trigger refuse_older_nodes on networks; drop trigger refuse_older_nodes on tokens')
  await request.query('begin; lock table tokens in row exclusive mode')
  const migrated = migrate(database.url)
  const isWaiting = async () =>
    (await owner.query(`select from pg_locks where relation = 'tokens'::regclass and not granted`)).rowCount
  await expect.poll(isWaiting, { interval: 5 }).toBe(1)
  await request.query('lock table networks in row exclusive mode')
  await request.query('commit')
  await migrated
  await request.end()
})

describe('a database that a later version has migrated', () => {
  it('is left as it is by a node of this version, which starts beside it', async () => {
    await owner.query(
      `insert into schema_migrations (name, timestamp) values ('9999-of-a-later-version', '2100-01-01')`,
    )
    await owner.query('create table later_things (id text primary key)')
    await owner.query('revoke insert on users from strongroom_app')
    const lines: string[] = []
    await migrate(database.url, database.url, { say: (line) => lines.push(line) })
    expect(lines).toEqual([
      'The schema is of a later version, which has added 9999-of-a-later-version; nothing is changed.',
    ])
    const { rows } = await owner.query(`select has_table_privilege('strongroom_app', 'users', 'insert') as inserts,
      has_table_privilege('strongroom_app', 'later_things', 'select') as selects`)
    expect(rows).toEqual([{ inserts: false, selects: false }])
  })
})
