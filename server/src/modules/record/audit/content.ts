import { canonicalJson } from '../../../lib/canonical-json.ts'
import type { RecordKey } from '../../../lib/record-key.ts'
import { equalsSecret, sha256 } from '../../../lib/secrets.ts'

type RecordColumns = {
  chain: string
  id: string
  actor_id: string | null
  action: string
  target_type: string
  target_id: string | null
  created_at: Date
  content: string
  hash: Buffer
  mac: Buffer | null
}

/**
 * The fault of a record by itself: a wrong hash, a column that differs from the content, or a MAC that is not of the key (null:
 * nobody here has it). null: there is none.
 */
export function faultOfRecord(record: RecordColumns, key: RecordKey | null): string | null {
  if (!sha256(record.content).equals(record.hash)) return 'its content does not have its hash'
  const content = parseContent(record.content)
  if (content === null) return 'its content is not in canonical form'
  const columns: Record<string, unknown> = {
    id: record.id,
    chain: record.chain,
    actorId: record.actor_id,
    action: record.action,
    targetType: record.target_type,
    targetId: record.target_id,
    createdAt: record.created_at.toISOString(),
  }
  const differing = Object.keys(columns).find((name) => content[name] !== columns[name])
  return differing === undefined ? faultOfMac(key, record) : `its column ${differing} differs from its content`
}

/** A stored record with its fault. */
export type TargetRecord = {
  id: string
  targetId: string
  actorId: string | null
  action: string
  details: Record<string, unknown>
  /** null: its hash and its MAC hold, its columns agree with its content, and its seal, if there is one, holds it. */
  fault: string | null
}

/** `sealed_hash` is the hash under which the seal that the record names holds it; null: that seal does not. */
export function readRecord(
  record: RecordColumns & { target_id: string; seal_sequence: string | null; sealed_hash: Buffer | null },
  key: RecordKey | null,
): TargetRecord {
  const isSealBroken = record.seal_sequence !== null && record.sealed_hash?.equals(record.hash) !== true
  return {
    id: record.id,
    targetId: record.target_id,
    actorId: record.actor_id,
    action: record.action,
    details: (parseContent(record.content)?.details ?? {}) as Record<string, unknown>,
    fault: faultOfRecord(record, key) ?? (isSealBroken ? `seal ${record.seal_sequence} does not hold it` : null),
  }
}

function parseContent(text: string): Record<string, unknown> | null {
  try {
    const content = JSON.parse(text) as Record<string, unknown>
    return canonicalJson(content) === text ? content : null
  } catch {
    return null
  }
}

/** The data that a MAC binds: the content by its hash, and the place of the record. */
export type MacSubject = { chain: string; id: string; hash: Buffer }

/** The id of the key and the HMAC: 40 bytes, which only a process with STRONGROOM_SECRET_KEY can compute. */
export function macOf(key: RecordKey, { chain, id, hash }: MacSubject): Buffer {
  return Buffer.concat([key.id, key.mac(JSON.stringify(['audit record', chain, id, hash.toString('hex')]))])
}

/** null: the MAC is good, or this process cannot tell because it does not have the key. */
export function faultOfMac(key: RecordKey | null, record: MacSubject & { mac: Buffer | null }): string | null {
  if (key === null) return null
  return record.mac !== null && equalsSecret(record.mac, macOf(key, record)) ? null : 'the service did not write it'
}
