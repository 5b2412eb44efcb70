import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, type Migration, type MigrationProvider, Migrator, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { databaseConnectMilliseconds } from '../lib/limits.ts'
import { DatabaseClient } from './database-client.ts'
import { migrateAlone } from './epoch.ts'
import { ensureLoginBy, isLoginOfItsOwn, statementsForLogin } from './login-role.ts'
import { findPrivilegeFaults, grantOnNewTables, grantPrivileges } from './privileges.ts'

const folder = new URL('./migrations/', import.meta.url)

/**
 * Migrates the database to this version: the numbered SQL files, and the role of the service. Several processes may call it at
 * once, and it does nothing when nothing is new.
 *
 * @param databaseUrl the URL of a role that owns the database (and may create a role the first time); another role suffices
 *   when there is nothing to do
 * @param serviceUrl the URL by which the running service connects; its role is created if it differs from the owner
 * @param options `waits`: wait for nodes that cannot run during the migration; `say`: prints a line about them and about tables in use
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
      throw await explainMissingRole(error, pool, { databaseUrl, serviceUrl })
    })
    // The login comes before the tables, so that an owner who may not create it gets the error before anything is changed.
    const isLoginNew = isLoginOfItsOwn(databaseUrl, serviceUrl) && (await ensureLoginBy(pool, serviceUrl)) === true
    await migrateAlone(databaseUrl, { waits, say }, () => migrateToLatest(db, say))
    return isLoginNew
  } finally {
    await db.destroy()
  }
}

/**
 * Limits the wait for a lock of a table, because all other statements on the table wait behind a migration that waits. It is shorter
 * than `deadlock_timeout` of PostgreSQL (a second), so that in a deadlock the migration gives way, and not a request.
 */
const lockTimeout = `set local lock_timeout = '300ms'`
/** The lock was not free in time, or the migration was the victim of a deadlock. */
const lockFailures = ['55P03', '40P01']
const lockAttemptsMax = 120
const lockPauseMilliseconds = 700

/** Applies the migrations, and grants the privileges of this version to the role of the service if they differ. */
async function migrateToLatest(db: Kysely<unknown>, say: (line: string) => void): Promise<void> {
  const later = await listLaterMigrations(db)
  if (later.length > 0)
    return say(`The schema is of a later version, which has added ${later.join(', ')}; nothing is changed.`)
  const applied = await applyMigrations(db, say)
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

/**
 * Returns the applied migrations that this version does not know, if all that it knows are applied. A node of the previous version
 * starts beside the schema of a later version, and must not take away its privileges. Returns nothing for a database without a schema.
 */
async function listLaterMigrations(db: Kysely<unknown>): Promise<string[]> {
  if (!(await hasSchema(db))) return []
  const known = Object.keys(await sqlFiles.getMigrations())
  const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(db)
  const applied = rows.map(({ name }) => name)
  const later = applied.filter((name) => !known.includes(name))
  return known.every((name) => applied.includes(name)) ? later : []
}

async function hasSchema(db: Kysely<unknown>): Promise<boolean> {
  const { rows } = await sql<{ is_there: boolean }>`
    select to_regclass('public.schema_migrations') is not null as is_there`.execute(db)
  return rows[0]!.is_there
}

/**
 * Applies the migrations that are not applied yet, and returns their number. A database in use is migrated in one transaction for each
 * migration, so that requests wait for the locks of one migration at most.
 */
async function applyMigrations(db: Kysely<unknown>, say: (line: string) => void): Promise<number> {
  const migrator = createMigrator(db)
  const isInUse = await hasSchema(db)
  for (let applied = 0; ; ) {
    const now = await whileLocked(say, async () => {
      const { error, results } = await (isInUse ? migrator.migrateUp() : migrator.migrateToLatest())
      if (error !== undefined) throw explainRefusal(error)
      return (results ?? []).length
    })
    applied += now
    if (now === 0 || !isInUse) return applied
  }
}

/** Repeats work that waited in vain for the lock of a table. */
async function whileLocked<Result>(say: (line: string) => void, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!lockFailures.includes((error as { code?: string }).code ?? '') || attempt >= lockAttemptsMax) throw error
      if (attempt === 1) say('A table is in use by a long transaction; trying again for about two minutes.')
      await sleep(lockPauseMilliseconds)
    }
  }
}

function explainRefusal(error: unknown): unknown {
  if ((error as { code?: string }).code !== '42501') return error
  const message =
    'The database is of an earlier version, and the role of DATABASE_URL does not own it; run "strongroom migrate" with ' +
    'DATABASE_OWNER_URL'
  return new Error(message, { cause: error })
}

/** Returns the error for an owner who may not create roles. It lists all statements that an administrator must run. */
async function explainMissingRole(
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

/** Creates the migrator that applies the numbered SQL files. Tests stop it at an earlier version. */
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
          await grantOnNewTables(db)
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
