import type { Caller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { conflict, forbidden, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { firstPasskeyMinutes, passkeysPerPersonMax } from '../../../lib/limits.ts'
import { enqueueMail } from '../../../mail/queue.ts'
import { insertAuditRecords } from '../../record/audit/record.ts'
import { listVaultIdsOf } from '../../rules/policy-groups/memberships.ts'
import type { NewKey } from './new-key.ts'
import { type Purpose, verifyAssertion, verifyNewKey } from './passkey-answer.ts'
import { findSecondPersons, listCredentials } from './queries.ts'
import type { AddPasskey, Assertion } from './schema.ts'
import { fingerprintOfKey } from './verify-passkeys.ts'

type Checks = Pick<Deps, 'sealer' | 'publicOrigin'>

/** The queued mail about a passkey that was added or removed, or that waits for a second person. */
export type PasskeyNotice = {
  kind: 'passkey'
  mailId: string
  email: string
  change: Change['change']
  name: string
  operator: string | null
  changedAt: string
}

/**
 * Adds a passkey. A person who already has a passkey confirms with it, so that the thief of a session cannot add a passkey. A
 * session alone cannot add the first passkey of a member of a protected vault: then `waitsIn` is the vault where a second person
 * must accept the key, which cannot be used before.
 * @throws 403 without that passkey confirmation; 409 for an answer of another person, origin or time, and when there is no
 *   second person to accept the key
 */
export async function addPasskey(
  trx: Trx,
  deps: Checks,
  { caller, body, now }: { caller: Caller; body: AddPasskey; now: Date },
): Promise<{ key: NewKey; waitsIn: string | null }> {
  const purpose: Purpose = { for: 'add', userId: caller.userId }
  const { email, mayAddUntil } = await lockPerson(trx, caller.userId)
  const present = await listCredentials(trx, caller.userId)
  if (present.length >= passkeysPerPersonMax) {
    throw conflict('limit_reached', `A person has at most ${passkeysPerPersonMax} passkeys`)
  }
  if (present.length > 0) await assertSigned(trx, deps, { assertion: body.confirmation, purpose }, now)
  // The nonces of both answers have one purpose. The signed data names the type of the answer.
  const key = await verifyNewKey(trx, deps, { attestation: body.credential, purpose }, now)
  if (key === null) {
    throw conflict(
      'passkey_not_accepted',
      'The answer of the authenticator is not valid here and now; ask for new options',
    )
  }
  const { transports } = body.credential
  const row: NewKey = { id: newId(now), name: body.name, ...key, transports, created_at: now, last_used_at: null }
  const isPermitted = present.length > 0 || (mayAddUntil !== null && mayAddUntil > now)
  const waitsIn = isPermitted ? null : await findSecondPersons(trx, caller.userId)
  if (waitsIn === null) await keepPasskey(trx, { userId: caller.userId, email, key: row, now })
  else {
    if (waitsIn.vaultId === null) {
      const why = 'No other administrator of your protected vaults has a passkey with which they could accept yours'
      throw conflict('quorum_unreachable', why)
    }
    await enqueueNotice(trx, { email, change: 'waits', name: row.name, now })
  }
  return { key: row, waitsIn: waitsIn?.vaultId ?? null }
}

type Kept = { userId: string; email: string | null; key: NewKey; now: Date }

/** Stores a key as a passkey of the person. @throws 409 if the key was added before */
export async function keepPasskey(trx: Trx, { userId, email, key, now }: Kept): Promise<void> {
  await trx
    .insertInto('passkeys')
    .values({ ...key, user_id: userId })
    .execute()
    .catch(
      onViolation('passkeys_credential_id_key', () => conflict('already_exists', 'This passkey was already added')),
    )
  await trx.updateTable('users').set({ first_passkey_until: null }).where('id', '=', userId).execute()
  const keyHash = fingerprintOfKey(key)
  await announce(trx, { userId, email, actorId: userId, change: 'added', key, keyHash, now })
}

type ByOperator = { userId: string; reason: string; operator: string; now: Date }

/** Lets a person add their first passkey without a second person for an hour, as ordered by an operator of the service. */
export async function allowPasskeyOf(trx: Trx, { userId, reason, operator, now }: ByOperator): Promise<void> {
  const { email } = await lockPerson(trx, userId)
  const until = new Date(now.getTime() + firstPasskeyMinutes * 60_000)
  await trx.updateTable('users').set({ first_passkey_until: until }).where('id', '=', userId).execute()
  const details = { userId, reason, operator }
  const event = { actorId: null, action: 'passkey.allowed', targetType: 'user', targetId: userId, details, now }
  await insertAuditRecords(trx, event, await listVaultIdsOf(trx, userId))
  await enqueueNotice(trx, { email, change: 'allowed', name: '', operator, now })
}

/** @throws 404 for a passkey of another person */
export async function removePasskey(trx: Trx, caller: Caller, id: string, now: Date): Promise<void> {
  const { email } = await lockPerson(trx, caller.userId)
  const key = await trx
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('user_id', '=', caller.userId)
    .returning(['id', 'name'])
    .executeTakeFirst()
  if (key === undefined) throw notFound('Passkey')
  await announce(trx, { userId: caller.userId, email, actorId: caller.userId, change: 'removed', key, now })
}

/** Removes all passkeys of a person who lost them, as ordered by an operator of the service. Returns their number. */
export async function removePasskeysOf(trx: Trx, { userId, reason, operator, now }: ByOperator): Promise<number> {
  const { email } = await lockPerson(trx, userId)
  const keys = await trx.deleteFrom('passkeys').where('user_id', '=', userId).returning(['id', 'name']).execute()
  for (const key of keys)
    await announce(trx, { userId, email, actorId: null, change: 'removed', key, reason, operator, now })
  return keys.length
}

/** @throws 403 unless a passkey of the person whom the purpose names signed for the purpose */
export async function assertSigned(
  trx: Trx,
  deps: Checks,
  { assertion, purpose }: { assertion: Assertion | undefined; purpose: Purpose },
  now: Date,
): Promise<void> {
  if (assertion === undefined || (await verifyAssertion(trx, deps, { assertion, purpose }, now)) === null) {
    throw forbidden('passkey_required', 'One of your passkeys must confirm exactly this request')
  }
}

/** Locks a person until the transaction ends, so that two first passkeys cannot both be added without a passkey confirmation. */
export function lockPerson(trx: Trx, userId: string): Promise<{ email: string | null; mayAddUntil: Date | null }> {
  return trx
    .selectFrom('users')
    .select(['email', 'first_passkey_until as mayAddUntil'])
    .where('id', '=', userId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

type Change = {
  userId: string
  email: string | null
  actorId: string | null
  change: 'added' | 'removed' | 'waits' | 'allowed'
  key: { id: string; name: string }
  keyHash?: string
  reason?: string
  operator?: string
  now: Date
}

/** Records the change on the platform and in each vault of the person, and sends a mail that the person cannot switch off. */
async function announce(trx: Trx, { key, actorId, change, ...about }: Change): Promise<void> {
  const { userId, email, keyHash, reason, operator, now } = about
  const details = { userId, name: key.name, keyHash, reason, operator }
  const event = { actorId, action: `passkey.${change}`, targetType: 'passkey', targetId: key.id, details, now }
  await insertAuditRecords(trx, event, await listVaultIdsOf(trx, userId))
  await enqueueNotice(trx, { email, change, name: key.name, operator, now })
}

type NoticeFacts = Pick<Change, 'email' | 'change' | 'operator' | 'now'> & { name: string }

async function enqueueNotice(trx: Trx, { email, change, name, operator, now }: NoticeFacts): Promise<void> {
  if (email === null) return
  const about = { kind: 'passkey' as const, mailId: newId(now), email, change, name, operator: operator ?? null }
  const notice: PasskeyNotice = { ...about, changedAt: now.toISOString() }
  await enqueueMail(trx, notice, now)
}
