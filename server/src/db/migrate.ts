import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, type Migration, type MigrationProvider, Migrator, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { databaseConnectMilliseconds } from '../lib/limits.ts'
import { DatabaseClient } from './database-client.ts'
import { migrateAlone } from './epoch.ts'
import { ensureLoginBy, isLoginOfItsOwn, statementsForLogin } from './login-role.ts'
import { findPrivilegeFaults, grantPrivileges } from './privileges.ts'

const folder = new URL('./migrations/', import.meta.url)

/**
 * Migrates the database to this version: the numbered SQL files, and the role of the service. Several processes may call it at
 * once, and it does nothing when nothing is new.
 *
 * @param databaseUrl the URL of a role that owns the database (and may create a role the first time); another role suffices
 *   when there is nothing to do
 * @param serviceUrl the URL by which the running service connects; its role is created if it differs from the owner
 * @param options `waits` to wait for nodes that a migration cannot run beside; `say` prints a line about them, and about tables in use
 * @returns true if that role was created or changed
 * @throws Error with the nodes of an earlier version that still run, if it does not wait
 */
export async function migrate(
  databaseUrl: string,
  serviceUrl: string = databaseUrl,
  { waits = false, say = () => {} }: { waits?: boolean; say?: (line: string) => void } = {},
): Promise<boolean> {
  const pool = new pg.Pool({
    Client: DatabaseClient as never,
    connectionString: databaseUrl,
    max: 2,
    connectionTimeoutMillis: databaseConnectMilliseconds,
  })
  pool.on('error', () => {})
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    await createRole(db).catch(async (error) => {
      throw await inStatements(error, pool, { databaseUrl, serviceUrl })
    })
    await migrateAlone(databaseUrl, { waits, say }, () => migrateToLatest(db, say))
    return isLoginOfItsOwn(databaseUrl, serviceUrl) && (await ensureLoginBy(pool, serviceUrl)) === true
  } finally {
    await db.destroy()
  }
}

/** Limits the wait for a lock of a table, because all other statements on the table wait behind a migration that waits. */
const lockTimeout = `set local lock_timeout = '2s'`
const lockNotAvailable = '55P03'
const lockAttemptsMax = 30
const lockPauseMilliseconds = 2_000

/** Migrates, and gives the role of the service its privileges when they are not those of this version. */
async function migrateToLatest(db: Kysely<unknown>, say: (line: string) => void): Promise<void> {
  const applied = await whileLocked(say, async () => {
    const { error, results } = await createMigrator(db).migrateToLatest()
    if (error !== undefined) throw inWords(error)
    return (results ?? []).length
  })
  if (applied === 0 && (await findPrivilegeFaults(db)).length === 0) return
  const refusal = await whileLocked(say, () => grantPrivileges(db, lockTimeout)).catch((error: unknown) => error)
  if (refusal !== undefined && (refusal as { code?: string }).code !== '42501') throw refusal
  const faults = await findPrivilegeFaults(db)
  if (faults.length === 0) return
  const message =
    `The privileges of strongroom_app are not those of this version: ${faults.join(', ')}; run "strongroom migrate" ` +
    'with the owner of the database, and take back what others have granted'
  throw new Error(message, { cause: refusal })
}

/** Repeats work that waited in vain for the lock of a table. */
async function whileLocked<Result>(say: (line: string) => void, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable || attempt >= lockAttemptsMax) throw error
      if (attempt === 1) say('A table is in use by a long transaction; trying again for about two minutes.')
      await sleep(lockPauseMilliseconds)
    }
  }
}

function inWords(error: unknown): unknown {
  if ((error as { code?: string }).code !== '42501') return error
  const message =
    'The database is of an earlier version, and the role of DATABASE_URL does not own it; run "strongroom migrate" with ' +
    'DATABASE_OWNER_URL'
  return new Error(message, { cause: error })
}

/** An owner who may not make roles is told all at once what an administrator must run, before anything is changed. */
async function inStatements(
  error: unknown,
  pool: pg.Pool,
  { databaseUrl, serviceUrl }: { databaseUrl: string; serviceUrl: string },
): Promise<unknown> {
  if ((error as { code?: string }).code !== '42501') return error
  const { rows } = await pool.query<{ owner: string; exists: boolean }>(
    `select quote_ident(current_user) as owner, exists (select from pg_roles where rolname = 'strongroom_app') as exists`,
  )
  const { owner, exists } = rows[0]!
  const statements = [
    ...(exists ? [] : ['create role strongroom_app nologin']),
    `grant strongroom_app to ${owner}`,
    ...(isLoginOfItsOwn(databaseUrl, serviceUrl) ? await statementsForLogin(pool, serviceUrl) : []),
  ]
  const message =
    `The owner of the database may not make roles. An administrator of PostgreSQL runs: ${statements.join('; ')}; then run ` +
    '"strongroom migrate" again'
  return new Error(message, { cause: error })
}

/** Applies the numbered SQL files alone; a test stops it at an earlier version. */
export function createMigrator(db: Kysely<unknown>): Migrator {
  return new Migrator({
    db,
    provider: sqlFiles,
    migrationTableName: 'schema_migrations',
    migrationLockTableName: 'schema_migrations_lock',
  })
}

const sqlFiles: MigrationProvider = {
  async getMigrations() {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
    const migrations: Record<string, Migration> = {}
    for (const name of names) {
      migrations[name.replace(/\.sql$/, '')] = {
        async up(db) {
          await sql.raw(lockTimeout).execute(db)
          await sql.raw(await readFile(new URL(name, folder), 'utf8')).execute(db)
        },
      }
    }
    return migrations
  },
}

/** Creates the role. Roles belong to the cluster, not to the database, so that another migration may create it at the same moment. */
async function createRole(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ member: boolean }>`
    select pg_has_role(current_user, oid, 'member') as member from pg_roles where rolname = 'strongroom_app'`.execute(
    db,
  )
  if (rows[0]?.member === true) return
  await sql`
    do $$ begin
      create role strongroom_app nologin;
    exception when duplicate_object or unique_violation then null; end $$`.execute(db)
  await sql`
    do $$ begin
      execute format('grant strongroom_app to %I', current_user);
    exception when unique_violation then null; end $$`.execute(db)
}
