import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as jose from 'jose'
import { type Client, clientId, createProvider, pageOf } from '../../../demo/src/openid-provider.ts'

/** An answer of the provider on its way to the service. */
export type Passing = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer }

/** A change of the answers of one path: `of` is the path, and `tell` returns the changed answer. */
export type Lie = { of: string; tell: (answer: Passing) => Passing | Promise<Passing> }

type Account = { subject: string; email?: string; emailVerified?: boolean }

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
  #provider: ReturnType<typeof createProvider> | null = null
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
    this.#provider = createProvider({
      issuer: this.issuer,
      clientSecret,
      client,
      keys: this.keys.map(({ jwk }) => jwk) as never,
      cookieKey: 'the cookies of a test',
      findAccount: () => this.account,
    })
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

const listen = (server: Server): Promise<void> => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const portOf = (server: Server): number => (server.address() as AddressInfo).port
