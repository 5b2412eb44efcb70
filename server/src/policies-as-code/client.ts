import { randomUUID } from 'node:crypto'
import { plain } from './words.ts'

const requestMilliseconds = 60_000
const pagesMax = 100

/** The API of a vault, as the commands use it. */
export type Api = {
  get<Body>(path: string): Promise<Body>
  post<Body>(path: string, body?: object): Promise<{ status: number; body: Body }>
  /** Returns all items of a list. */
  all<Item>(path: string): Promise<Item[]>
}

type Environment = { STRONGROOM_URL?: string | undefined; STRONGROOM_TOKEN?: string | undefined }

/** @throws when the settings are missing, or would send the token in the clear */
export function openApi({ STRONGROOM_URL: url, STRONGROOM_TOKEN: token }: Environment): Api {
  if (!url) throw new Error('STRONGROOM_URL is not set: the address of the service, such as https://vault.example.org')
  if (!token) throw new Error('STRONGROOM_TOKEN is not set: a service token of the vault')
  const base = baseOf(url)
  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(method === 'GET' ? {} : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
      // The token is for this service only, so a redirect to another service is an error.
      redirect: 'error',
      signal: AbortSignal.timeout(requestMilliseconds),
    }).catch((error: Error) => {
      throw new Error(`${base} cannot be reached: ${plain(causeOf(error))}`)
    })
    const answer: unknown = await response.json().catch(() => null)
    if (!response.ok) throw new Error(describe(method, path, response.status, answer))
    return { status: response.status, body: answer }
  }
  const get = async <Body>(path: string) => (await send('GET', path)).body as Body
  return {
    get,
    post: async <Body>(path: string, body?: object) => {
      const answer = await send('POST', path, body)
      return { status: answer.status, body: answer.body as Body }
    },
    async all<Item>(path: string) {
      const items: Item[] = []
      let cursor: string | null = null
      for (let page = 0; page < pagesMax; page += 1) {
        const query = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
        const answer: { items: Item[]; nextCursor: string | null } = await get(`${path}?limit=100${query}`)
        items.push(...answer.items)
        cursor = answer.nextCursor
        if (cursor === null) return items
      }
      throw new Error(`${path} has more than ${pagesMax * 100} items`)
    },
  }
}

const loopback = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/

function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new Error('STRONGROOM_URL is not an address such as https://vault.example.org')
  }
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname))
  if (!isSafe) throw new Error('STRONGROOM_URL must begin with https://, so that nobody on the way reads the token')
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`
}

function causeOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error
    ? cause.message || (cause as NodeJS.ErrnoException).code || error.message
    : error.message
}

type ErrorBody = { reason?: string; message?: string; details?: unknown }

function describe(method: string, path: string, status: number, answer: unknown): string {
  const { reason = '', message = '', details } = (answer ?? {}) as ErrorBody
  const more = Array.isArray(details)
    ? details.map(({ field, message: text }) => `${field}: ${text}`).join('; ')
    : typeof details === 'string'
      ? details
      : ''
  const sentence = [reason, message, more].filter((text) => text !== '').join(': ')
  return plain(`${method} ${path} was answered ${status}${sentence === '' ? '' : ` ${sentence}`}`)
}
