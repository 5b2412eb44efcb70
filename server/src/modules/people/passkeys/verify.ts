import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { passkeyChallengeMinutes } from '../../../lib/limits.ts'
import { equalsSecret, type Sealer, sha256 } from '../../../lib/secrets.ts'
import type { NewKey } from './actions.ts'
import { type Assertion, type Attestation, algorithms } from './schema.ts'

/** What an answer to the challenge is for. An answer for one purpose is none for another. */
export type Purpose =
  | { for: 'sign-in'; bindingHash: string }
  | { for: 'add'; userId: string }
  | { for: 'confirm'; userId: string; method: string; path: string; bodyHash: string }

const headBytes = 24

/**
 * A challenge for one purpose, in base64url: 16 random bytes, its end as milliseconds in 8 bytes, and their MAC with the
 * purpose. Nothing is stored until it is answered.
 */
export function newChallenge(sealer: Sealer, purpose: Purpose, now: Date): string {
  const head = Buffer.alloc(headBytes)
  randomBytes(16).copy(head)
  head.writeBigUInt64BE(BigInt(now.getTime() + passkeyChallengeMinutes * 60_000), 16)
  return Buffer.concat([head, macOf(sealer, purpose, head)]).toString('base64url')
}

/** Whether the challenge was made here for this purpose and has not ended. */
function isChallengeFor(sealer: Sealer, purpose: Purpose, challenge: string, now: Date): boolean {
  const bytes = Buffer.from(challenge, 'base64url')
  const head = bytes.subarray(0, headBytes)
  if (head.length < headBytes || !equalsSecret(bytes.subarray(headBytes), macOf(sealer, purpose, head))) return false
  return head.readBigUInt64BE(16) > BigInt(now.getTime())
}

/** Takes a challenge that was answered. Returns false when it was answered before. */
async function useChallenge(trx: Trx, challenge: string): Promise<boolean> {
  const bytes = Buffer.from(challenge, 'base64url')
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('used_passkey_challenges')
    .values({ challenge_hash: sha256(bytes), expires_at: new Date(Number(bytes.readBigUInt64BE(16))) })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

const macOf = (sealer: Sealer, purpose: Purpose, head: Buffer): Buffer =>
  sealer.mac('passkey challenge', JSON.stringify([Object.entries(purpose).sort(), head.toString('base64url')]))

type Checks = Pick<Deps, 'sealer' | 'publicOrigin'>
type VerifiedKey = Pick<NewKey, 'credential_id' | 'public_key' | 'signatures' | 'is_synced'>

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
      ...expectedOf(deps, challenge),
      supportedAlgorithmIDs: [...algorithms],
    }),
  )
  if (verified?.verified !== true || !(await useChallenge(trx, challenge))) return null
  const { credential, credentialBackedUp } = verified.registrationInfo
  return {
    credential_id: Buffer.from(credential.id, 'base64url'),
    public_key: Buffer.from(credential.publicKey),
    signatures: credential.counter,
    is_synced: credentialBackedUp,
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
      ...expectedOf(deps, challenge),
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

/** To what every answer is bound. */
const expectedOf = (deps: Checks, challenge: string) => ({
  expectedChallenge: challenge,
  expectedOrigin: deps.publicOrigin(),
  expectedRPID: rpIdOf(deps),
  requireUserVerification: true,
})

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
