import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { isChallengeFor, type Purpose, useChallenge } from './challenge.ts'
import { type Assertion, type Attestation, algorithms } from './schema.ts'

type Checks = Pick<Deps, 'sealer' | 'publicOrigin'>
export type VerifiedKey = { credentialId: Buffer; publicKey: Buffer; signatures: number; isSynced: boolean }

/** The host whose passkeys these are: a browser offers them on its pages only. */
export const rpIdOf = ({ publicOrigin }: Pick<Deps, 'publicOrigin'>): string => new URL(publicOrigin()).hostname

/** The key that an authenticator made for the challenge; null if it is not one for this person, origin and moment. */
export async function verifyNewKey(
  trx: Trx,
  deps: Checks,
  { attestation, purpose }: { attestation: Attestation; purpose: Purpose },
  now: Date,
): Promise<VerifiedKey | null> {
  const challenge = challengeOf(attestation)
  if (!isChallengeFor(deps.sealer, purpose, challenge, now)) return null
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { id, transports: _, ...response } = attestation
  const verified = await unlessRefused(() =>
    verifyRegistrationResponse({
      response: { ...publicKeyOf(id), response },
      expectedChallenge: challenge,
      expectedOrigin: deps.publicOrigin(),
      expectedRPID: rpIdOf(deps),
      requireUserVerification: true,
      supportedAlgorithmIDs: [...algorithms],
    }),
  )
  if (verified?.verified !== true || !(await useChallenge(trx, challenge))) return null
  const { credential, credentialBackedUp } = verified.registrationInfo
  return {
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    signatures: credential.counter,
    isSynced: credentialBackedUp,
  }
}

/**
 * The passkey that signed the challenge, and whose it is; null if the signature is none of a known passkey for this purpose,
 * origin and moment. An answer counts once.
 */
export async function verifyAssertion(
  trx: Trx,
  deps: Checks,
  { assertion, purpose }: { assertion: Assertion; purpose: Purpose },
  now: Date,
): Promise<{ id: string; userId: string } | null> {
  const challenge = challengeOf(assertion)
  if (!isChallengeFor(deps.sealer, purpose, challenge, now)) return null
  // Locked, so that of two answers of one authenticator with the same count one is refused.
  const key = await trx
    .selectFrom('passkeys')
    .select(['id', 'user_id', 'public_key', 'signatures'])
    .where('credential_id', '=', Buffer.from(assertion.id, 'base64url'))
    .forUpdate()
    .executeTakeFirst()
  if (key === undefined || ('userId' in purpose && key.user_id !== purpose.userId)) return null
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { id, ...response } = assertion
  const verified = await unlessRefused(() =>
    verifyAuthenticationResponse({
      response: { ...publicKeyOf(id), response },
      expectedChallenge: challenge,
      expectedOrigin: deps.publicOrigin(),
      expectedRPID: rpIdOf(deps),
      requireUserVerification: true,
      credential: { id, publicKey: Uint8Array.from(key.public_key), counter: Number(key.signatures) },
    }),
  )
  if (verified?.verified !== true || !(await useChallenge(trx, challenge))) return null
  const { newCounter, credentialBackedUp } = verified.authenticationInfo
  await trx
    .updateTable('passkeys')
    .set({ signatures: sql`${newCounter}`, is_synced: credentialBackedUp, last_used_at: now })
    .where('id', '=', key.id)
    .execute()
  return { id: key.id, userId: key.user_id }
}

/** The challenge that the browser says it had signed; the library compares it with what was signed. */
function challengeOf({ clientDataJSON }: { clientDataJSON: string }): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8')) as {
      challenge?: unknown
    }
    return typeof challenge === 'string' ? challenge : ''
  } catch {
    return ''
  }
}

const publicKeyOf = (id: string) => ({ id, rawId: id, type: 'public-key' as const, clientExtensionResults: {} })

/**
 * The library throws for whatever it refuses and for whatever it cannot read. What it reads is given by the caller alone, so
 * each of these is the fault of the answer.
 */
async function unlessRefused<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify()
  } catch {
    return null
  }
}
