import * as oidc from 'openid-client'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { providerSignInMinutes } from '../../../lib/limits.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { type IdToken, readIdToken } from '../providers/id-token.ts'
import { ProviderError } from '../providers/provider-error.ts'
import type { ProviderRow } from '../providers/queries.ts'
import { forgetRelyingParty, relyingPartyOf } from '../providers/relying-party.ts'
import { digestOfSettings } from '../providers/settings.ts'
import { type Begun, openBegun, redirectUriOf } from './begin.ts'

type Answer = { state: string; search: string; cookie: string | undefined }
type Needed = Pick<Deps, 'db' | 'config' | 'clock' | 'sealer' | 'publicOrigin'>

/**
 * Reads the answer of a provider that a browser returns: exchanges the code and checks the ID token. An answer is valid once for
 * each sign-in, in the browser that began the sign-in, for ten minutes. @throws ProviderError
 */
export async function readProviderAnswer(
  deps: Needed,
  provider: ProviderRow,
  { state, search, cookie }: Answer,
): Promise<{ begun: Begun; token: IdToken }> {
  const begun = openBegun(deps, { cookie, state, providerId: provider.id })
  // The code is exchanged with the settings of the row. A trial that began with other settings would prove nothing about them.
  if (begun.isTrial && begun.settings !== digestOfSettings(provider)) throw new ProviderError('trial_changed')
  const now = deps.clock()
  if (!(await inTransaction(deps.db, (trx) => consumeAnswer(trx, `state ${state}`, new Date(begun.expiresAt)))))
    throw new ProviderError('replayed')
  try {
    return { begun, token: await exchange(deps, provider, { begun, search, now }) }
  } catch (error) {
    forgetRelyingParty(deps, provider.id)
    throw ProviderError.of(error)
  }
}

async function exchange(
  deps: Needed,
  provider: ProviderRow,
  { begun, search, now }: { begun: Begun; search: string; now: Date },
): Promise<IdToken> {
  const { client, keys } = await relyingPartyOf(deps, provider)
  const answers = await oidc.authorizationCodeGrant(client, new URL(redirectUriOf(deps, provider.id) + search), {
    pkceCodeVerifier: begun.verifier,
    expectedState: begun.state,
    expectedNonce: begun.nonce,
    idTokenExpected: true,
  })
  return readIdToken(keys, answers.id_token!, { provider, nonce: begun.nonce, now })
}

/** Stores an answer of a provider as used, until it has certainly expired. Returns false if it was used before. */
export async function consumeAnswer(trx: Trx, answer: string, expiresAt: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('used_provider_answers')
    .values({ answer_hash: sha256(answer), expires_at: new Date(expiresAt.getTime() + providerSignInMinutes * 60_000) })
    .onConflict((other) => other.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}
