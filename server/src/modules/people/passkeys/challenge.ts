import { randomBytes } from 'node:crypto'
import type { Trx } from '../../../db/client.ts'
import { passkeyChallengeMinutes } from '../../../lib/limits.ts'
import { equalsSecret, type Sealer, sha256 } from '../../../lib/secrets.ts'

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
export function isChallengeFor(sealer: Sealer, purpose: Purpose, challenge: string, now: Date): boolean {
  const bytes = Buffer.from(challenge, 'base64url')
  const head = bytes.subarray(0, headBytes)
  if (head.length < headBytes || !equalsSecret(bytes.subarray(headBytes), macOf(sealer, purpose, head))) return false
  return head.readBigUInt64BE(16) > BigInt(now.getTime())
}

/** Takes a challenge that was answered. Returns false when it was answered before. */
export async function useChallenge(trx: Trx, challenge: string): Promise<boolean> {
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
