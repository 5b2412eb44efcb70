import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'
import { inTransaction } from './in-transaction.ts'

/**
 * Brings the schema `wallet` up to date and returns the names of the files that were applied now.
 * Everything happens in one transaction under one advisory lock, so several processes may start together.
 */
export async function migrate(pool: pg.Pool): Promise<string[]> {
  const files = await readMigrations()
  return await inTransaction(pool, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [migrationLockKey])
    await tx.query('create schema if not exists wallet')
    await tx.query(`create table if not exists wallet.migrations (
      name text primary key, checksum text not null, applied_at timestamptz(3) not null default now())`)
    const { rows } = await tx.query<{ name: string; checksum: string }>('select name, checksum from wallet.migrations')
    const applied = new Map(rows.map((row) => [row.name, row.checksum]))
    const added: string[] = []
    for (const { name, checksum, sql } of files) {
      const known = applied.get(name)
      if (known === checksum) continue
      if (known !== undefined) throw new Error(`migration ${name} was changed after it had been applied`)
      await tx.query(sql)
      await tx.query('insert into wallet.migrations (name, checksum) values ($1, $2)', [name, checksum])
      added.push(name)
    }
    return added
  })
}

/** The letters "wallet". Any number that nothing else in the database uses is suitable. */
const migrationLockKey = 0x77616c6c6574

/** The SQL files lie beside the sources; the build copies them beside the compiled files. */
const migrationsFolder = new URL('../migrations/', import.meta.url)

async function readMigrations() {
  const names = (await readdir(migrationsFolder)).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name)).sort()
  if (names.length === 0) throw new Error('the migration files are missing; build the workspace again')
  return await Promise.all(
    names.map(async (name) => {
      const sql = (await readFile(new URL(name, migrationsFolder), 'utf8')).replaceAll('\r\n', '\n')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}
