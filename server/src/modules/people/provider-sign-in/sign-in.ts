import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { newId } from '../../../lib/ids.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { enqueueMail } from '../../../mail/queue.ts'
import { insertAuditRecords } from '../../record/audit/record.ts'
import { listVaultIdsOf } from '../../rules/policy-groups/memberships.ts'
import type { IdToken, ProviderIdentity } from '../providers/id-token.ts'
import { ProviderError } from '../providers/provider-error.ts'
import { answersFor, type ProviderRow } from '../providers/queries.ts'
import type { Linking } from '../providers/schema.ts'
import { type SignedIn, signInPerson } from '../sign-in/actions.ts'
import type { Device } from '../sign-in/devices.ts'
import { findUser, findUserByEmail } from '../sign-in/queries.ts'
import type { SessionProvider } from '../sign-in/sessions.ts'

/** The queued mail with the link that links an identity to the user of the e-mail address. It holds no secret. */
export type IdentityLinkRequest = {
  kind: 'identity-link'
  mailId: string
  requestedAt: string
  providerId: string
  email: string
  identity: ProviderIdentity
  bindingHash: string
  redirectTo: string | null
}

type Person = Omit<SignedIn, 'redirectTo'>

/** `waits`: a link is mailed to the address that the provider named, if the address may sign in. */
type ProviderSignIn = Person | 'waits'

/**
 * Signs in the user of an identity. The first sign-in links the identity to the user of the e-mail address, if the provider answers
 * for the domain. The setting `linking` of the provider says if a mailed link or a statement of the provider proves the address.
 * @throws ProviderError when the identity may not sign in; nothing is created then
 */
export async function signInByProvider(
  trx: Trx,
  deps: Pick<Deps, 'config'>,
  arrival: { providerId: string; token: IdToken; device: Device; binding: string; redirectTo: string | null },
  now: Date,
): Promise<ProviderSignIn> {
  const { token, device } = arrival
  const provider = await shareActive(trx, arrival.providerId)
  const { issuer, subject } = token.identity
  const known = await trx
    .updateTable('identities')
    .set({ last_used_at: now })
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .returning('user_id')
    .executeTakeFirst()
  if (known !== undefined) {
    const email = (await findUser(trx, 'id', known.user_id))?.email ?? ''
    return enter(trx, deps, { provider, identity: token.identity, email, device, linkBy: null }, now)
  }
  const email = emailOf(provider, token)
  if (provider.linking === 'email_verified' && token.emailVerified === true)
    return enter(trx, deps, { provider, identity: token.identity, email, device, linkBy: 'email_verified' }, now)
  const job: IdentityLinkRequest = {
    kind: 'identity-link',
    mailId: newId(now),
    requestedAt: now.toISOString(),
    providerId: provider.id,
    email,
    identity: token.identity,
    bindingHash: sha256(arrival.binding).toString('base64url'),
    redirectTo: arrival.redirectTo,
  }
  // The mail decides if the address may sign in, so that the answer is the same for every address.
  await enqueueMail(trx, job, now)
  return 'waits'
}

/** Returns the e-mail address that a token names. @throws ProviderError if the provider does not answer for the address */
export function emailOf(provider: Pick<ProviderRow, 'domains'>, { email, emailVerified }: IdToken): string {
  if (email === null || !/^[^\s@"<>(),:;\\]{1,64}@[^\s@"<>(),:;\\]{1,189}$/.test(email))
    throw new ProviderError('identity_unknown_email_missing')
  if (!answersFor(provider, email)) throw new ProviderError('identity_unknown_foreign_email')
  if (emailVerified === false) throw new ProviderError('identity_unknown_unverified_email')
  return email
}

type Entrance = {
  provider: ProviderRow
  identity: ProviderIdentity
  email: string
  device: Device
  /** The proof on which the identity is linked to the user; null if it is linked already. */
  linkBy: Linking | null
}

/** Opens a session of the person whom a provider names. @throws ProviderError when the provider cannot sign them in */
export async function enter(
  trx: Trx,
  deps: Pick<Deps, 'config'>,
  { provider, identity, email, device, linkBy }: Entrance,
  now: Date,
): Promise<Person> {
  // The provider was read again in this transaction. Its issuer may have changed since the token was signed.
  if (provider.issuer !== identity.issuer) throw new ProviderError('provider_not_active')
  if (!answersFor(provider, email)) throw new ProviderError('identity_unknown_foreign_email')
  if (linkBy !== null) await assertUnlinked(trx, identity.issuer, email)
  const session: SessionProvider = {
    providerId: provider.id,
    subject: identity.subject,
    sid: identity.sid,
    authTime: identity.authTime === null ? null : new Date(identity.authTime),
    acr: identity.acr,
    amr: identity.amr,
    hours: provider.session_hours,
    isFirst: linkBy !== null,
  }
  const person = await signInPerson(trx, deps, { email, method: 'provider', device, provider: session }, now)
  if (person === null) throw new ProviderError('identity_unknown')
  if (linkBy !== null) await link(trx, { identity, userId: person.user.id, via: linkBy }, now)
  return person
}

/** Refuses a second identity of a user at an issuer: an account with the same address is another person. @throws ProviderError */
async function assertUnlinked(trx: Trx, issuer: string, email: string): Promise<void> {
  const user = await findUserByEmail(trx, email)
  if (user === null) return
  const other = trx
    .selectFrom('identities')
    .select('subject')
    .where('user_id', '=', user.id)
    .where('issuer', '=', issuer)
  if ((await other.executeTakeFirst()) !== undefined) throw new ProviderError('identity_unknown_other_subject')
}

async function link(
  trx: Trx,
  { identity, userId, via }: { identity: ProviderIdentity; userId: string; via: Linking },
  now: Date,
): Promise<void> {
  const { issuer, subject } = identity
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('identities')
    .values({ issuer, subject, user_id: userId, linked_via: via, linked_at: now, last_used_at: now })
    .onConflict((other) => other.doNothing())
    .executeTakeFirst()
  // Another sign-in linked the identity, or the person, at the same time.
  if (numInsertedOrUpdatedRows !== 1n) throw new ProviderError('identity_unknown_other_subject')
  const event = { actorId: userId, action: 'identity.linked', targetType: 'user', targetId: userId, now }
  await insertAuditRecords(trx, { ...event, details: { issuer, subject, via } }, await listVaultIdsOf(trx, userId))
}

/** Returns an active provider, which stays active until the transaction ends. @throws ProviderError */
export async function shareActive(trx: Trx, id: string): Promise<ProviderRow> {
  const row = await trx.selectFrom('identity_providers').selectAll().where('id', '=', id).forShare().executeTakeFirst()
  if (row?.status !== 'active') throw new ProviderError('provider_not_active')
  return row as ProviderRow
}
