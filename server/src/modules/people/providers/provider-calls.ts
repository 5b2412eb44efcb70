import { type Dispatcher, request } from 'undici'
import type { Config } from '../../../config/config.ts'
import { providerAnswerBytesMax, providerCallTimeoutMilliseconds } from '../../../lib/limits.ts'
import { createGuardedDispatcher } from '../../../outbound/guarded-connect.ts'
import { readWithin } from '../../../outbound/read-within.ts'

type Reach = Pick<Config, 'identityAllowedHosts' | 'demo'>
type Options = { method?: string; headers?: Record<string, string>; body?: unknown; signal?: AbortSignal | undefined }

export type ProviderFetch = (url: string, options: Options) => Promise<Response>

const dispatchers = new Map<string, Dispatcher>()

/**
 * Returns the `fetch` for calls of identity providers. It connects only to public addresses and to hosts that the operator named,
 * follows no redirects, and limits the time and size of answers.
 */
export function providerFetch(reach: Reach): ProviderFetch {
  const dispatcher = dispatcherOf(reach)
  return async (url, { method = 'GET', headers, body, signal }) => {
    const deadline = AbortSignal.timeout(providerCallTimeoutMilliseconds)
    const answer = await request(url, {
      dispatcher,
      method: method as Dispatcher.HttpMethod,
      headers: headers ?? {},
      body: body === undefined || body === null ? null : String(body),
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    })
    const bytes = await readWithin(answer.body, providerAnswerBytesMax)
    const isEmpty = [101, 204, 205, 304].includes(answer.statusCode)
    return new Response(isEmpty ? null : new Uint8Array(bytes), {
      status: answer.statusCode,
      headers: headersOf(answer.headers),
    })
  }
}

function headersOf(received: Dispatcher.ResponseData['headers']): [string, string][] {
  return Object.entries(received).flatMap(([name, value]) => {
    // The body was already read as bytes, so that headers about its encoding and length no longer apply.
    if (value === undefined || ['content-encoding', 'content-length', 'transfer-encoding'].includes(name)) return []
    return [value].flat().map((text): [string, string] => [name, text])
  })
}

function dispatcherOf({ identityAllowedHosts, demo }: Reach): Dispatcher {
  const key = JSON.stringify([identityAllowedHosts, demo])
  const known = dispatchers.get(key)
  if (known !== undefined) return known
  const dispatcher = createGuardedDispatcher({
    allowedHosts: identityAllowedHosts,
    allowsLoopback: demo,
    connectTimeoutMilliseconds: providerCallTimeoutMilliseconds / 2,
    setting: 'IDENTITY_ALLOWED_HOSTS',
  })
  dispatchers.set(key, dispatcher)
  return dispatcher
}
