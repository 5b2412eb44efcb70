import { sql } from 'kysely'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/newest-first.ts'
import { onViolation } from '../../../db/transaction.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { badRequest, conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { serviceKeysMax } from '../../../lib/limits.ts'
import { fingerprintOf, readKey } from '../../../lib/signed-vote.ts'
import { announceVaultChange, quote } from '../../record/notifications/announce.ts'
import type { AddServiceKey } from './schema.ts'

const columns = ['id', 'name', 'public_key', 'created_by_id', 'created_at', 'revoked_at'] as const

export type ServiceKeyRow = Awaited<ReturnType<typeof listServiceKeys>>[number]

/** Returns the user, name and time of revocation of a service token of the vault. @throws 404 */
export async function findService(db: Db | Trx, vaultId: string, tokenId: string) {
  const service = await db
    .selectFrom('service_tokens')
    .select(['user_id', 'name', 'revoked_at'])
    .where('vault_id', '=', vaultId)
    .where('id', '=', tokenId)
    .executeTakeFirst()
  if (service === undefined) throw notFound('Service token')
  return service
}

/** As `findService`. The keys of the service are added one after the other, so that they can be counted. @throws 404 */
async function lockService(trx: Trx, vaultId: string, tokenId: string) {
  await sql`select from service_tokens where vault_id = ${vaultId} and id = ${tokenId} for no key update`.execute(trx)
  return await findService(trx, vaultId, tokenId)
}

/** Returns the keys of a service, newest first; one row more than `limit`. */
export function listServiceKeys(db: Db | Trx, { vaultId, userId }: { vaultId: string; userId: string }, page: Paging) {
  const keys = db.selectFrom('service_keys').select(columns)
  return newestFirst(keys.where('vault_id', '=', vaultId).where('user_id', '=', userId), page).execute()
}

/**
 * Registers a key with which a service signs. An administrator registers it, not the service, so that the thief of a service token
 * cannot add a key.
 * @throws 400 for a value that is not an Ed25519 key; 404; 409 for a revoked service, a known key, or too many keys
 */
export async function addServiceKey(
  trx: Trx,
  tokenId: string,
  { name, publicKey }: AddServiceKey,
  by: ByMember,
): Promise<ServiceKeyRow> {
  const { member, now } = by
  const vaultId = member.vault.id
  const service = await lockService(trx, vaultId, tokenId)
  if (service.revoked_at !== null) throw conflict('wrong_state', 'The service token is revoked')
  const spki = readEd25519(publicKey)
  const keys = trx.selectFrom('service_keys').select('id').where('vault_id', '=', vaultId)
  const valid = keys.where('user_id', '=', service.user_id).where('revoked_at', 'is', null).limit(serviceKeysMax)
  if ((await valid.execute()).length === serviceKeysMax)
    throw conflict('limit_reached', `A service has at most ${serviceKeysMax} keys`)
  const row = await trx
    .insertInto('service_keys')
    .values({
      vault_id: vaultId,
      id: newId(now),
      user_id: service.user_id,
      name,
      public_key: spki,
      created_by_id: member.userId,
      created_at: now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(
      onViolation('service_keys_vault_id_public_key_key', () =>
        conflict('already_exists', 'This key is, or was, registered in the vault'),
      ),
    )
  await announceKey(trx, { verb: 'added', key: row, service: service.name }, by)
  return row
}

/** Revokes a key of a service. For a revoked key it changes nothing. @throws 404 when the service does not have the key */
export async function revokeServiceKey(trx: Trx, tokenId: string, keyId: string, by: ByMember): Promise<void> {
  const vaultId = by.member.vault.id
  const service = await findService(trx, vaultId, tokenId)
  const key = await trx
    .selectFrom('service_keys')
    .select(columns)
    .where('vault_id', '=', vaultId)
    .where('id', '=', keyId)
    .where('user_id', '=', service.user_id)
    .forUpdate()
    .executeTakeFirst()
  if (key === undefined) throw notFound('Service key')
  if (key.revoked_at !== null) return
  await trx
    .updateTable('service_keys')
    .set({ revoked_at: by.now })
    .where('vault_id', '=', vaultId)
    .where('id', '=', keyId)
    .execute()
  await announceKey(trx, { verb: 'revoked', key, service: service.name }, by)
}

function readEd25519(publicKey: string): Buffer {
  const spki = Buffer.from(publicKey, 'base64url')
  try {
    const key = readKey(spki)
    // Every key is stored in one form, so that its fingerprint is unique.
    const exported = key.export({ type: 'spki', format: 'der' })
    if (key.asymmetricKeyType === 'ed25519' && exported.equals(spki)) return spki
  } catch {
    // A value that cannot be read is not an Ed25519 key.
  }
  throw badRequest('publicKey', 'must be an Ed25519 key as SPKI in DER')
}

type KeyEvent = { verb: 'added' | 'revoked'; key: { id: string; name: string; public_key: Buffer }; service: string }

async function announceKey(trx: Trx, { verb, key, service }: KeyEvent, by: ByMember): Promise<void> {
  const details = { name: key.name, service, fingerprint: fingerprintOf(key.public_key) }
  await announceVaultChange(trx, {
    ...byMember(by),
    action: `service_key.${verb}`,
    targetType: 'service_key',
    targetId: key.id,
    details,
    words: {
      sentence: `The key ${quote(key.name)} of the service ${quote(service)} was ${verb}`,
      after: { fingerprint: details.fingerprint },
    },
  })
}
