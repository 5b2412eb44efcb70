import type { Insertable } from 'kysely'
import { prepared, type Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { requireRecordKey } from '../../../db/record-key.ts'
import type { AuditRecords } from '../../../db/types.ts'
import { canonicalJson, isSameJson } from '../../../lib/canonical-json.ts'
import { newId } from '../../../lib/ids.ts'
import type { RecordKey } from '../../../lib/record-key.ts'
import { equalsSecret, sha256 } from '../../../lib/secrets.ts'

/** The seal chain of events that belong to no vault: sign-ins, the registry, users, the creation of vaults. */
export const platformChain = 'platform'

export type AuditEvent = {
  /** Null for an event of the platform. */
  vaultId: string | null
  /** Null for the service itself, or for a caller who is not signed in. */
  actorId: string | null
  /** The event, as noun.verb: `transfer.approved`, `policy.updated`. */
  action: string
  targetType: string
  targetId: string | null
  /** Strings, booleans, whole numbers, and arrays and objects of them. They never hold a secret. */
  details: Record<string, unknown>
  now: Date
}

/**
 * Writes an audit record in the transaction of the change, and returns its id. `action` is noun.verb, as in
 * `policy.updated`. A `vaultId` of null makes it an event of the platform. An `actorId` of null is the service itself,
 * or a caller who is not signed in. `details` never holds a secret.
 */
export function audit(
  trx: Trx,
  by: Pick<AuditEvent, 'vaultId' | 'actorId' | 'now'>,
  action: string,
  target: { type: string; id: string | null },
  details: AuditEvent['details'] = {},
): Promise<string> {
  return insertAuditRecord(trx, { ...by, action, targetType: target.type, targetId: target.id, details })
}

/** Writes an audit record. Returns its id. */
export async function insertAuditRecord(trx: Trx, event: AuditEvent): Promise<string> {
  const row = toAuditRow(trx, event)
  await trx.insertInto('audit_records').values(row).modifyEnd(prepared).execute()
  return row.id
}

/**
 * Records an event of the platform that concerns vaults, for the platform and for each of the vaults, in one statement.
 * The administrators of a vault read only its own audit log, so `details` must not mention another vault. Returns the
 * id of the audit record of the platform.
 */
export async function insertAuditRecords(
  trx: Trx,
  event: Omit<AuditEvent, 'vaultId'>,
  vaultIds: string[],
): Promise<string> {
  const ofPlatform = toAuditRow(trx, { ...event, vaultId: null })
  const ofVaults = vaultIds.map((vaultId) => toAuditRow(trx, { ...event, vaultId }))
  await insertRows(trx, { audit_records: [ofPlatform, ...ofVaults] })
  return ofPlatform.id
}

/**
 * Returns an audit record that `trx` must insert together with its change. It contains the hash of its content, and a MAC that
 * cannot be computed from the database alone. A sealing job adds committed records to the seal chain later, so that no two
 * writes wait for each other (contract 18.2).
 */
export function toAuditRow(trx: Trx, event: AuditEvent): Insertable<AuditRecords> {
  wake(trx, 'seal-audit')
  const id = newId(event.now)
  const chain = event.vaultId ?? platformChain
  const content = canonicalJson({
    id,
    chain,
    actorId: event.actorId,
    action: event.action,
    targetType: event.targetType,
    targetId: event.targetId,
    createdAt: event.now,
    details: event.details,
  })
  const hash = sha256(content)
  return {
    chain,
    id,
    actor_id: event.actorId,
    action: event.action,
    target_type: event.targetType,
    target_id: event.targetId,
    created_at: event.now,
    content,
    hash,
    mac: macOf(requireRecordKey(trx), { chain, id, hash }),
  }
}

type Fields = Record<string, unknown>

/**
 * Returns the details of an update for its audit record: the fields that differ, before and after. Returns null when no
 * field differs.
 */
export function changedFields(before: Fields, after: Fields): { before: Fields; after: Fields } | null {
  const names = Object.keys(after).filter((name) => !isSameJson(before[name], after[name]))
  if (names.length === 0) return null
  const pick = (fields: Fields) => Object.fromEntries(names.map((name) => [name, fields[name]]))
  return { before: pick(before), after: pick(after) }
}

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
 * Returns the fault of a record by itself, or null: a wrong hash, a column that differs from the content, or a MAC that
 * is not of the key. The key is null when this process does not have it.
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
  /** Null when the hash and the MAC hold, the columns agree with the content, and the seal of the record, if any, holds it. */
  fault: string | null
}

/** Reads a stored record. `sealed_hash` is the hash under which its seal holds it; null when the named seal does not hold it. */
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

/** Returns the id of the key and the HMAC: 40 bytes that only a process with STRONGROOM_SECRET_KEY can compute. */
export function macOf(key: RecordKey, { chain, id, hash }: MacSubject): Buffer {
  return Buffer.concat([key.id, key.mac(JSON.stringify(['audit record', chain, id, hash.toString('hex')]))])
}

/** Returns the fault of a MAC. Returns null for a valid MAC, and when this process cannot check it without the key. */
export function faultOfMac(key: RecordKey | null, record: MacSubject & { mac: Buffer | null }): string | null {
  if (key === null) return null
  return record.mac !== null && equalsSecret(record.mac, macOf(key, record)) ? null : 'the service did not write it'
}
