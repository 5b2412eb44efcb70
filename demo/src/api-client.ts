/** An expected answer; its body is the one that the API documents for the route. */
export type Answer<Body> = { status: number; body: Body }

/** Calls the public API as one user. */
export type Client = {
  /** Resolves with the body of a 2xx answer; any other answer is thrown. */
  request<Body>(method: string, path: string, body?: object): Promise<Body>
  /** Resolves with a 2xx answer, or with a 403 or 404 without its body. */
  find<Body>(path: string): Promise<Answer<Body | null>>
  signOut(): Promise<void>
}

type SignedIn = { token: string }

/** Exchanges the token of a sign-in link for a Bearer token, as a service does. */
export async function signIn(baseUrl: string, link: string): Promise<Client> {
  const token = new URL(link).searchParams.get('token')
  const { body } = await send<SignedIn>(baseUrl, { method: 'POST', path: '/auth/magic-link/verify', body: { token } })
  const bearer = body.token
  return {
    request: async <Body>(method: string, path: string, body?: object) =>
      (await send<Body>(baseUrl, { method, path, body, bearer })).body,
    find: async <Body>(path: string) => {
      const { status, body } = await send<Body>(baseUrl, { method: 'GET', path, bearer, accepted: [403, 404] })
      return { status, body: status < 300 ? body : null }
    },
    signOut: async () => {
      await send(baseUrl, { method: 'POST', path: '/auth/sign-out', bearer })
    },
  }
}

type Sending = { method: string; path: string; body?: object; bearer?: string; accepted?: number[] }

async function send<Body>(
  baseUrl: string,
  { method, path, body, bearer, accepted = [] }: Sending,
): Promise<Answer<Body>> {
  const response = await fetch(`${baseUrl}/api/v1${path}`, {
    method,
    headers: {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  })
  const text = await response.text()
  if (!response.ok && !accepted.includes(response.status)) {
    throw new Error(`setting up the demo failed: ${method} ${path} answered ${response.status}: ${text}`)
  }
  return { status: response.status, body: text === '' ? (null as Body) : (JSON.parse(text) as Body) }
}
