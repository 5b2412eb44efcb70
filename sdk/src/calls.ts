/** The address of the service, and the caller. */
export type ClientOptions = {
  /** Origin of the service, such as `https://vault.example.org`, with or without `/api/v1`. */
  baseUrl: string
  /** A session token or a service token (`srk_…`). Without a token, a browser sends its cookie. */
  token?: string
  /** Limit of a call, its retries included; 30 s by default. */
  timeoutMs?: number
  /** Number of repetitions of a call after 429, 503 or a fault of the connection; 2 by default, 0 for never. */
  retries?: number
  /**
   * Lets a passkey of the caller sign a call that the service wants confirmed (`me.prepareConfirmation`). The call is
   * then sent once more. Without `confirm`, such a call throws with the reason `passkey_required`.
   */
  confirm?: (call: { method: string; path: string; bodyHash: string }) => Promise<object>
  /** Replaces the `fetch` of the platform. */
  fetch?: (request: Request, init: RequestInit) => Promise<Response>
}

export type CallOptions = {
  /** Ends the call and its retries. The call then throws the reason of the signal. */
  signal?: AbortSignal
  timeoutMs?: number
  retries?: number
  /**
   * For writes: a write that is sent again under the same key within 24 hours is carried out once. By default every
   * call has its own key, which its retries share.
   */
  idempotencyKey?: string
  /** The assertion of a passkey of the caller for this call (`me.prepareConfirmation`), if the call must be confirmed. */
  passkeyAssertion?: object
}

/** The result of an action that a policy may hold until people have approved it. */
export type Outcome<Value, Pending> =
  | { readonly value: Value; readonly pendingApproval: null }
  | { readonly value: null; readonly pendingApproval: Pending }

/** Returns the origin of the service, and the part of its paths before `/api/v1`. */
export function rootOf(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
}
