import { providerClockSeconds, providerSignInMinutes } from '../../../lib/limits.ts'
import { equalsSecret } from '../../../lib/secrets.ts'
import type { KeySet } from './key-set.ts'
import { ProviderError } from './provider-error.ts'
import type { ProviderRow } from './queries.ts'

/** The facts about a person that a provider states at a sign-in. The tokens of the provider are not stored. */
export type ProviderIdentity = {
  issuer: string
  subject: string
  /** The id of the session at the provider; null if the token has none. */
  sid: string | null
  /** Time of the last authentication of the person at the provider, in UTC; null if the token has none. */
  authTime: string | null
  acr: string | null
  amr: string[] | null
}
export type IdToken = { identity: ProviderIdentity; email: string | null; emailVerified: boolean | null }

/** Reads an identity from the row of a mailed link. @throws ProviderError when it is not as `readIdToken` returns identities */
export function readStoredIdentity(stored: unknown): ProviderIdentity {
  const { issuer, subject, sid, authTime, acr, amr } = (stored ?? {}) as Claims
  const texts = [sid, authTime, acr].every((text) => text === null || typeof text === 'string')
  const methods = amr === null ? [] : Array.isArray(amr) ? amr.map(textOf) : [null]
  if (typeof issuer !== 'string' || !texts || methods.includes(null)) throw new ProviderError('link_identity')
  return {
    issuer,
    subject: subjectOf({ sub: subject }),
    sid: textOf(sid),
    authTime: authTime === null ? null : timeOf(Date.parse(String(authTime)) / 1000),
    acr: textOf(acr),
    amr: amr === null ? null : methods.filter((text) => text !== null),
  }
}

type Expected = { provider: Pick<ProviderRow, 'issuer' | 'client_id'>; nonce: string; now: Date }
type Claims = Readonly<Record<string, unknown>>

/** Checks the signature and the claims of an ID token, even if it came directly from the provider. @throws ProviderError */
export async function readIdToken(keys: KeySet, token: string, { provider, nonce, now }: Expected): Promise<IdToken> {
  const { payload } = await keys.verify(token, {
    issuer: provider.issuer,
    audience: provider.client_id,
    requiredClaims: ['sub', 'iat', 'exp', 'nonce'],
    maxTokenAge: providerSignInMinutes * 60,
    clockTolerance: providerClockSeconds,
    currentDate: now,
  })
  const claims: Claims = payload
  assertForUsAlone(claims, provider.client_id)
  if (typeof claims.nonce !== 'string' || !equalsSecret(claims.nonce, nonce)) throw new ProviderError('nonce')
  return {
    identity: {
      issuer: provider.issuer,
      subject: subjectOf(claims),
      sid: textOf(claims.sid),
      authTime: timeOf(claims.auth_time),
      acr: textOf(claims.acr),
      amr: Array.isArray(claims.amr)
        ? claims.amr
            .map(textOf)
            .filter((text) => text !== null)
            .slice(0, 16)
        : null,
    },
    email: textOf(claims.email)?.toLowerCase() ?? null,
    emailVerified: claims.email_verified === undefined ? null : claims.email_verified === true,
  }
}

/** Refuses a token with several audiences, because another audience could present it here. @throws ProviderError */
export function assertForUsAlone({ aud, azp }: Claims, clientId: string): void {
  const audiences = Array.isArray(aud) ? aud : [aud]
  if (audiences.length !== 1 || audiences[0] !== clientId) throw new ProviderError('audience')
  if (azp !== undefined && azp !== clientId) throw new ProviderError('authorized_party')
}

/** Returns the name of the person at the provider: 1 to 255 characters of ASCII (OpenID Connect Core, 2). @throws ProviderError */
export function subjectOf({ sub }: Claims): string {
  if (typeof sub !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(sub)) throw new ProviderError('subject')
  return sub
}

export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && /^[^\p{Cc}]{1,255}$/u.test(value) ? value : null

function timeOf(value: unknown): string | null {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > 4_102_444_800) return null
  return new Date(value * 1000).toISOString()
}
