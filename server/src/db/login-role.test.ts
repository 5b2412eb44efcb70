import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../config/config.ts'
import { toServiceUrl } from '../embedded-postgres/start.ts'
import { judge } from '../jobs/watch/checks.ts'
import { readSamples } from '../jobs/watch/samples.ts'
import { type RunningServer, startServer } from '../start.ts'
import { createEmptyDatabase, createTestDatabase } from '../testing/database.ts'
import { copyEmptyCluster } from '../testing/empty-cluster.ts'
import { ensureLogin } from './login-role.ts'
import { migrate } from './migrate.ts'

const password = randomBytes(24).toString('hex')
let database: { url: string; drop(): Promise<void> }
let owner: pg.Client
let ownerName: string
const made: string[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  owner = await connect(database.url)
  ownerName = (await owner.query('select current_user as name')).rows[0].name
})
afterAll(async () => {
  for (const name of made) {
    await owner.query(`drop owned by ${name}`)
    await owner.query(`drop role ${name}`)
  }
  await owner.end()
  await database.drop()
})

/** Returns the login of a role with a new name, because roles belong to the cluster. */
function newLogin(ofDatabase = database.url): { name: string; url: string } {
  const name = `login_${randomBytes(6).toString('hex')}`
  made.push(name)
  return { name, url: urlOf(ofDatabase, name, password) }
}
function urlOf(base: string, user: string, secret: string): string {
  const url = new URL(base)
  Object.assign(url, { username: user, password: encodeURIComponent(secret) })
  return url.href
}
async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}
const codeOf = (client: pg.Client, statement: string) =>
  client.query(statement).then(
    () => 'done',
    (error: { code: string }) => error.code,
  )
const settings = (env: Record<string, string>, dataDir: string) =>
  readConfig({ DEMO: 'true', PORT: '0', LOG_LEVEL: 'silent', CONSOLE: 'off', DATA_DIR: dataDir, ...env })

/** Tries, with the credentials of the running service, the statements of an attacker. */
async function expectPowerless(service: pg.Client, ownerOfAll: string): Promise<void> {
  const { rows } = await service.query(`
    select count(*)::int as owned from pg_class c
    where c.relnamespace = 'public'::regnamespace and pg_has_role(session_user, c.relowner, 'member')`)
  expect(rows).toEqual([{ owned: 0 }])
  for (const before of [
    'reset role',
    'set role none',
    'set session authorization default',
    'set role strongroom_app',
  ]) {
    await service.query(before)
    for (const statement of [
      `set role "${ownerOfAll}"`,
      `set session authorization "${ownerOfAll}"`,
      `grant "${ownerOfAll}" to current_user`,
      'create role another login superuser',
      'alter table ledger_entries disable trigger all',
      'alter table audit_records disable trigger all',
      'drop trigger wallet_key_pinned on vaults',
      'drop table audit_seals',
      'alter table ledger_entries owner to current_user',
      'create table mine (n integer)',
      'create function mine() returns integer language sql as $$ select 1 $$',
      'set session_replication_role = replica',
      'update ledger_entries set amount = amount + 1',
      'delete from ledger_entries',
      'truncate ledger_entries',
      `update audit_records set content = ''`,
      'delete from audit_records',
      'update audit_seals set hash = hash',
      'delete from account_keys',
      'update schema_migrations set name = name',
      `update pg_authid set rolsuper = true`,
      `select * from pg_authid`,
      `copy ledger_entries to program 'true'`,
    ]) {
      expect([before, statement, await codeOf(service, statement)]).toEqual([before, statement, '42501'])
    }
  }
  // PostgreSQL only warns of a GRANT by a role that does not have the privilege.
  await service.query('grant delete on ledger_entries to strongroom_app')
  const { rows: rights } = await service.query(`select has_table_privilege('ledger_entries', 'delete') as may_delete`)
  expect(rights).toEqual([{ may_delete: false }])
}

