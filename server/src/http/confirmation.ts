import type { FastifyRequest } from 'fastify'
import type { Trx } from '../db/client.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { sha256 } from '../lib/secrets.ts'

/** The header with the passkey confirmation of a request: the JSON of the answer of the passkey in base64url. */
export const confirmationHeader = 'Passkey-Assertion'

export type Confirming = {
  /** A caller without a passkey need not confirm. */
  unlessNone?: true
}

/**
 * Demands a passkey confirmation of exactly this request.
 * @throws 403 `passkey_required` without one
 */
export type Confirm = (trx: Trx, confirming?: Confirming) => Promise<void>

declare module 'fastify' {
  interface FastifyRequest {
    /** The hash of the sent body, before defaults of its schema are added; null for a request without a passkey confirmation. */
    bodyHash: string | null
  }
  interface FastifyInstance {
    /** Checks the passkey confirmation. The composition root sets it, because the shell and most domains do not know passkeys. */
    assertConfirmed: (trx: Trx, request: FastifyRequest, confirming: Confirming) => Promise<void>
  }
}

/**
 * Returns SHA-256 (hex) of the canonical JSON of a body. A request without a body has `{}`. Returns null when it has no
 * canonical form.
 */
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
