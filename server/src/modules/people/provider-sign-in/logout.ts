import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { providerClockSeconds, providerSignInMinutes } from '../../../lib/limits.ts'
import { assertForUsAlone, subjectOf, textOf } from '../providers/id-token.ts'
import { ProviderError } from '../providers/provider-error.ts'
import type { ProviderRow } from '../providers/queries.ts'
import { relyingPartyOf } from '../providers/relying-party.ts'
import { endSessionsOfIdentity } from '../sign-in/sessions.ts'
import { consumeAnswer } from './read-answer.ts'

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

type Named = { subject: string | null; sid: string | null; jti: string }

/**
 * Ends the sessions that a logout token names (OpenID Connect Back-Channel Logout), once. Returns how many it ended.
 * @throws ProviderError for a token that the provider did not sign for this purpose; no session ends then
 */
export async function endByLogoutToken(
  deps: Pick<Deps, 'db' | 'config' | 'clock' | 'sealer'>,
  provider: ProviderRow,
  token: string,
): Promise<number> {
  const now = deps.clock()
  const { subject, sid, jti } = await readLogoutToken(deps, provider, token)
  return inTransaction(deps.db, async (trx: Trx) => {
    const isNew = await consumeAnswer(
      trx,
      `logout ${provider.id} ${jti}`,
      new Date(now.getTime() + providerSignInMinutes * 60_000),
    )
    if (!isNew) throw new ProviderError('logout_replayed')
    return endSessionsOfIdentity(trx, { providerId: provider.id, subject, sid }, now)
  })
}

async function readLogoutToken(
  deps: Pick<Deps, 'config' | 'clock' | 'sealer'>,
  provider: ProviderRow,
  token: string,
): Promise<Named> {
  const { keys } = await relyingPartyOf(deps, provider)
  const { payload } = await keys.verify(token, {
    issuer: provider.issuer,
    audience: provider.client_id,
    typ: 'logout+jwt',
    requiredClaims: ['iat', 'jti', 'events'],
    maxTokenAge: providerSignInMinutes * 60,
    clockTolerance: providerClockSeconds,
    currentDate: deps.clock(),
  })
  const claims: Readonly<Record<string, unknown>> = payload
  assertForUsAlone(claims, provider.client_id)
  if ('nonce' in claims) throw new ProviderError('logout_nonce')
  const { events } = claims
  const event = typeof events === 'object' && events !== null ? (events as Record<string, unknown>)[logoutEvent] : null
  if (typeof event !== 'object' || event === null || Array.isArray(event)) throw new ProviderError('logout_event')
  const jti = textOf(claims.jti)
  if (jti === null) throw new ProviderError('logout_jti')
  const subject = claims.sub === undefined ? null : subjectOf(claims)
  const sid = claims.sid === undefined ? null : textOf(claims.sid)
  // A `sid` that cannot be read must not widen the logout to all sessions of the person.
  if ((subject === null && sid === null) || (claims.sid !== undefined && sid === null))
    throw new ProviderError('logout_names')
  return { subject, sid, jti }
}
