import { nodeTimeoutMilliseconds } from '../../limits.ts'
import { NodeError } from '../node-error.ts'

/**
 * Calls of a node. No answer, or an answer that is not of the protocol, is an outage: nobody knows what happened. A refusal is an
 * answer.
 */
export type Rpc = { call(method: string, parameters?: unknown[]): Promise<unknown> }

export class NodeOutage extends NodeError {}

/** The node refused a call. `code` is null if its answer had none. */
export class NodeRefusal extends NodeError {
  readonly code: number | null

  constructor(code: number | null, message: string) {
    super(message)
    this.code = code
  }
}

/** A block of four million units of weight has about 20 MB of JSON. */
const answerBytesMax = 64 * 1024 * 1024

type RpcOptions = { url: string; timeoutMilliseconds?: number; bytesMax?: number }

export function openRpc({
  url,
  timeoutMilliseconds = nodeTimeoutMilliseconds,
  bytesMax = answerBytesMax,
}: RpcOptions): Rpc {
  const { origin, pathname, search, username, password } = new URL(url)
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (username !== '') {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  }
  let calls = 0

  async function call(method: string, parameters: unknown[] = []): Promise<unknown> {
    calls += 1
    const id = calls
    const body = JSON.stringify({ jsonrpc: '1.0', id, method, params: parameters })
    const signal = AbortSignal.timeout(timeoutMilliseconds)
    let text: string
    let status: number
    try {
      const response = await fetch(`${origin}${pathname}${search}`, {
        method: 'POST',
        headers,
        body,
        signal,
        redirect: 'error',
      })
      status = response.status
      text = await readUpTo(response, bytesMax)
    } catch (error) {
      if (error instanceof NodeOutage) throw error
      // The library's own message has the URL, in which there may be a key.
      throw new NodeOutage(signal.aborted ? 'the node did not answer in time' : 'the node cannot be reached')
    }
    return resultOf(text, { id, status })
  }

  return { call }
}

async function readUpTo(response: Response, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    length += part.length
    if (length > bytesMax) throw new NodeOutage(`the node answered more than ${bytesMax} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Nodes answer a refusal with a body and the status 500, 404 or 200; a refusal of the credentials has no body. */
function resultOf(text: string, { id, status }: { id: number; status: number }): unknown {
  const answer = readJson(text)
  if (!isRecord(answer)) throw new NodeOutage(`the node answered ${status} without JSON`)
  const { result, error } = answer
  if (error !== undefined && error !== null) throw refusalOf(error)
  if (status !== 200 || result === undefined) throw new NodeOutage(`the node answered ${status} without a result`)
  if (answer.id !== id) throw new NodeOutage('the node answered another call')
  return result
}

function refusalOf(error: unknown): NodeRefusal {
  if (!isRecord(error)) return new NodeRefusal(null, sentenceOf(error))
  const code = typeof error.code === 'number' && Number.isSafeInteger(error.code) ? error.code : null
  return new NodeRefusal(code, sentenceOf(error.message))
}

/** Control characters are left out, because the sentence goes to logs and to reasons that people read. */
function sentenceOf(value: unknown): string {
  const text = typeof value === 'string' ? value.replace(/[^\x20-\x7e]+/g, ' ').trim() : ''
  return text === '' ? 'the node refused without a reason' : text.slice(0, 300)
}

/**
 * Reads JSON. A number with a fraction, an exponent or more than 15 digits becomes the text that the node wrote, because a
 * number of this language would be another amount. Returns undefined for anything else than JSON.
 */
export function readJson(text: string): unknown {
  const exact = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') || /^-?\d{1,15}$/.test(token) || !numberForm.test(token) ? token : `"${token}"`,
  )
  try {
    return JSON.parse(exact)
  } catch {
    return undefined
  }
}

/** A number as JSON has it. */
const numberForm = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,3})?$/
/** All networks of this family divide their coin by 10^8. */
const decimals = 8
/** No network of this family has more units than 2^63. */
const unitsMax = 2n ** 63n - 1n

/**
 * Returns the amount of coins that JSON had as a number, in units; null if it is not an amount. The rule is exact: the digits are
 * moved, and a number with a fraction of a unit is not an amount.
 */
export function amountOf(value: unknown): bigint | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || text.length > 40) return null
  const parts = /^(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text)
  if (parts === null) return null
  const [, whole = '', fraction = '', exponent = '0'] = parts
  const shift = decimals + Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  if (shift >= 0) return limited(digits * 10n ** BigInt(shift))
  const divisor = 10n ** BigInt(-shift)
  return digits % divisor === 0n ? limited(digits / divisor) : null
}

const limited = (units: bigint): bigint | null => (units > unitsMax ? null : units)

/** Returns a whole number from 0 on that is exact, such as a height or the position of an output; null for anything else. */
export function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** Returns a hash of 64 hex digits in lower case, null for anything else. */
export function hashOf(value: unknown): string | null {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? value : null
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
