import { Kysely, PostgresDialect } from 'kysely'
import type { Db } from '../db/client.ts'
import { recordKeyOf, useRecordKey } from '../db/record-key.ts'
import type { DB } from '../db/types.ts'
import type { TransferBench } from './transfer-bench.ts'

/**
 * Returns a database that is one open transaction, which the verifier's own begin and commit must not end. It has the key of
 * the audit records of `node`; without `node` it has no key.
 */
export function databaseOf(query: TransferBench['sql'], node?: Db): Db {
  const client = {
    async query(text: string, values: unknown[]) {
      const isControl = /^(start transaction|begin|commit|rollback$)/i.test(text)
      const rows = isControl ? [] : await query(text, values)
      return { command: 'SELECT', rowCount: rows.length, rows }
    },
    release() {},
  }
  const pool = { connect: async () => client, end: async () => {} }
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool: pool as never }) })
  useRecordKey(db, node === undefined ? null : recordKeyOf(node))
  return db
}
