import { createStrongroom, type Strongroom, StrongroomError, type VaultClient } from '@strongroom/sdk'
import { sayRulesWait } from './rules-waiting.ts'

/** The client of the service that this page came from. The browser sends the cookie of the session. */
export const strongroom: Strongroom = createStrongroom({
  baseUrl: window.location.origin,
  fetch: fetchOrSignIn,
  confirm: async (call) =>
    (await import('./authenticator.ts')).confirmCall(call, await strongroom.me.prepareConfirmation(call as Confirmed)),
})

type Confirmed = Parameters<Strongroom['me']['prepareConfirmation']>[0]

const vaults = new Map<string, VaultClient>()

/** Returns the client of a vault: one object per code. */
export function vaultOf(code: string): VaultClient {
  const known = vaults.get(code)
  if (known !== undefined) return known
  const vault = strongroom.vault(code)
  vaults.set(code, vault)
  return vault
}

/** Sends a request. A session that has ended leads to the sign-in, and then back to the open page. */
async function fetchOrSignIn(request: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  if (request instanceof Request) sayJson(request)
  const response = await fetch(request, init)
  if (response.status === 401) signIn()
  if (response.status === 202) await noteWaiting(response.clone())
  return response
}

/**
 * Announces a change of rules that waits for votes. It is noted here for all pages, because in a vault with governance
 * every such change waits.
 */
async function noteWaiting(response: Response): Promise<void> {
  const { request } = (await response.json()) as { request?: { id: string; action: string } }
  if (request?.action === 'rules_change') sayRulesWait(request.id)
}

/**
 * Sets the content type of writes, including those without a body. With the session cookie the service takes writes as
 * JSON only, which no form of another page can send.
 */
function sayJson({ method, headers }: Request): void {
  const isWrite = method === 'POST' || method === 'PUT' || method === 'PATCH'
  if (isWrite && !headers.has('content-type')) headers.set('content-type', 'application/json')
}

export function signIn(): void {
  const { pathname, search } = window.location
  window.location.assign(`/sign-in?redirectTo=${encodeURIComponent(pathname + search)}`)
}

export function isNotFound(error: unknown): boolean {
  return error instanceof StrongroomError && error.status === 404
}
