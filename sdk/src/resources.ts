import createClient from 'openapi-fetch'
import { type CallOptions, type ClientOptions, rootOf } from './calls.ts'
import { StrongroomError } from './errors.ts'
import { fileOf } from './files.ts'
import { type Page, pagesOf } from './pages.ts'
import { retriesDefault, send, timeoutMsDefault } from './send.ts'

type Takes = '' | 'body' | 'query' | 'body query'
type Gives = 'pages' | 'outcome' | 'report' | 'file' | 'text'
type Row = readonly [verb: string, path: string, takes?: Takes, gives?: Gives]
/** The operations of openapi.json by resource and method. */
export type Table = Readonly<Record<string, Readonly<Record<string, Row>>>>

type Query = Record<string, unknown> | undefined
type Sent = {
  params: { path: Record<string, string>; query: Query }
  body: unknown
  parseAs: 'json' | 'stream' | 'text'
}
type Answer = { data?: unknown; error?: unknown; response: Response }
export type Call = (verb: string, path: string, sent: Sent, options: CallOptions) => Promise<Answer>

/** Returns a function that sends requests by openapi-fetch, which writes the URLs and reads the answers. */
export function createCall({ baseUrl, token, ...common }: ClientOptions): Call {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  // The types of the paths would cost the compiler of every program seconds. The methods have their own types.
  const client = createClient({ baseUrl: rootOf(baseUrl), headers }) as unknown as {
    request(verb: string, path: string, init: object): Promise<Answer>
  }
  const call: Call = async (verb, path, sent, options) => {
    const { signal, idempotencyKey, passkeyAssertion, timeoutMs, retries } = options
    const sending = {
      fetch: common.fetch ?? globalThis.fetch,
      timeoutMs: timeoutMs ?? common.timeoutMs ?? timeoutMsDefault,
      retries: retries ?? common.retries ?? retriesDefault,
    }
    const file = sent.body instanceof Blob ? sent.body : null
    if (file !== null && file.type === '') throw new TypeError('The Blob must say its media type')
    let url = ''
    const answer = await client.request(verb, path, {
      ...sent,
      ...(signal === undefined ? {} : { signal }),
      headers: {
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        ...(passkeyAssertion === undefined ? {} : { 'Passkey-Assertion': toHeader(passkeyAssertion) }),
        ...(file === null ? {} : { 'Content-Type': file.type }),
      },
      ...(file === null ? {} : { bodySerializer: () => file }),
      fetch: (request: Request) => {
        url = request.url
        return send(request, sending)
      },
    })
    if (answer.response.ok) return answer
    const error = new StrongroomError(answer.response, answer.error)
    if (error.reason !== 'passkey_required' || passkeyAssertion !== undefined || !common.confirm) throw error
    // The time that the person takes does not count as time of the call.
    const bodyHash = await hashOf(sent.body ?? {})
    const confirmed = await common.confirm({ method: verb.toUpperCase(), path: new URL(url).pathname, bodyHash })
    return call(verb, path, sent, { ...options, passkeyAssertion: confirmed })
  }
  return call
}

/** Returns the SHA-256 of the canonical JSON of a body, in hexadecimal digits, which a passkey confirms. */
async function hashOf(body: unknown): Promise<string> {
  const text = new TextEncoder().encode(canonical(JSON.parse(JSON.stringify(body))))
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', text))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Returns the canonical form of RFC 8785. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}

/** Encodes an assertion for a header. The answers of authenticators are ASCII. */
const toHeader = (assertion: object): string =>
  btoa(JSON.stringify(assertion)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')

/** Creates the resources of a table. The generated interfaces describe their methods. */
export function createResources(table: Table, call: Call, bound: Record<string, string>): object {
  const resources: Record<string, object> = {}
  for (const [name, rows] of Object.entries(table)) {
    const methods = Object.fromEntries(
      Object.entries(rows).map(([method, row]) => [method, createMethod(row, call, bound)]),
    )
    // The methods without a resource are those of the vault itself.
    Object.assign(resources, name === '' ? methods : { [name]: methods })
  }
  return resources
}

function createMethod([verb, template, takes = '', gives]: Row, call: Call, bound: Record<string, string>) {
  const free = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).filter((name) => !(name in bound))
  return (...args: unknown[]) => {
    const path = { ...bound, ...Object.fromEntries(free.map((name) => [name, segmentOf(name, args.shift())])) }
    const body = takes.startsWith('body') ? (args.shift() ?? {}) : undefined
    const query = takes.endsWith('query') ? (args.shift() as Query) : undefined
    const options = (args.shift() ?? {}) as CallOptions
    const isFile = gives === 'file' || (gives === 'report' && choosesFile(query ?? body))
    const parseAs = isFile ? 'stream' : gives === 'text' ? 'text' : 'json'
    const send = (more: Query) =>
      call(verb, template, { params: { path, query: { ...query, ...more } }, body, parseAs }, options)
    if (gives === 'pages') {
      return pagesOf(async (cursor) => {
        const { data } = await send(cursor === undefined ? {} : { cursor })
        return data as Page<unknown>
      })
    }
    return send({}).then(({ data, response }) => {
      if (isFile) return fileOf(new Response(data as ReadableStream | null, response))
      return gives === 'outcome' ? outcomeOf(data, response.status) : data
    })
  }
}

/**
 * Returns an identifier as a segment of a URL. An empty identifier, or one of dots, would make the URL that of another
 * operation.
 */
function segmentOf(name: string, value: unknown): string {
  // Versions have numbers as identifiers.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name} must be an identifier`)
  return value
}

function choosesFile(body: unknown): boolean {
  const { format } = (body ?? {}) as { format?: string }
  return format !== undefined && format !== 'json'
}

function outcomeOf(data: unknown, status: number) {
  if (status !== 202) return { value: data, pendingApproval: null }
  const { request = data } = data as { request?: unknown }
  return { value: null, pendingApproval: request }
}
