import type { Insertable } from 'kysely'
import { prepared, type Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { requireRecordKey } from '../../../db/record-key.ts'
import type { AuditRecords } from '../../../db/types.ts'
import { canonicalJson, isSameJson } from '../../../lib/canonical-json.ts'
import { newId } from '../../../lib/ids.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { macOf } from './content.ts'

/** The chain of events that belong to no vault: sign-ins, the registry, users, the creation of vaults. */
export const platformChain = 'platform'

export type AuditEvent = {
  /** null: an event of the platform. */
  vaultId: string | null
  /** null: the service itself, or someone not signed in. */
  actorId: string | null
  /** What happened, as noun.verb: `transfer.approved`, `policy.updated`. */
  action: string
  targetType: string
  targetId: string | null
  /** Strings, booleans, whole numbers, and arrays and objects of them; never a secret. */
  details: Record<string, unknown>
  now: Date
}

/**
 * Writes an audit record in the transaction of what it records, and returns its id. `action` is noun.verb, as in
 * `policy.updated`. A `vaultId` of null makes it an event of the platform; an `actorId` of null is the service itself, or
 * someone who is not signed in. `details` never holds a secret.
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
 * The administrators of a vault read its own audit log only, so `details` must not mention another vault. Returns the id
 * of the audit record of the platform.
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
 * An audit record to be inserted by `trx` together with the change that it records. It contains the hash of its content, and a
 * MAC that nobody who only has the database can compute; a sealing job chains committed records later, so that no two writes
 * wait for each other (contract 18.2).
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

/** The details of an update for its audit record: only the fields that differ, before and after. null: no field differs. */
export function changedFields(before: Fields, after: Fields): { before: Fields; after: Fields } | null {
  const names = Object.keys(after).filter((name) => !isSameJson(before[name], after[name]))
  if (names.length === 0) return null
  const pick = (fields: Fields) => Object.fromEntries(names.map((name) => [name, fields[name]]))
  return { before: pick(before), after: pick(after) }
}
