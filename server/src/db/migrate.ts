import { readdir, readFile } from 'node:fs/promises'
import { Kysely, type Migration, type MigrationProvider, Migrator, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { databaseConnectMilliseconds } from '../lib/limits.ts'
import { ensureLoginBy, isLoginOfItsOwn } from './login-role.ts'

const folder = new URL('./migrations/', import.meta.url)

/**
 * Brings the database up to this version: the numbered SQL files, and the role the service works as.
 * Safe to run by several processes at once, and a no-op when nothing is new.
 *
 * @param databaseUrl of a role that owns the database (and may create a role the first time); of another one when there is
 *   nothing to do
 * @param serviceUrl how the running service connects; its role is made, if it is not the owner
 * @returns whether that role was made or changed
 */
export async function migrate(databaseUrl: string, serviceUrl: string = databaseUrl): Promise<boolean> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 2,
    connectionTimeoutMillis: databaseConnectMilliseconds,
  })
  pool.on('error', () => {})
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    await createRole(db)
    const { error, results } = await createMigrator(db).migrateToLatest()
    if (error !== undefined) throw inWords(error)
    if ((results ?? []).length > 0) {
      await sql.raw(await readFile(new URL('./roles.sql', import.meta.url), 'utf8')).execute(db)
    }
    return isLoginOfItsOwn(databaseUrl, serviceUrl) && (await ensureLoginBy(pool, serviceUrl)) === true
  } finally {
    await db.destroy()
  }
}

function inWords(error: unknown): unknown {
  if ((error as { code?: string }).code !== '42501') return error
  const message =
    'The database is of an earlier version, and the role of DATABASE_URL does not own it; run "strongroom migrate" with ' +
    'DATABASE_OWNER_URL'
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
          await sql.raw(await readFile(new URL(name, folder), 'utf8')).execute(db)
        },
      }
    }
    return migrations
  },
}

/** Roles belong to the cluster, not to the database: another migration may create it at the same moment. */
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
