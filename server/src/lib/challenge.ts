import { canonicalJson } from './canonical-json.ts'
import { sha256 } from './secrets.ts'

/**
 * The terms that a passkey signs for this service (docs/signed-orders.md). Its client computes them from its own origin and
 * request.
 */
export type ChallengeTerms = { origin: string; nonce: string } & (
  | { purpose: 'sign-in' | 'add-passkey' }
  | { purpose: 'confirm'; method: string; path: string; bodyHash: string }
)

/** Returns the challenge, in base64url. */
export const challengeOf = (terms: ChallengeTerms): string =>
  sha256(canonicalJson({ format: 'strongroom-challenge-1', ...terms })).toString('base64url')
