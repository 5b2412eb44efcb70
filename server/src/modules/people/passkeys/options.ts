import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { passkeyChallengeMinutes } from '../../../lib/limits.ts'
import { newNonce, type Purpose } from './passkey-answer.ts'
import { listCredentials } from './queries.ts'
import { algorithms, type CreationOptions, type PasskeyOptions, type RequestOptions } from './schema.ts'

type Checks = Pick<Deps, 'sealer'>
type Credentials = Awaited<ReturnType<typeof listCredentials>>
const timeout = passkeyChallengeMinutes * 60_000

/**
 * Returns the options with which a browser asks an authenticator to sign for the purpose. Without `credentials`, any
 * passkey of this service may sign.
 */
export function requestOptions(deps: Checks, purpose: Purpose, credentials: Credentials, now: Date): RequestOptions {
  return {
    nonce: newNonce(deps.sealer, purpose, now),
    timeout,
    userVerification: 'required',
    allowCredentials: credentials,
  }
}

/** Returns the options with which a browser creates a passkey for the person and confirms it with an existing one. */
export async function passkeyOptions(
  db: Db | Trx,
  deps: Checks,
  person: { userId: string; email: string; name: string | null },
  now: Date,
): Promise<PasskeyOptions> {
  const { userId, email, name } = person
  const purpose: Purpose = { for: 'add', userId }
  const present = await listCredentials(db, userId)
  const creation: CreationOptions = {
    rp: { name: 'Strongroom' },
    user: { id: Buffer.from(userId).toString('base64url'), name: email, displayName: name ?? email },
    nonce: newNonce(deps.sealer, purpose, now),
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout,
    excludeCredentials: present,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
  }
  return { creation, confirmation: present.length === 0 ? null : requestOptions(deps, purpose, present, now) }
}
