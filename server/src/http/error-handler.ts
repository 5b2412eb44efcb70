import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { OutcomeUnknownError } from '../db/lost-commit.ts'
import { sqlStateOf } from '../db/transaction.ts'
import { WritesHaltedError } from '../db/write-gate.ts'
import { countLines } from '../lib/counted-line.ts'
import { AppError, badRequest, faulty, toErrorBody, unavailable } from '../lib/errors.ts'
import type { Reason } from '../lib/reasons.ts'
import { StrictJsonError } from '../lib/strict-json.ts'
import { isScim, scimType, toScimError } from './scim-form.ts'
import { wrongTypeFor } from './uploads.ts'
import { ValidationError } from './validation.ts'

/**
 * Turns any thrown value into the documented error body. An unknown error is a 500 that reveals only its request id.
 * @param noteOutage logs an error of a database that cannot be reached, which all requests meet at once
 */
export function handleError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  noteOutage?: (error: unknown) => void,
): void {
  const error = isWrongType(thrown) ? wrongTypeFor(request) : toAppError(thrown)
  // An AppError is intended, and the log line of the response shows its status. A second line would only add work under load.
  if (error.status >= 500 && !(thrown instanceof AppError)) {
    if (noteOutage !== undefined && isOutage(thrown)) noteOutage(thrown)
    else request.log.error({ err: thrown, ...callerForLog(request) }, error.message)
  }
  for (const [name, value] of Object.entries(error.headers)) reply.header(name, value)
  reply
    .code(error.status)
    .type(isScim(request) ? scimType : 'application/json; charset=utf-8')
    .send(JSON.stringify(isScim(request) ? toScimError(error) : toErrorBody(error, request.id)))
}

/** The id of the caller and the code of the vault, as far as the guard has found them; nothing that a sender can choose. */
export const callerForLog = ({
  caller,
  member,
  directory,
}: Pick<FastifyRequest, 'caller' | 'member' | 'directory'>) => ({
  caller: caller?.userId ?? directory?.id,
  vault: member?.vault.code,
})

/** Returns true if the database cannot be reached, or no standby confirms its commits. */
export const isOutage = (thrown: unknown): boolean =>
  ['database_unreachable', 'outcome_unknown'].includes(toAppError(thrown).reason)

/** Creates the log of requests that fail because of the database: a line when this begins and ends, and their number meanwhile. */
export function createOutageLog(log: Pick<Logger, 'error' | 'info'>): (error: unknown) => void {
  const text = 'requests are answered 503 for want of the database'
  return countLines<unknown>({
    begun: (err) => log.error({ err }, text),
    goesOn: (requests) => log.error({ requests }, text),
    ended: (requests) => log.info({ requests }, 'requests are answered again'),
  })
}

const isWrongType = (thrown: unknown) =>
  (thrown as { code?: string } | undefined)?.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'

/** Answers a request that reaches no route and no hook, such as one with a malformed path. */
export function handleFrameworkError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  handleError(thrown, request, reply)
}

/** Answers a malformed HTTP request, or one that is too slow or has too many headers, and closes the connection. */
export function answerClientError(error: Error & { code?: string }, socket: Socket, log: Pick<Logger, 'info'>): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [reason, message] = clientErrors[error.code ?? ''] ?? ['malformed_request', 'The request is not valid HTTP']
  const refusal = new AppError(reason, message)
  const requestId = randomUUID()
  const body = toErrorBody(refusal, requestId)
  const text = JSON.stringify(body)
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${refusal.status} ${body.error}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(text)}\r\nX-Request-Id: ${requestId}\r\n` +
        `X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${text}`,
    )
  }
  socket.destroySoon()
  log.info({ requestId, status: refusal.status }, 'answered')
}

/** Connection errors of Node.js by their code, with the reason and message of the response. */
const clientErrors: Record<string, [reason: Reason, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request took too long to arrive'],
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The header fields are larger than this service accepts'],
}

/** Errors of Fastify by their code, with the reason and message of the response. */
const fastifyErrors: Record<string, [reason: Reason, message: string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body is larger than this service accepts'],
  FST_ERR_MAX_PARAM_LENGTH: ['path_too_long', 'A part of the path is too long'],
}

export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  if (thrown instanceof ValidationError) return faulty(thrown.faults)
  if (thrown instanceof StrictJsonError) return badRequest('body', thrown.message, 'malformed_body')
  if (thrown instanceof SyntaxError && (thrown as { statusCode?: number }).statusCode === 400) {
    return badRequest('body', 'is not valid JSON', 'malformed_body')
  }
  const { code = '', statusCode } = (thrown ?? {}) as FastifyError
  if (code === 'FST_ERR_BAD_URL') return badRequest('path', 'is not a valid URL path', 'malformed_request')
  const known = fastifyErrors[code]
  if (known !== undefined) return new AppError(known[0], known[1])
  if (thrown instanceof OutcomeUnknownError) return unavailable('outcome_unknown', unknownOutcome, 2)
  if (thrown instanceof WritesHaltedError)
    return unavailable(
      'database_unreachable',
      'Changes are not confirmed by a standby right now; nothing was changed',
      5,
    )
  // The server was demoted to a standby, or is read-only during maintenance.
  if (sqlStateOf(thrown) === '25006')
    return unavailable('database_unreachable', 'The database takes no changes right now', 1)
  if (isDatabaseUnreachable(thrown))
    return unavailable('database_unreachable', 'The database cannot be reached right now', 2)
  if (sqlStateOf(thrown) === '40001' || sqlStateOf(thrown) === '40P01') {
    return unavailable('too_many_conflicts', 'Too many conflicting requests; try again later', 1)
  }
  if (sqlStateOf(thrown) === '57014') return unavailable('timed_out', 'The request took too long and had no effect', 2)
  // PostgreSQL cannot store a NUL character in text.
  if (sqlStateOf(thrown) === '22021' || sqlStateOf(thrown) === '22P05')
    return badRequest('request', 'contains a character that cannot be stored')
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new AppError('malformed_request', 'The request cannot be processed')
  }
  return new AppError(
    'internal_error',
    'An unexpected error occurred; the log of the service has details under this request id',
  )
}

const unknownOutcome =
  'The database did not confirm the change, so its outcome is unknown; send the request again with the same ' +
  'Idempotency-Key, or read the resource first if the request had none'

/** Returns true for a lost or refused connection, and for a server that is out of connections, memory or disk (class 53). */
function isDatabaseUnreachable(thrown: unknown): boolean {
  const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown }
  if (
    typeof code === 'string' &&
    /^(08...|53...|57P0[1-5]|25P03|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/.test(
      code,
    )
  )
    return true
  return (
    typeof message === 'string' &&
    /connection terminated|timeout exceeded when trying to connect|not queryable/i.test(message)
  )
}
