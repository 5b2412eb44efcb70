import { canonicalJson } from './canonical-json.ts'
import { sha256 } from './secrets.ts'

/** What a passkey signs for this service (docs/signed-orders.md). Its client computes the same from its own origin and request. */
export type Ceremony = { origin: string; nonce: string } & (
  | { purpose: 'sign-in' | 'add-passkey' }
  | { purpose: 'confirm'; method: string; path: string; bodyHash: string }
)

/** The challenge of a ceremony, in base64url. */
export const challengeOf = (ceremony: Ceremony): string =>
  sha256(canonicalJson({ format: 'strongroom-challenge-1', ...ceremony })).toString('base64url')
