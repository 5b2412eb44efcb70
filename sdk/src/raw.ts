import createClient, { type Client } from 'openapi-fetch'
import { type ClientOptions, rootOf } from './calls.ts'
import { StrongroomError } from './errors.ts'
import type { paths } from './generated/paths.ts'
import { retriesDefault, send, timeoutMsDefault } from './send.ts'

export type { ClientOptions } from './calls.ts'
export { ConnectionError, StrongroomError, TimeoutError } from './errors.ts'
export type { paths } from './generated/paths.ts'

export type RawClient = Client<paths>

/**
 * Creates a client with the operations by verb and path, as openapi-fetch offers them, with the time-outs and retries
 * of this package. Its methods resolve with `{ data, error, response }`; `take` returns the data or throws a
 * StrongroomError.
 *
 * const raw = createRawClient({ baseUrl, token })
 * const { items } = take(await raw.GET('/api/v1/vaults'))
 */
export function createRawClient({ baseUrl, token, ...options }: ClientOptions): RawClient {
  const { fetch = globalThis.fetch, timeoutMs = timeoutMsDefault, retries = retriesDefault } = options
  return createClient<paths>({
    baseUrl: rootOf(baseUrl),
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    fetch: (request) => send(request, { fetch, timeoutMs, retries }),
  })
}

/**
 * Returns the data of a successful answer; undefined for an answer without a body.
 *
 * @throws StrongroomError
 */
export function take<Data>({ data, error, response }: { data?: Data; error?: unknown; response: Response }): Data {
  if (!response.ok) throw new StrongroomError(response, error)
  return data as Data
}
