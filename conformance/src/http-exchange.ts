import { Agent, type Dispatcher, request } from 'undici'
import { bytesReadMax, patienceMilliseconds, shownCharactersMax } from './limits.ts'
import type { Exchange } from './outcomes.ts'

export type Call = {
  method: string
  path: string
  headers: Record<string, string>
  body?: string | Buffer
}

/** The answer. `status` is 0 if the connection ended without an answer. */
export type Answer = {
  status: number
  text: string
  /** undefined when the text is not JSON. */
  json: unknown
  contentType: string
  bytes: number
  milliseconds: number
  exchange: Exchange
}

export type Redact = (text: string) => string

/** One connection pool for the run. The person who runs the kit chose the URL, so every address is permitted. */
export function openAgent(): Agent {
  return new Agent({ connections: 64, connect: { timeout: patienceMilliseconds } })
}

/** Sends one request, follows no redirect, reads a bounded answer. A broken connection is an answer with the status 0. */
export async function exchange(base: string, agent: Agent, call: Call, redact: Redact): Promise<Answer> {
  const startedAt = performance.now()
  const shownRequest = {
    method: call.method,
    path: redact(call.path),
    headers: Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name, redact(value)])),
    ...(call.body === undefined ? {} : { body: shorten(redact(call.body.toString())) }),
  }
  try {
    const response = await request(base + call.path, {
      method: call.method as Dispatcher.HttpMethod,
      headers: call.headers,
      dispatcher: agent,
      signal: AbortSignal.timeout(patienceMilliseconds),
      ...(call.body === undefined ? {} : { body: call.body }),
    })
    const { text, bytes } = await readText(response.body)
    const milliseconds = Math.round(performance.now() - startedAt)
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, redact(String(value))]),
    )
    const shown = { status: response.statusCode, headers, body: shorten(redact(text)) }
    return {
      status: response.statusCode,
      text,
      json: parse(text),
      contentType: String(response.headers['content-type'] ?? ''),
      bytes,
      milliseconds,
      exchange: { request: shownRequest, response: shown, milliseconds },
    }
  } catch (error) {
    const milliseconds = Math.round(performance.now() - startedAt)
    const fault = redact(describeFault(error, milliseconds))
    return {
      status: 0,
      text: '',
      json: undefined,
      contentType: '',
      bytes: 0,
      milliseconds,
      exchange: { request: shownRequest, response: { fault }, milliseconds },
    }
  }
}

export function shorten(text: string): string {
  if (text.length <= shownCharactersMax) return text
  return `${text.slice(0, shownCharactersMax)}… (${text.length} characters)`
}

async function readText(body: AsyncIterable<Buffer>): Promise<{ text: string; bytes: number }> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesReadMax) throw new Error(`the answer is longer than ${bytesReadMax} bytes`)
    chunks.push(chunk)
  }
  return { text: Buffer.concat(chunks).toString('utf8'), bytes }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function describeFault(error: unknown, milliseconds: number): string {
  const { name, message, code } = error as Error & { code?: string }
  if (name === 'TimeoutError' || name === 'AbortError') return `no complete answer within ${milliseconds} ms`
  return `the connection failed: ${code ?? message}`
}
