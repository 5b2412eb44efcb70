import { digestOf } from './canonical.ts'
import { SigningError } from './signing-error.ts'

/**
 * The challenges of a sign-in, of a passkey that is added and of a confirmation (docs/signed-orders.md). The client
 * builds each challenge from a document that states the purpose of the signature. A service that answers the hash of a
 * vote as nonce thus gets a signature that is not a vote.
 */

/** The document that a passkey of the service signs. `origin` comes from the client, and from no answer. */
export type ChallengeTerms = { origin: string; nonce: string } & (
  | { purpose: 'sign-in' | 'add-passkey' }
  | { purpose: 'confirm'; method: string; path: string; bodyHash: string }
)

const nonceForm = /^[A-Za-z0-9_-]{1,128}$/

/**
 * Returns the 32 bytes that the authenticator signs.
 * @throws SigningError for an invalid origin, and for a nonce that is not base64url
 */
export async function challengeOf(terms: ChallengeTerms): Promise<Uint8Array<ArrayBuffer>> {
  const { purpose, origin, nonce } = terms
  if (typeof nonce !== 'string' || !nonceForm.test(nonce)) throw new SigningError('nonce', 'is not base64url')
  if (!isOrigin(origin)) throw new SigningError('origin', 'is not an origin such as https://vault.example.org')
  const document = { format: 'strongroom-challenge-1', purpose, origin, nonce }
  if (terms.purpose !== 'confirm') return digestOf(document)
  const { method, path, bodyHash } = terms
  return digestOf({ ...document, method, path, bodyHash })
}

const isOrigin = (origin: string): boolean => URL.canParse(origin) && new URL(origin).origin === origin

/** Returns the RP ID of a client: the host of its own origin. */
export const rpIdOf = (origin: string): string => new URL(origin).hostname
