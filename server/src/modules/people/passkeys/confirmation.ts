import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type Confirming, confirmationHeader } from '../../../http/confirmation.ts'
import { payloadReader } from '../../../http/read-payload.ts'
import { badRequest } from '../../../lib/errors.ts'
import { assertSigned } from './actions.ts'
import { listCredentials } from './queries.ts'
import { Assertion } from './schema.ts'

const readAssertion = payloadReader(Assertion)

/**
 * Demands a passkey confirmation: a passkey of the caller signed exactly this request (the header `Passkey-Assertion`).
 * @throws 403 without a signature for this method, path and body; 400 for a header that is not an assertion
 */
export async function assertConfirmed(
  trx: Trx,
  deps: Pick<Deps, 'sealer' | 'publicOrigin'>,
  { caller, request, now, unlessNone }: { caller: Caller; request: FastifyRequest; now: Date } & Confirming,
): Promise<void> {
  const assertion = readHeader(request)
  if (unlessNone === true && (await listCredentials(trx, caller.userId)).length === 0) return
  const path = request.url.split('?')[0]!
  const { method, bodyHash } = request
  // No nonce is issued for the empty hash of a request without a body.
  const purpose = { for: 'confirm', userId: caller.userId, method, path, bodyHash: bodyHash ?? '' } as const
  await assertSigned(trx, deps, { assertion, purpose }, now)
}

function readHeader(request: FastifyRequest): Assertion | undefined {
  const header = request.headers[confirmationHeader.toLowerCase()]
  if (header === undefined) return undefined
  try {
    return readAssertion(JSON.parse(Buffer.from(String(header), 'base64url').toString('utf8')))
  } catch {
    throw badRequest(confirmationHeader, 'must be the JSON of a PasskeyAssertion in base64url')
  }
}
