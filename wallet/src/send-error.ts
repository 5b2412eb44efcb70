import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { AuthorityUnavailableError } from './authority/store.ts'
import { describeNodeError, isNodeError } from './chains/node-error.ts'
import { isDatabaseDown } from './database/is-database-down.ts'
import { type FieldFault, toErrorBody, WalletError } from './errors.ts'

export function sendError(error: FastifyError, { id }: FastifyRequest, reply: FastifyReply, log: Logger) {
  const answer = toAnswer(error, log)
  if (answer.code === 503) reply.header('retry-after', '2')
  if (answer.code === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(answer.code).send(toErrorBody(answer, answer.code === 500 ? id : undefined))
}

/** Maps an error to its answer; nothing else does. The answer to an unexpected error has only the request id. */
function toAnswer(error: FastifyError, log: Logger): WalletError {
  if (error instanceof WalletError) return error
  if (error.validation) {
    return new WalletError(
      400,
      'The request does not have the form of the protocol',
      error.validation.map(toFieldFault),
    )
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new WalletError(
      error.statusCode,
      error.message,
      error.statusCode === 400 ? [{ field: '', message: error.message }] : undefined,
    )
  }
  if (isNodeError(error)) {
    log.warn({ error: describeNodeError(error) }, 'the node did not answer a request')
    return new WalletError(503, 'The node of the network does not answer; try again')
  }
  if (error instanceof AuthorityUnavailableError) {
    log.error({ error: error.message }, 'nothing is signed for a protected client')
    return new WalletError(503, 'The authority of the vault cannot be read; an operator must restore its file')
  }
  if (isDatabaseDown(error)) {
    log.warn({ error: error.message }, 'the database did not answer a request')
    return new WalletError(503, 'The database does not answer; try again')
  }
  log.error({ err: error }, 'request failed')
  return new WalletError(500, 'Unexpected error')
}

type Validation = NonNullable<FastifyError['validation']>[number]

/** Turns Ajv's JSON pointer into a dotted path and names the field that is missing or unknown. */
function toFieldFault({ instancePath, keyword, params, message }: Validation): FieldFault {
  const extra =
    keyword === 'required'
      ? params.missingProperty
      : keyword === 'additionalProperties'
        ? params.additionalProperty
        : undefined
  const field = [...instancePath.split('/').slice(1), ...(extra === undefined ? [] : [String(extra)])].join('.')
  if (keyword === 'additionalProperties') return { field, message: 'is not a field of the protocol' }
  if (keyword === 'required') return { field, message: 'is required' }
  return { field, message: message ?? 'is not valid' }
}
