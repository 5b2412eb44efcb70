import type { RecordKey } from '../lib/record-key.ts'
import type { Db, Trx } from './client.ts'

/** The keys by what a pool and all of its transactions share. */
const keys = new WeakMap<object, RecordKey | null>()

/**
 * Gives a pool the key of the audit records that are written and read through it. null: this process does not have it, reads
 * records without checking their MACs, and writes none.
 */
export function useRecordKey(db: Db, key: RecordKey | null): void {
  keys.set(db.getExecutor().adapter, key)
}

/** @throws when nobody said which key it is, so that no reader takes a forged record for a good one by omission */
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
