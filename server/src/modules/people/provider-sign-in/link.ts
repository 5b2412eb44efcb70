import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { magicLinkTtlMinutes, unexpiredLinksPerEmailMax } from '../../../lib/limits.ts'
import { newSecret, sha256 } from '../../../lib/secrets.ts'
import { readStoredIdentity } from '../providers/id-token.ts'
import { answersFor, findProvider } from '../providers/queries.ts'
import { maySignIn, type SignedIn } from '../sign-in/actions.ts'
import type { Device } from '../sign-in/devices.ts'
import { lockEmail } from '../sign-in/sign-in-limit.ts'
import { enter, type IdentityLinkRequest, shareActive } from './sign-in.ts'

/**
 * Creates the token of a mailed link that links an identity to the user of the e-mail address, and stores the digest of the token.
 * Returns null when the address may not sign in, when the provider was stopped or does not answer for the address, and when the
 * address has too many unexpired links.
 */
export async function issueIdentityLink(
  trx: Trx,
  request: IdentityLinkRequest,
  now: Date,
): Promise<{ token: string; providerName: string } | null> {
  const { email, providerId } = request
  const provider = await findProvider(trx, providerId)
  if (provider?.status !== 'active' || !answersFor(provider, email) || !(await maySignIn(trx, email, null))) return null
  await lockEmail(trx, email)
  const waiting = trx.selectFrom('identity_links').select('token_hash').where('email', '=', email)
  const unexpired = await waiting.where('expires_at', '>', now).limit(unexpiredLinksPerEmailMax).execute()
  if (unexpired.length === unexpiredLinksPerEmailMax) return null
  const token = newSecret()
  await trx
    .insertInto('identity_links')
    .values({
      token_hash: sha256(token),
      binding_hash: Buffer.from(request.bindingHash, 'base64url'),
      provider_id: providerId,
      email,
      identity: JSON.stringify(request.identity),
      redirect_to: request.redirectTo,
      created_at: now,
      expires_at: new Date(now.getTime() + magicLinkTtlMinutes * 60_000),
    })
    .execute()
  return { token, providerName: provider.name }
}

/**
 * Redeems the token of a mailed link: links the identity to the user of the e-mail address and signs them in. The token is valid only
 * in the browser that came from the provider. Otherwise an attacker could mail a link to a person and so get the attacker's identity
 * linked to the account of that person. Returns null when the token is unknown, used, expired or of another browser.
 * @throws ProviderError when the person may not sign in by the provider
 */
export async function redeemIdentityLink(
  trx: Trx,
  deps: Pick<Deps, 'config'>,
  { token, binding, device }: { token: string; binding: string; device: Device },
  now: Date,
): Promise<SignedIn | null> {
  const found = await trx
    .deleteFrom('identity_links')
    .where('token_hash', '=', sha256(token))
    .where('binding_hash', '=', sha256(binding))
    .where('expires_at', '>', now)
    .returning(['provider_id', 'email', 'identity', 'redirect_to'])
    .executeTakeFirst()
  if (found === undefined) return null
  const provider = await shareActive(trx, found.provider_id)
  const identity = readStoredIdentity(found.identity)
  const person = await enter(trx, deps, { provider, identity, email: found.email, device, linkBy: 'mail' }, now)
  return { ...person, redirectTo: found.redirect_to }
}
