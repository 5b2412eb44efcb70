/** One fault of a request: a dotted path into it and what is wrong there. */
export type FieldFault = { field: string; message: string }

export const statusNames: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
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
  details?: FieldFault[] | string
  requestId?: string
}

type ErrorOptions = {
  details?: FieldFault[] | string
  code?: string
  headers?: Record<string, string>
  cause?: unknown
}

/** The one error class of the service: an HTTP status with what the caller may know (contract 1.7). */
export class AppError extends Error {
  readonly status: number
  readonly details: FieldFault[] | string | undefined
  readonly code: string | undefined
  readonly headers: Record<string, string>

  constructor(status: number, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'AppError'
    this.status = status
    this.details = options.details
    this.code = options.code
    this.headers = options.headers ?? {}
  }
}

/** The specified body of an error; only a 5xx names the request, so that it can be found in the log. */
export function toErrorBody(error: AppError, requestId: string): ErrorBody {
  return {
    error: statusNames[error.status] ?? 'Error',
    message: error.message,
    code: error.code ?? error.status,
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.status >= 500 ? { requestId } : {}),
  }
}

export function badRequest(field: string, message: string): AppError {
  return new AppError(400, `${field}: ${message}`, { details: [{ field, message }] })
}

export function faulty(faults: FieldFault[]): AppError {
  const first = faults[0]
  return new AppError(400, first === undefined ? 'The request is not valid' : `${first.field}: ${first.message}`, {
    details: faults,
  })
}

export function unauthorized(message = 'A valid token or session is required'): AppError {
  return new AppError(401, message)
}

export function forbidden(message: string): AppError {
  return new AppError(403, message)
}

export function notFound(noun: string): AppError {
  return new AppError(404, `${noun} not found`)
}

export function conflict(message: string, details: string = message): AppError {
  return new AppError(409, message, { details })
}

export function badGateway(message: string, cause?: unknown): AppError {
  return new AppError(502, message, { cause })
}

export function unavailable(message: string, retryAfterSeconds: number): AppError {
  return new AppError(503, message, { headers: { 'retry-after': String(retryAfterSeconds) } })
}
