import type { FastifyRequest } from 'fastify'
import type { Trx } from '../db/client.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { sha256 } from '../lib/secrets.ts'

/** The header in which a passkey confirms a request: the JSON of its answer in base64url. */
export const confirmationHeader = 'Passkey-Assertion'

export type Confirming = {
  /** Who has no passkey is not asked. */
  unlessNone?: true
}

/**
 * Demands that a passkey of the caller signed exactly this request.
 * @throws 403 `passkey_required` when none did
 */
export type Confirm = (trx: Trx, confirming?: Confirming) => Promise<void>

declare module 'fastify' {
  interface FastifyRequest {
    /** What was sent, before defaults of its schema are added; null unless a passkey confirms the request. */
    bodyHash: string | null
  }
  interface FastifyInstance {
    /** Passkeys are of people, whom the shell and most domains do not know: the composition root says how. */
    assertConfirmed: (trx: Trx, request: FastifyRequest, confirming: Confirming) => Promise<void>
  }
}

/** SHA-256 (hex) of the canonical JSON of a body; a request without one has `{}`. null: it has no canonical form. */
export function hashOfBody(body: unknown): string | null {
  try {
    return sha256(canonicalJson(body)).toString('hex')
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

export const confirmationOf =
  (request: FastifyRequest): Confirm =>
  (trx, confirming = {}) =>
    request.server.assertConfirmed(trx, request, confirming)
