import type { FastifyRequest } from 'fastify'
import type { Trx } from '../db/client.ts'

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
  interface FastifyInstance {
    /** Passkeys are of people, whom the shell and most domains do not know: the composition root says how. */
    assertConfirmed: (trx: Trx, request: FastifyRequest, confirming: Confirming) => Promise<void>
  }
}

export const confirmationOf =
  (request: FastifyRequest): Confirm =>
  (trx, confirming = {}) =>
    request.server.assertConfirmed(trx, request, confirming)
