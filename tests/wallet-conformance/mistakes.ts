import type { Call, Fault, Reply } from './stand.ts'

/** The building blocks of deliberate mistakes: answers and changes of a relay in front of a wallet service. */

export type Which = (call: Call) => boolean
export type Body = Record<string, unknown>

/** The body as an object. A body that is not JSON gives an empty object. */
export function bodyOf({ body }: { body: string }): Body {
  try {
    return Object(JSON.parse(body)) as Body
  } catch {
    return {}
  }
}

export function jsonReply(status: number, body: unknown): Reply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

export function answerWith(which: Which, status: number, body: unknown = {}): Fault {
  return async (call, forward) => (which(call) ? jsonReply(status, body) : await forward())
}

/** Changes the JSON of an answer with this status, or of a successful answer. */
export function edit(which: Which, change: (body: Body, call: Call) => unknown, status?: number): Fault {
  return async (call, forward) => {
    const answer = await forward()
    const isMeant = which(call) && (status === undefined ? answer.status < 300 : answer.status === status)
    return isMeant ? { ...answer, body: JSON.stringify(change(bodyOf(answer), call)) } : answer
  }
}

/** Answers as if a request that is refused for its signatures had been accepted. */
export function permit(which: Which): Fault {
  return async (call, forward) => {
    const answer = await forward()
    return which(call) && answer.status === 403 ? jsonReply(200, {}) : answer
  }
}

/** Changes a request before the reference wallet receives it. */
export function rewrite(which: Which, change: (call: Call) => Partial<Call>): Fault {
  return async (call, forward) => await forward(which(call) ? change(call) : {})
}

/** Changes members of the body of a request; undefined removes a member. */
export function rewriteBody(which: Which, change: (body: Body) => Body): Fault {
  return rewrite(which, (call) => ({ body: JSON.stringify({ ...bodyOf(call), ...change(bodyOf(call)) }) }))
}

/** Applies the fault to the requests of one check only, where the mistake would show in several. */
export function during(check: string, fault: Fault): Fault {
  return async (call, forward) =>
    String(call.headers['user-agent']).includes(`(${check})`) ? await fault(call, forward) : await forward()
}

export const is =
  (method: string, path: RegExp): Which =>
  (call) =>
    call.method === method && path.test(call.path)

export const authorize = (call: Call, secret: string | null) => {
  const { authorization: _, ...headers } = call.headers
  return { headers: secret === null ? headers : { ...headers, authorization: `Bearer ${secret}` } }
}
