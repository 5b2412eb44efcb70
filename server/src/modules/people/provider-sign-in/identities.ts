import { sql } from 'kysely'
import type { ByCaller } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { notFound } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { announceRegistryChange, quote } from '../../record/notifications/announce.ts'
import { listVaultIdsOf } from '../../rules/policy-groups/memberships.ts'
import type { Identity, Linking } from '../providers/schema.ts'
import { findUser } from '../sign-in/queries.ts'
import { endSessionsOfIdentity } from '../sign-in/sessions.ts'

type IdentityRow = {
  issuer: string
  subject: string
  linked_via: Linking
  linked_at: Date
  last_used_at: Date
  /** The name of the active provider of the issuer; null if the issuer has no active provider. */
  provider_name: string | null
}

/** Returns the identities of a person, the last linked first; at most one of each issuer. */
export async function listIdentities(db: Db | Trx, userId: string): Promise<IdentityRow[]> {
  const { rows } = await sql<IdentityRow>`
    select i.issuer, i.subject, i.linked_via, i.linked_at, i.last_used_at, p.name as provider_name
    from identities i left join identity_providers p on p.issuer = i.issuer and p.status = 'active'
    where i.user_id = ${userId} order by i.linked_at desc, i.issuer`.execute(db)
  return rows
}

/** @throws 404 when no user has the id */
export async function listIdentitiesOf(db: Db, userId: string): Promise<IdentityRow[]> {
  if ((await findUser(db, 'id', userId)) === null) throw notFound('User')
  return listIdentities(db, userId)
}

/** Returns the id of an identity in the API: a digest of its issuer and subject, which no table stores. */
const idOf = ({ issuer, subject }: Pick<IdentityRow, 'issuer' | 'subject'>): string =>
  sha256(JSON.stringify([issuer, subject]))
    .toString('hex')
    .slice(0, 32)

export const toIdentity = (row: IdentityRow): Identity => ({
  id: idOf(row),
  issuer: row.issuer,
  subject: row.subject,
  providerName: row.provider_name,
  linkedVia: row.linked_via,
  linkedAt: row.linked_at.toISOString(),
  lastUsedAt: row.last_used_at.toISOString(),
})

/**
 * Removes the link of an account at a provider to a person, and ends the sessions that it opened. The next sign-in through the
 * provider is a first one. @throws 404
 */
export async function removeIdentity(
  trx: Trx,
  { userId, identityId }: { userId: string; identityId: string },
  by: ByCaller,
): Promise<void> {
  const found = (await listIdentities(trx, userId)).find((row) => idOf(row) === identityId)
  const user = await findUser(trx, 'id', userId)
  if (found === undefined || user === null) throw notFound('Identity')
  const { issuer, subject } = found
  const { numDeletedRows } = await trx
    .deleteFrom('identities')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('Identity')
  const providers = await trx.selectFrom('identity_providers').select('id').where('issuer', '=', issuer).execute()
  for (const { id: providerId } of providers)
    await endSessionsOfIdentity(trx, { providerId, subject, sid: null }, by.now)
  const details = { email: user.email, issuer, subject }
  const sentence = `The account of ${quote(user.email)} at their identity provider no longer signs them in`
  await announceRegistryChange(
    trx,
    {
      actorId: by.caller.userId,
      action: 'identity.unlinked',
      targetType: 'user',
      targetId: userId,
      details,
      now: by.now,
      words: { sentence, before: details },
    },
    await listVaultIdsOf(trx, userId),
  )
}
