import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as jose from 'jose'
import Provider, { type Configuration } from 'oidc-provider'

/** An answer of the provider on its way to the service. */
export type Passing = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer }

/** A change of the answers of one path: `of` is the path, and `tell` returns the changed answer. */
export type Lie = { of: string; tell: (answer: Passing) => Passing | Promise<Passing> }

type Account = { subject: string; email?: string; emailVerified?: boolean }

type Client = { redirectUri: string; logoutUri: string }

const clientId = 'strongroom'
const clientSecret = 'a-secret-of-the-client-that-is-long-enough'

/**
 * A real identity provider in this process, behind a proxy that changes one answer at a time. The issuer is the proxy.
 */
export class TestProvider {
  readonly clientId = clientId
  readonly clientSecret = clientSecret
  account: Account = { subject: 'subject-anna', email: 'anna@corp.example', emailVerified: true }
  lie: Lie | null = null
  /** True if a person must press the button of its sign-in page; otherwise that page agrees at once. */
  hasPage = false
  issuer = ''
  keys: { kid: string; alg: string; private: jose.CryptoKey; jwk: jose.JWK }[] = []
  #now!: () => Date
  #provider: Provider | null = null
  #client: Client | null = null
  #behind!: Server
  #proxy!: Server

  /** @param now the clock for the times in logout tokens */
  static async start(now: () => Date): Promise<TestProvider> {
    const idp = new TestProvider()
    idp.#now = now
    idp.#behind = createServer((received, answer) => void idp.#answer(received, answer))
    idp.#proxy = createServer((received, answer) => void idp.#pass(received, answer))
    await listen(idp.#behind)
    await listen(idp.#proxy)
    idp.issuer = `http://127.0.0.1:${portOf(idp.#proxy)}`
    await idp.addKey('RS256')
    return idp
  }

  async stop(): Promise<void> {
    for (const server of [this.#behind, this.#proxy]) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  /** Registers this service at the provider, which starts again with its present keys. */
  register(client: Client): void {
    this.#client = client
    this.#provider = new Provider(this.issuer, this.#configuration(client))
    this.#provider.proxy = true
  }

  /** Adds a key to the keys of the provider. */
  async addKey(alg: string): Promise<void> {
    const { privateKey } = await jose.generateKeyPair(alg, { extractable: true })
    const kid = `key-${randomUUID()}`
    this.keys.push({
      kid,
      alg,
      private: privateKey,
      jwk: { ...(await jose.exportJWK(privateKey)), kid, alg, use: 'sig' },
    })
    if (this.#client !== null) this.register(this.#client)
  }

  /** Replaces all keys with a new key. */
  async rotate(alg = 'RS256'): Promise<void> {
    this.keys = []
    await this.addKey(alg)
  }

  /** Signs claims as the provider does, or with another key, algorithm or header. */
  sign(
    claims: jose.JWTPayload,
    { header = {}, key }: { header?: Partial<jose.JWTHeaderParameters>; key?: jose.CryptoKey | Uint8Array } = {},
  ): Promise<string> {
    const first = this.keys[0]!
    const protectedHeader = { alg: first.alg, kid: first.kid, ...header }
    return new jose.SignJWT(claims).setProtectedHeader(protectedHeader).sign(key ?? first.private)
  }

  /** Returns a logout token as the provider makes it, with changes. */
  logoutToken(changes: Record<string, unknown> = {}): Record<string, unknown> {
    const now = Math.floor(this.#now().getTime() / 1000)
    return {
      iss: this.issuer,
      aud: clientId,
      iat: now,
      exp: now + 120,
      jti: randomUUID(),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      ...changes,
    }
  }

  #configuration({ redirectUri, logoutUri }: Client): Configuration {
    const client = {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      response_types: ['code' as const],
      grant_types: ['authorization_code'],
      backchannel_logout_uri: logoutUri,
      backchannel_logout_session_required: true,
      require_auth_time: true,
      id_token_signed_response_alg: this.keys[0]!.alg as 'RS256',
    }
    return {
      clients: [client],
      jwks: { keys: this.keys.map(({ jwk }) => jwk) as never },
      cookies: { keys: ['the cookies of a test'] },
      claims: { openid: ['sub', 'sid'], email: ['email', 'email_verified'] },
      conformIdTokenClaims: false,
      scopes: ['openid', 'email'],
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: {
          enabled: true,
          logoutSource: (context, form) => {
            const button =
              '<button type="submit" form="op.logoutForm" value="yes" name="logout">Sign out of all</button>'
            context.body = pageOf('Sign out', form + button)
          },
          postLogoutSuccessSource: (context) => {
            context.body = pageOf('Signed out at the provider', '')
          },
        },
      },
      // The dispatcher that it would use refuses addresses of this machine.
      fetch: (input, init) => {
        const { dispatcher: _, ...options } = { dispatcher: null, ...init }
        return fetch(input, options)
      },
      pkce: { required: () => true },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, subject) => ({
        accountId: subject,
        claims: () => ({ sub: subject, email: this.account.email, email_verified: this.account.emailVerified }),
      }),
      loadExistingGrant: async ({ oidc }) => {
        const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session!.accountId! })
        grant.addOIDCScope('openid email')
        await grant.save()
        return grant
      },
    }
  }

  /** The provider itself, with a sign-in page of its own. */
  async #answer(received: IncomingMessage, answer: ServerResponse): Promise<void> {
    const provider = this.#provider!
    if (!received.url!.startsWith('/interaction/')) return void provider.callback()(received, answer)
    if (this.hasPage && received.method === 'GET') {
      const form = `<form method="post"><p>${this.account.email}</p><button>Sign in at the provider</button></form>`
      return void answer.setHeader('content-type', 'text/html; charset=utf-8').end(pageOf('Your company', form))
    }
    await provider.interactionFinished(received, answer, { login: { accountId: this.account.subject } })
  }

  /** The proxy: passes a request on, and changes its answer if `lie` names its path. */
  async #pass(received: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method, url, headers } = received
    const port = portOf(this.#behind)
    const sent = request({ host: '127.0.0.1', port, method, path: url, headers }, async (honest) => {
      const passing: Passing = {
        status: honest.statusCode!,
        headers: honest.headers,
        body: Buffer.concat(await honest.toArray()),
      }
      const lies = this.lie !== null && new URL(url!, this.issuer).pathname === this.lie.of
      const sentAnswer = lies ? await this.lie!.tell(passing) : passing
      const { 'content-length': _, 'transfer-encoding': __, ...kept } = sentAnswer.headers
      for (const [name, value] of Object.entries(kept)) if (value !== undefined) answer.setHeader(name, value)
      answer.writeHead(sentAnswer.status).end(sentAnswer.body)
    })
    received.pipe(sent)
  }
}

const pageOf = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><title>${title}</title><link rel="icon" href="data:,"><h1>${title}</h1>${content}</html>`

const listen = (server: Server): Promise<void> => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** A browser that visits the service and the provider, and keeps the cookies of both. */
export class TestBrowser {
  #cookies = new Map<string, string>()
  readonly #visitService: (path: string, cookie: string) => Promise<Visited>
  readonly #origin: string

  constructor(origin: string, visitService: (path: string, cookie: string) => Promise<Visited>) {
    this.#origin = origin
    this.#visitService = visitService
  }

  /** Returns a browser with the same cookies, as a thief of the cookies would have. */
  copy(): TestBrowser {
    const other = new TestBrowser(this.#origin, this.#visitService)
    other.#cookies = new Map(this.#cookies)
    return other
  }

  get session(): string | undefined {
    return this.#cookies.get(`${this.#origin} session_token`)
  }

