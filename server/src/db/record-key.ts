import type { RecordKey } from '../lib/record-key.ts'
import type { Db, Trx } from './client.ts'

/** The keys, by the object that a pool and all of its transactions share. */
const keys = new WeakMap<object, RecordKey | null>()

/**
 * Gives a pool the key of the audit records that are written and read through it. Null means that this process does not have
 * the key: it reads records without a check of their MACs, and writes none.
 */
export function useRecordKey(db: Db, key: RecordKey | null): void {
  keys.set(db.getExecutor().adapter, key)
}

/** @throws when no key was set, so that an omission cannot let a reader accept a forged record */
export function recordKeyOf(db: Db | Trx): RecordKey | null {
  const key = keys.get(db.getExecutor().adapter)
  if (key === undefined) throw new Error('This connection was given no key of the audit records')
  return key
}

/** @throws when this process does not have the key */
export function requireRecordKey(db: Db | Trx): RecordKey {
  const key = recordKeyOf(db)
  if (key === null) throw new Error('STRONGROOM_SECRET_KEY is required: an audit record is authenticated with it')
  return key
}
