import { ConnectionError, retryAfterSecondsOf, TimeoutError } from './errors.ts'

type Fetch = (request: Request, init: RequestInit) => Promise<Response>
export type Sending = { fetch: Fetch; timeoutMs: number; retries: number }

export const timeoutMsDefault = 30_000
export const retriesDefault = 2
const backoffMs = 500
const backoffMsMax = 8_000

/**
 * Sends a request until it is answered. It is sent again after 429, 503 and faults of the connection, at most `retries`
 * times, and all within `timeoutMs`. Repeating a write is safe because all its attempts carry the same Idempotency-Key.
 *
 * @throws ConnectionError, TimeoutError, or the reason of the request's signal
 */
export async function send(request: Request, { fetch, timeoutMs, retries }: Sending): Promise<Response> {
  const clock = startClock(timeoutMs)
  const signal = AbortSignal.any([request.signal, clock.signal])
  const isWrite = request.method !== 'GET' && request.method !== 'HEAD'
  if (isWrite && !request.headers.has('idempotency-key')) request.headers.set('idempotency-key', crypto.randomUUID())
  let isOutcomeUnknown = false
  try {
    for (let attempt = 0; ; attempt += 1) {
      const answer = await attemptOf(request, signal, clock, fetch)
      if (answer instanceof Response && !mayRepeat(answer, isOutcomeUnknown)) return answer
      const waitMs = waitMsOf(answer, attempt)
      if (attempt >= retries || waitMs >= clock.leftMs()) {
        if (answer instanceof Response) return answer
        throw answer
      }
      isOutcomeUnknown ||= answer instanceof ConnectionError
      await wait(waitMs, signal)
    }
  } finally {
    clock.stop()
  }
}

/** Waits, or throws the reason of the signal. */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

type Clock = { timeoutMs: number; signal: AbortSignal; leftMs(): number; strike(): void; stop(): void }

/** Aborts its signal with a TimeoutError unless it is stopped in time. */
function startClock(timeoutMs: number): Clock {
  const controller = new AbortController()
  const until = performance.now() + timeoutMs
  const strike = () => controller.abort(new TimeoutError(timeoutMs))
  const timer = setTimeout(strike, timeoutMs)
  return {
    timeoutMs,
    signal: controller.signal,
    leftMs: () => until - performance.now(),
    strike,
    stop: () => clearTimeout(timer),
  }
}

/** Makes one attempt. Returns an answer, or the fault of the connection. */
async function attemptOf(
  request: Request,
  signal: AbortSignal,
  clock: Clock,
  fetch: Fetch,
): Promise<Response | ConnectionError> {
  try {
    const response = await fetch(request.clone() as Request, { signal })
    return isFile(response) ? guardBody(response, signal, clock) : await readWhole(response)
  } catch (error) {
    // The caller ended the call, or its time is over. In both cases it is not repeated.
    if (signal.aborted) throw signal.reason
    return faultOf(error)
  }
}

/**
 * Returns true if the request may be repeated. A repetition whose first attempt got no answer is refused with 409 while
 * the service still works on the first. The service answers every other 409 the same again, so that repeating it does
 * no harm.
 */
function mayRepeat({ status }: Response, isOutcomeUnknown: boolean): boolean {
  return status === 429 || status === 503 || (status === 409 && isOutcomeUnknown)
}

function waitMsOf(answer: Response | ConnectionError, attempt: number): number {
  const backoff = Math.min(backoffMs * 2 ** attempt, backoffMsMax)
  const retryAfter = answer instanceof Response ? retryAfterSecondsOf(answer) : null
  // Clients that were refused at the same time must not come back at the same time.
  if (retryAfter === null) return backoff * (0.5 + Math.random() / 2)
  return retryAfter * 1000 + Math.random() * backoffMs
}

function isFile({ ok, status, headers }: Response): boolean {
  return ok && status !== 204 && !(headers.get('content-type') ?? '').startsWith('application/json')
}

/** Reads the body within the attempt, so that a body that breaks off is a fault of the connection. */
async function readWhole(response: Response): Promise<Response> {
  const text = await response.text()
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  // These headers describe the bytes on the wire, which are unpacked by now.
  headers.delete('content-encoding')
  headers.delete('content-length')
  return new Response(text === '' ? null : text, { status, statusText, headers })
}

/**
 * Guards the body of a file, which is read as it arrives. Each part of it, and not the whole, must arrive within the
 * time-out.
 */
function guardBody(response: Response, signal: AbortSignal, clock: Clock): Response {
  const reader = response.body?.getReader()
  if (reader === undefined) return response
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const timer = setTimeout(clock.strike, clock.timeoutMs)
      try {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        throw signal.aborted ? signal.reason : faultOf(error)
      } finally {
        clearTimeout(timer)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}

function faultOf(error: unknown): ConnectionError {
  const { message, cause } = error as Error
  // In Node.js the error says "fetch failed", and its cause says why.
  const detail = cause instanceof Error && cause.message !== '' ? cause.message : message
  return new ConnectionError(`The service could not be reached: ${detail}`, { cause: error })
}
