import type { ErrorBody, ErrorReason } from './generated/api.ts'

/**
 * The service refused a request. Branch on `reason` or `status`; `requestId` finds the request in the log of the
 * service.
 */
export class StrongroomError extends Error {
  override readonly name = 'StrongroomError'
  readonly status: number
  /** The reason of the refusal, for programs; null if the answer names no reason. */
  readonly reason: ErrorReason | null
  readonly requestId: string | null
  /** The whole answer; null if it is not an answer of the service, for example the page of a proxy. */
  readonly body: ErrorBody | null
  /** The seconds after which the service asks to be tried again. */
  readonly retryAfterSeconds: number | null

  constructor(response: Response, error: unknown) {
    const body = isErrorBody(error) ? error : null
    super(body?.message ?? `The service answered ${response.status}`)
    this.status = response.status
    this.body = body
    this.reason = (body as { reason?: ErrorReason } | null)?.reason ?? null
    this.requestId = body?.requestId ?? response.headers.get('x-request-id')
    this.retryAfterSeconds = retryAfterSecondsOf(response)
  }
}

/**
 * No complete answer arrived, so it is unknown whether the service carried out the request. A write can be repeated
 * with the same `idempotencyKey` and is then carried out at most once.
 */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
  }
}

/** The answer took longer than `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError'
  readonly timeoutMs: number

  constructor(timeoutMs: number, what = 'The service did not answer') {
    super(`${what} within ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

/** @returns the seconds of the header `Retry-After`, which holds a number or a date; null without the header */
export function retryAfterSecondsOf({ headers }: Response): number | null {
  const text = headers.get('retry-after')
  if (text === null) return null
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

function isErrorBody(error: unknown): error is ErrorBody {
  return typeof error === 'object' && error !== null && 'message' in error && 'code' in error
}
