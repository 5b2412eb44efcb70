import * as oidc from 'openid-client'
import type { Deps } from '../../../deps.ts'
import { providerSignInMinutes } from '../../../lib/limits.ts'
import type { Place } from '../../../lib/secrets.ts'
import { pathsOf } from '../providers/present.ts'
import { ProviderError } from '../providers/provider-error.ts'
import { answersFor, type ProviderRow } from '../providers/queries.ts'
import { relyingPartyOf } from '../providers/relying-party.ts'
import { digestOfSettings } from '../providers/settings.ts'

/**
 * A sign-in that was begun. The browser that began it keeps it in a sealed cookie. Therefore no other browser can end it, and the
 * service stores nothing.
 */
export type Begun = {
  providerId: string
  state: string
  nonce: string
  verifier: string
  redirectTo: string | null
  /** True if a platform administrator tests a provider that is not active. */
  isTrial: boolean
  /** The digest of the settings of the provider at the beginning. */
  settings: string
  expiresAt: number
}

type Beginning = { redirectTo: string | null; email: string | null; isTrial: boolean }

/** Returns the URL of the sign-in page of the provider, and the cookie that keeps the sign-in. @throws ProviderError */
export async function beginSignIn(
  deps: Pick<Deps, 'config' | 'clock' | 'sealer' | 'publicOrigin'>,
  provider: ProviderRow,
  { redirectTo, email, isTrial }: Beginning,
): Promise<{ url: string; cookie: { name: string; value: string } }> {
  const { client } = await relyingPartyOf(deps, provider)
  const begun: Begun = {
    providerId: provider.id,
    state: oidc.randomState(),
    nonce: oidc.randomNonce(),
    verifier: oidc.randomPKCECodeVerifier(),
    redirectTo,
    isTrial,
    settings: digestOfSettings(provider),
    expiresAt: deps.clock().getTime() + providerSignInMinutes * 60_000,
  }
  const url = oidc.buildAuthorizationUrl(client, {
    redirect_uri: redirectUriOf(deps, provider.id),
    scope: 'openid email',
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(begun.verifier),
    code_challenge_method: 'S256',
    ...(email !== null && answersFor(provider, email) ? { login_hint: email } : {}),
  })
  const sealed = deps.sealer.seal(placeOf(begun.state), JSON.stringify(begun))
  return { url: url.href, cookie: { name: cookieOf(begun.state), value: sealed.toString('base64url') } }
}

export const redirectUriOf = ({ publicOrigin }: Pick<Deps, 'publicOrigin'>, providerId: string): string =>
  `${publicOrigin()}${pathsOf(providerId).callback}`

/** Returns the name of the cookie of a sign-in. Each sign-in has another name, so that two in one browser do not end each other. */
export const cookieOf = (state: string): string => `oidc_${state.slice(0, 16)}`

/** Returns the sign-in of a cookie. @throws ProviderError for another browser, provider or state, and after ten minutes */
export function openBegun(
  { sealer, clock }: Pick<Deps, 'sealer' | 'clock'>,
  { cookie, state, providerId }: { cookie: string | undefined; state: string; providerId: string },
): Begun {
  if (cookie === undefined || !/^[A-Za-z0-9_-]{1,4000}$/.test(cookie)) throw new ProviderError('browser')
  let begun: Begun
  try {
    begun = JSON.parse(sealer.open(placeOf(state), Buffer.from(cookie, 'base64url')))
  } catch (error) {
    throw new ProviderError('browser', error)
  }
  if (begun.providerId !== providerId || begun.state !== state) throw new ProviderError('other_provider')
  if (begun.expiresAt <= clock().getTime()) throw new ProviderError('late')
  return begun
}

const placeOf = (state: string): Place => ({ table: '', column: 'begun sign-in', row: [state] })
