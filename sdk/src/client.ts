import createClient, { type Client } from 'openapi-fetch'
import type { components, paths } from './schema.ts'

/** The shapes on the wire by their OpenAPI names: `Schemas['Transfer']`. */
export type Schemas = components['schemas']
export type Strongroom = Client<paths>

type Options = {
  /** Origin of the service, such as https://vault.example.org. */
  baseUrl: string
  /** A session token or a service token (`srk_…`). Left out in the console, whose cookie is sent by the browser. */
  token?: string
  fetch?: typeof globalThis.fetch
}

/**
 * A typed client of the API, generated from its OpenAPI description. Its methods return `{ data, error, response }`
 * as openapi-fetch does; `take` turns that into the data or a thrown StrongroomError.
 *
 *     const strongroom = createStrongroom({ baseUrl, token })
 *     const { items } = take(await strongroom.GET('/api/v1/vaults'))
 */
export function createStrongroom({ baseUrl, token, fetch }: Options): Strongroom {
  return createClient<paths>({
    baseUrl,
    ...(token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } }),
    ...(fetch === undefined ? {} : { fetch }),
  })
}

/** An error answer of the service: its HTTP status and the body that the specification defines for errors. */
export class StrongroomError extends Error {
  readonly status: number
  readonly body: Schemas['Error'] | null

  constructor(status: number, body: Schemas['Error'] | null) {
    super(body?.message ?? `The service answered ${status}`)
    this.name = 'StrongroomError'
    this.status = status
    this.body = body
  }
}

type Result<Data> = { data?: Data; error?: unknown; response: Response }

/**
 * The data of a successful answer; undefined for one without a body.
 * @throws StrongroomError
 */
export function take<Data>({ data, error, response }: Result<Data>): Data {
  if (response.ok) return data as Data
  throw new StrongroomError(response.status, isErrorBody(error) ? error : null)
}

type Page<Item> = { items: Item[]; nextCursor: string | null }

/**
 * Every page of a list, each requested when the loop reaches it.
 *
 *     for await (const page of pages((cursor) => strongroom.GET('/api/v1/vaults', { params: { query: { cursor } } })))
 *
 * @throws StrongroomError
 */
export async function* pages<Item>(
  load: (cursor: string | undefined) => Promise<Result<Page<Item>>>,
): AsyncGenerator<Item[], void, undefined> {
  let cursor: string | undefined
  do {
    const { items, nextCursor } = take(await load(cursor))
    yield items
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
}

/** A new Idempotency-Key: send the same one again when the answer to a write was lost. */
export function newIdempotencyKey(): string {
  return globalThis.crypto.randomUUID()
}

function isErrorBody(error: unknown): error is Schemas['Error'] {
  return typeof error === 'object' && error !== null && 'message' in error && 'code' in error
}