  set session(token: string) {
    this.#cookies.set(`${this.#origin} session_token`, token)
  }

  /** Visits a page of the service, and follows no redirect. */
  async visit(path: string): Promise<Visited> {
    const answer = await this.#visitService(path, this.#cookieOf(this.#origin))
    this.#keep(this.#origin, answer.cookies)
    return answer
  }

  /** Follows the redirects of the provider until they lead back to the service. Returns the path at the service. */
  async followProvider(url: string): Promise<string> {
    for (let next = url, hops = 0; hops < 12; hops += 1) {
      if (next.startsWith(this.#origin)) return next.slice(this.#origin.length)
      const { origin } = new URL(next)
      const answer = await fetch(next, { redirect: 'manual', headers: { cookie: this.#cookieOf(origin) } })
      this.#keep(origin, answer.headers.getSetCookie())
      const location = answer.headers.get('location')
      if (location === null) throw new Error(`The provider stopped at ${next}: ${answer.status} ${await answer.text()}`)
      next = new URL(location, next).href
    }
    throw new Error('The provider leads in circles')
  }

  #cookieOf(origin: string): string {
    const cookies = [...this.#cookies].filter(([name]) => name.startsWith(`${origin} `))
    return cookies.map(([name, value]) => `${name.slice(origin.length + 1)}=${value}`).join('; ')
  }

  #keep(origin: string, cookies: string[]): void {
    for (const cookie of cookies) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      if (value === '') this.#cookies.delete(`${origin} ${name}`)
      else this.#cookies.set(`${origin} ${name}`, value!)
    }
  }
}

type Visited = { status: number; location: string | null; body: string; cookies: string[] }
