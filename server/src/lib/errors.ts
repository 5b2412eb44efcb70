import { type Reason, type ReasonOf, reasons } from './reasons.ts'

/** A fault of a request: the dotted path of a field, and its problem; in a list also the number of the line, from 1. */
export type FieldFault = { field: string; message: string; line?: number }

export const statusNames: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
}

export type ErrorBody = {
  error: string
  message: string
  code: number | string
  reason: Reason
  details?: FieldFault[] | string
  requestId: string
}

type ErrorOptions = {
  details?: FieldFault[] | string
  code?: string
  headers?: Record<string, string>
  cause?: unknown
}

/**
 * The only error class of the service: a reason, which decides the HTTP status, and the details that the caller may know
 * (contract 1.7).
 */
export class AppError extends Error {
  readonly reason: Reason
  readonly status: number
  readonly details: FieldFault[] | string | undefined
  readonly code: string | undefined
  readonly headers: Record<string, string>

  constructor(reason: Reason, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'AppError'
    this.reason = reason
    this.status = reasons[reason]
    this.details = options.details
    this.code = options.code
    this.headers = options.headers ?? {}
  }
}

/** Returns the documented body of an error. The log of the service has the request under the same id. */
export function toErrorBody(error: AppError, requestId: string): ErrorBody {
  return {
    error: statusNames[error.status] ?? 'Error',
    message: error.message,
    code: error.code ?? error.status,
    reason: error.reason,
    ...(error.details === undefined ? {} : { details: error.details }),
    requestId,
  }
}

export function badRequest(field: string, message: string, reason: ReasonOf<400> = 'validation_failed'): AppError {
  return new AppError(reason, `${field}: ${message}`, { details: [{ field, message }] })
}

export function faulty(faults: FieldFault[]): AppError {
  const first = faults[0]
  const message = first === undefined ? 'The request is not valid' : `${first.field}: ${first.message}`
  return new AppError('validation_failed', message, { details: faults })
}

export function unauthorized(reason: ReasonOf<401>, message: string): AppError {
  const challenge = challenges[reason]
  return new AppError(reason, message, challenge === undefined ? {} : { headers: { 'www-authenticate': challenge } })
}

/**
 * The challenges of WWW-Authenticate by reason. RFC 6750, 3: no error code for a request without credentials. For other reasons
 * a Bearer token would not help.
 */
const challenges: Partial<Record<Reason, string>> = {
  authentication_required: 'Bearer realm="strongroom"',
  malformed_authorization: 'Bearer realm="strongroom", error="invalid_request"',
  invalid_token: 'Bearer realm="strongroom", error="invalid_token"',
}

export function forbidden(reason: ReasonOf<403>, message: string): AppError {
  return new AppError(reason, message)
}

/** Returns a 404. All nouns have one reason, so that the answer does not reveal whether a hidden object exists. */
export function notFound(noun: string): AppError {
  return new AppError('not_found', `${noun} not found`)
}

export function conflict(reason: ReasonOf<409>, message: string, details: string = message): AppError {
  return new AppError(reason, message, { details })
}

/** A reason against an action. A decision collects objections, and the caller is refused for the first one. */
export type Objection<R extends Reason = Reason> = { reason: R; message: string; details?: string | undefined }

/** Returns the error of an objection. */
export const refusalFor = ({ reason, message, details = message }: Objection): AppError =>
  new AppError(reason, message, reasons[reason] === 409 ? { details } : {})

export function tooManyRequests(reason: ReasonOf<429>, message: string, retryAfterSeconds: number): AppError {
  return new AppError(reason, message, { headers: { 'retry-after': String(retryAfterSeconds) } })
}

export function badGateway(message: string, cause?: unknown): AppError {
  return new AppError('wallet_service_failed', message, { cause })
}

export function unavailable(reason: ReasonOf<503>, message: string, retryAfterSeconds: number): AppError {
  return new AppError(reason, message, { headers: { 'retry-after': String(retryAfterSeconds) } })
}
