import { createStrongroom, type Strongroom, StrongroomError, type VaultClient } from '@strongroom/sdk'
import { sayRulesWait } from './rules-waiting.ts'

/** The service that this page came from; the cookie of the session is sent along by the browser. */
export const strongroom: Strongroom = createStrongroom({
  baseUrl: window.location.origin,
  fetch: fetchOrSignIn,
  confirm: async (call) =>
    (await import('./authenticator.ts')).confirmCall(call, await strongroom.me.prepareConfirmation(call as Confirmed)),
})

type Confirmed = Parameters<Strongroom['me']['prepareConfirmation']>[0]

const vaults = new Map<string, VaultClient>()

/** The client of a vault: one object per code. */
export function vaultOf(code: string): VaultClient {
  const known = vaults.get(code)
  if (known !== undefined) return known
  const vault = strongroom.vault(code)
  vaults.set(code, vault)
  return vault
}

/** A session that has ended leads to the sign-in and back to the page that is open. */
async function fetchOrSignIn(request: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  if (request instanceof Request) sayJson(request)
  const response = await fetch(request, init)
  if (response.status === 401) signIn()
  if (response.status === 202) await noteWaiting(response.clone())
  return response
}

/** Each page that changes the rules would have to look at the answer otherwise, and in a vault with governance all of them wait. */
async function noteWaiting(response: Response): Promise<void> {
  const { request } = (await response.json()) as { request?: { id: string; action: string } }
  if (request?.action === 'rules_change') sayRulesWait(request.id)
}

/** With the session cookie the service takes writes as JSON only, those without a body too: no form of another page can send them. */
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