describe('T8 the login of the running service', () => {
  let running: RunningServer
  let service: pg.Client
  let login: ReturnType<typeof newLogin>
  const dataDir = join(tmpdir(), `strongroom-login-${randomUUID()}`)
  beforeAll(async () => {
    login = newLogin()
    running = await startServer(settings({ DATABASE_URL: login.url, DATABASE_OWNER_URL: database.url }, dataDir))
    service = await connect(login.url)
  })
  afterAll(async () => {
    await service.end()
    await running.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  it('T8 is the one of its settings, and works as the role that may not rewrite the record', async () => {
    const { rows } = await sql`select session_user::text, current_user::text`.execute(running.deps.db)
    expect(rows).toEqual([{ session_user: login.name, current_user: 'strongroom_app' }])
    expect((await fetch(`${running.url}/readyz`)).status).toBe(200)
  })

  it('T8 owns nothing, cannot become the owner, and cannot touch triggers, entries or records', async () => {
    await expectPowerless(service, ownerName)
  })

  it('T8 is a check of the doctor, which warns when the role is the owner', async () => {
    const advice = async (deps: Parameters<typeof readSamples>[0]) =>
      judge(await readSamples(deps))
        .filter(({ check, red }) => check.severity === 'info' && red.length > 0)
        .map(({ check }) => check.alert)
    expect(await advice(running.deps)).toEqual([])
    const asOwner = await startServer(settings({ DATABASE_URL: database.url }, dataDir))
    expect(await advice(asOwner.deps)).toEqual(['StrongroomDatabaseLoginOwns'])
    await asOwner.stop()
  })

  it('starts a node without the owner if there is nothing to migrate, and otherwise names what is missing', async () => {
    const config = settings({ DATABASE_URL: login.url }, dataDir)
    await (await startServer(config)).stop()
    const last = `(select name from schema_migrations order by name desc limit 1)`
    const { rows } = await owner.query(`delete from schema_migrations where name = ${last} returning *`)
    await expect(startServer(config)).rejects.toThrow('run "strongroom migrate" with DATABASE_OWNER_URL')
    await owner.query('insert into schema_migrations (name, timestamp) values ($1, $2)', [
      rows[0].name,
      rows[0].timestamp,
    ])
  })
})

describe('the creation of the login', () => {
  it('happens once, by any of several nodes, with the password of the URL', async () => {
    const { name, url } = newLogin()
    const results = await Promise.all(Array.from({ length: 4 }, () => ensureLogin(database.url, url)))
    expect(results).toContain(true)
    expect(await ensureLogin(database.url, url)).toBe(false)
    await (await connect(url)).end()
    const other = urlOf(database.url, name, 'another password: 100 % ü')
    await expect(connect(other)).rejects.toThrow('password authentication failed')
    expect(await ensureLogin(database.url, other)).toBe(true)
    await (await connect(other)).end()
  })

  it('refuses a role that may do more, and creates no role when the service connects as the owner', async () => {
    const { name, url } = newLogin()
    await owner.query(`create role ${name} login createrole`)
    await expect(ensureLogin(database.url, url)).rejects.toThrow(`${name} may do more than a member of strongroom_app`)
    await owner.query(`alter role ${name} nocreaterole`)
    await owner.query(`grant pg_read_all_data to ${name}`)
    await expect(ensureLogin(database.url, url)).rejects.toThrow('may do more')
    expect(await ensureLogin(database.url, database.url)).toBe(false)
  })

  it('prints the statements for an administrator when the owner may not create roles', async () => {
    const [weak, wanted] = [newLogin(), newLogin()]
    await owner.query(`create role ${weak.name} login password '${password}'`)
    const failure = await ensureLogin(weak.url, wanted.url).catch((error: Error) => error.message)
    const statements = /An administrator of PostgreSQL runs: (.*)$/.exec(String(failure))?.[1]
    expect(statements).toMatch(
      /^create role "login_\w+" login password 'SCRAM-SHA-256\$.*'; grant strongroom_app to "login_\w+";$/,
    )
    expect(statements).not.toContain(password)
    await owner.query(statements!)
    expect(await ensureLogin(weak.url, wanted.url)).toBe(false)
    const service = await connect(wanted.url)
    await expectPowerless(service, ownerName)
    await service.end()
  })

  it('is printed with all other statements for an administrator when the owner of a new database may not create roles', async () => {
    const empty = await createEmptyDatabase()
    const [weak, wanted] = [newLogin(empty.url), newLogin(empty.url)]
    const name = decodeURIComponent(new URL(empty.url).pathname.slice(1))
    await owner.query(`create role ${weak.name} login password '${password}'`)
    await owner.query(`alter database ${name} owner to ${weak.name}`)
    const failure = await migrate(weak.url, wanted.url).catch((error: Error) => error.message)
    const statements = /An administrator of PostgreSQL runs: (.*;) then run "strongroom migrate" again$/.exec(
      String(failure),
    )?.[1]
    expect(statements?.split('; ')).toEqual([
      `grant strongroom_app to ${weak.name}`,
      expect.stringMatching(/^create role "login_\w+" login password 'SCRAM-SHA-256\$.*'$/),
      `grant strongroom_app to "${wanted.name}";`,
    ])
    await owner.query(statements!)
    await migrate(weak.url, wanted.url)
    const service = await connect(wanted.url)
    await expectPowerless(service, weak.name)
    await service.end()
    await empty.drop()
  })

  it('is demanded before a table is created, when strongroom_app exists already', async () => {
    const empty = await createEmptyDatabase()
    const weak = newLogin(empty.url)
    const name = decodeURIComponent(new URL(empty.url).pathname.slice(1))
    await owner.query(`create role ${weak.name} login password '${password}' in role strongroom_app`)
    await owner.query(`alter database ${name} owner to ${weak.name}`)
    await expect(migrate(weak.url, urlOf(empty.url, 'never_made', password))).rejects.toThrow(
      'grant strongroom_app to "never_made";',
    )
    const reader = await connect(empty.url)
    const { rows } = await reader.query(`select count(*)::int as tables from pg_tables where schemaname = 'public'`)
    expect(rows).toEqual([{ tables: 0 }])
    await reader.end()
    await empty.drop()
  })

  it('follows the first migration', async () => {
    const empty = await createEmptyDatabase()
    const { url } = newLogin(empty.url)
    await migrate(empty.url)
    expect(await ensureLogin(empty.url, url)).toBe(true)
    await empty.drop()
  })
})

it('T8 the embedded PostgreSQL has such a login by itself, and makes it again when its password was lost', async () => {
  const dataDir = join(tmpdir(), `strongroom-login-${randomUUID()}`)
  await mkdir(dataDir, { recursive: true })
  copyEmptyCluster(dataDir)
  const config = settings({ DATABASE_URL: '' }, dataDir)
  const file = join(dataDir, 'postgres-service-password')
  for (const _ of [1, 2]) {
    const running = await startServer(config)
    const { rows } = await sql<{ name: string; port: number }>`
      select session_user::text as name, inet_server_port() as port`.execute(running.deps.db)
    expect(rows[0]!.name).toBe('strongroom_service')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const service = await connect(toServiceUrl(dataDir, `postgresql://x:y@127.0.0.1:${rows[0]!.port}/strongroom`))
    await expectPowerless(service, 'strongroom')
    await service.end()
    await running.stop()
    await rm(file)
  }
  await rm(dataDir, { recursive: true, force: true })
})
