import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type ChallengeTerms, challengeOf } from '../../../lib/challenge.ts'
import { readBase64url, readClientData } from '../../../lib/client-data.ts'
import { passkeyChallengeMinutes } from '../../../lib/limits.ts'
import { equalsSecret, type Sealer, sha256 } from '../../../lib/secrets.ts'
import type { NewKey } from './new-key.ts'
import { type Assertion, type Attestation, algorithms } from './schema.ts'

/** The purpose of the answer of a passkey. An answer for one purpose is not valid for another. */
export type Purpose =
  | { for: 'sign-in'; bindingHash: string }
  | { for: 'add'; userId: string }
  | { for: 'confirm'; userId: string; method: string; path: string; bodyHash: string }

const headBytes = 24

/**
 * Returns a nonce for one purpose, in base64url: 16 random bytes, the time of its end (milliseconds since 1970, 8 bytes), and
 * the MAC of these bytes and the purpose. Nothing is stored until the nonce is answered. The client does not sign the nonce itself
 * but the result of `challengeOf`.
 */
export function newNonce(sealer: Sealer, purpose: Purpose, now: Date): string {
  const head = Buffer.alloc(headBytes)
  randomBytes(16).copy(head)
  head.writeBigUInt64BE(BigInt(now.getTime() + passkeyChallengeMinutes * 60_000), 16)
  return Buffer.concat([head, macOf(sealer, purpose, head)]).toString('base64url')
}

/** Returns true if the nonce was made here for this purpose and has not ended. */
function isNonceFor(sealer: Sealer, purpose: Purpose, nonce: string, now: Date): boolean {
  const bytes = readBase64url(nonce)
  if (bytes === null || bytes.length < headBytes) return false
  const head = bytes.subarray(0, headBytes)
  if (!equalsSecret(bytes.subarray(headBytes), macOf(sealer, purpose, head))) return false
  return head.readBigUInt64BE(16) > BigInt(now.getTime())
}

/**
 * Marks a nonce as used. Returns false when it was answered before. This also protects synced passkeys, which do not
 * count their signatures.
 */
async function useNonce(trx: Trx, nonce: string): Promise<boolean> {
  const bytes = Buffer.from(nonce, 'base64url')
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

/** Returns the host for which passkeys are made. A browser offers them only on pages of this host. */
const rpIdOf = ({ publicOrigin }: Pick<Deps, 'publicOrigin'>): string => new URL(publicOrigin()).hostname

/**
 * Returns the key that an authenticator made for the nonce, or null if the answer is not valid for this person, origin
 * and moment.
 */
export async function verifyNewKey(
  trx: Trx,
  deps: Checks,
  { attestation, purpose }: { attestation: Attestation; purpose: Purpose },
  now: Date,
): Promise<VerifiedKey | null> {
  const { id, nonce, transports: _, ...response } = attestation
  if (!isNonceFor(deps.sealer, purpose, nonce, now) || !isReadable(response)) return null
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const verified = await unlessRefused(() =>
    verifyRegistrationResponse({
      response: { ...publicKeyOf(id), response },
      ...expectedOf(deps, purpose, nonce),
      supportedAlgorithmIDs: [...algorithms],
    }),
  )
  if (verified?.verified !== true || !(await useNonce(trx, nonce))) return null
  const { credential, credentialBackedUp } = verified.registrationInfo
  return {
    credential_id: Buffer.from(credential.id, 'base64url'),
    public_key: Buffer.from(credential.publicKey),
    signatures: credential.counter,
    is_synced: credentialBackedUp,
  }
}

/**
 * Returns the passkey that signed the challenge and its person. Returns null if no known passkey signed for this
 * purpose, origin and moment. An answer counts once.
 */
export async function verifyAssertion(
  trx: Trx,
  deps: Checks,
  { assertion, purpose }: { assertion: Assertion; purpose: Purpose },
  now: Date,
): Promise<{ id: string; userId: string } | null> {
  const { id, nonce, ...response } = assertion
  if (!isNonceFor(deps.sealer, purpose, nonce, now) || !isReadable(response)) return null
  // The lock makes sure that one of two answers of an authenticator with the same count is refused.
  const key = await trx
    .selectFrom('passkeys')
    .select(['id', 'user_id', 'public_key', 'signatures'])
    .where('credential_id', '=', Buffer.from(id, 'base64url'))
    .forUpdate()
    .executeTakeFirst()
  if (key === undefined || ('userId' in purpose && key.user_id !== purpose.userId)) return null
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const verified = await unlessRefused(() =>
    verifyAuthenticationResponse({
      response: { ...publicKeyOf(id), response },
      ...expectedOf(deps, purpose, nonce),
      credential: { id, publicKey: Uint8Array.from(key.public_key), counter: Number(key.signatures) },
    }),
  )
  if (verified?.verified !== true || !(await useNonce(trx, nonce))) return null
  const { newCounter, credentialBackedUp } = verified.authenticationInfo
  await trx
    .updateTable('passkeys')
    .set({ signatures: sql`${newCounter}`, is_synced: credentialBackedUp, last_used_at: now })
    .where('id', '=', key.id)
    .execute()
  return { id: key.id, userId: key.user_id }
}

/** Returns true if the client data have one meaning for every parser. The library compares them with the expected values. */
function isReadable({ clientDataJSON }: { clientDataJSON: string }): boolean {
  const bytes = readBase64url(clientDataJSON)
  return bytes !== null && readClientData(bytes) !== null
}

/** Returns the values to which every answer is bound. */
const expectedOf = (deps: Checks, purpose: Purpose, nonce: string) => ({
  expectedChallenge: challengeOf(termsOf(purpose, deps.publicOrigin(), nonce)),
  expectedOrigin: deps.publicOrigin(),
  expectedRPID: rpIdOf(deps),
  requireUserVerification: true,
})

function termsOf(purpose: Purpose, origin: string, nonce: string): ChallengeTerms {
  if (purpose.for === 'sign-in') return { purpose: 'sign-in', origin, nonce }
  if (purpose.for === 'add') return { purpose: 'add-passkey', origin, nonce }
  const { method, path, bodyHash } = purpose
  return { purpose: 'confirm', origin, nonce, method, path, bodyHash }
}

const publicKeyOf = (id: string) => ({ id, rawId: id, type: 'public-key' as const, clientExtensionResults: {} })

/**
 * Returns null for an answer that the library refuses or cannot read. All input of the library is the answer, so every error of
 * the library is a fault of the answer.
 */
async function unlessRefused<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify()
  } catch {
    return null
  }
}
