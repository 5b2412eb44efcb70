import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { JWK } from 'oidc-provider'
import { type CompanyPerson, directoryPage, faultPage, signInPage } from './company-pages.ts'
import { readJson, writeJson } from './data-files.ts'
import { type Client, clientId, createProvider } from './openid-provider.ts'
import { type DirectoryAccess, pushPerson } from './scim-directory.ts'

/** The state that the next start needs. `providerId` and `directoryId` name what Strongroom has of the company. */
type State = {
  issuer: string
  clientSecret: string
  cookieKey: string
  signingKey: JWK
  providerId: string | null
  directory: { id: string; token: string } | null
  people: CompanyPerson[]
}

export type CompanyFacts = {
  issuer: string
  clientId: string
  clientSecret: string
  providerId: string | null
  directoryId: string | null
}

/**
 * A company with an identity provider (OpenID Connect) and a directory (SCIM), on this machine. Everybody on this
 * machine may sign in as any of its people.
 */
export class Company {
  readonly #path: string
  readonly #state: State
  readonly #server: Server
  #provider: ReturnType<typeof createProvider> | null = null
  #access: DirectoryAccess | null = null

  private constructor(path: string, state: State) {
    this.#path = path
    this.#state = state
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: Error) => sendPage(response, 400, faultPage(error.message)))
    })
  }

  /** Starts the company with the people of an earlier start, or with new people. */
  static async start(dataDir: string, port: number, people: CompanyPerson[]): Promise<Company> {
    const path = join(dataDir, 'company', 'company.json')
    mkdirSync(join(dataDir, 'company'), { recursive: true, mode: 0o700 })
    const issuer = `http://127.0.0.1:${port}`
    const known = readJson<State>(path) ?? newState(issuer, people)
    // An account is an account of its issuer, so that Strongroom needs another provider after a change of the port.
    const state = known.issuer === issuer ? known : { ...known, issuer, providerId: null }
    const company = new Company(path, state)
    company.#save()
    await new Promise<void>((resolve, reject) => {
      company.#server.once('error', reject)
      company.#server.listen(port, '127.0.0.1', () => resolve())
    })
    return company
  }

  get facts(): CompanyFacts {
    const { issuer, clientSecret, providerId, directory } = this.#state
    return { issuer, clientId, clientSecret, providerId, directoryId: directory?.id ?? null }
  }

  /** Registers Strongroom at the provider. */
  register(client: Client): void {
    const { issuer, clientSecret, cookieKey, signingKey } = this.#state
    const findAccount = (email: string) => (this.#find(email)?.isActive ? { email, emailVerified: true } : null)
    this.#provider = createProvider({ issuer, clientSecret, client, cookieKey, keys: [signingKey], findAccount })
  }

  keepProvider(id: string): void {
    this.#state.providerId = id
    this.#save()
  }

  keepDirectory(directory: { id: string; token: string }): void {
    this.#state.directory = directory
    this.#save()
  }

  /** Pushes all people to the directory at Strongroom, and from then on each change. */
  async pushPeople(baseUri: string): Promise<void> {
    const access = { baseUri, token: this.#state.directory!.token }
    for (const person of this.#state.people) if (person.isInDirectory) await pushPerson(access, person)
    this.#access = access
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url!, this.#state.issuer).pathname
    // No page of another site may let somebody leave, or sign in.
    if (request.method === 'POST' && (path === '/people' || path.startsWith('/interaction/'))) this.#assertOwn(request)
    if (path === '/') return sendPage(response, 200, directoryPage(this.#state.people, null))
    if (path === '/people' && request.method === 'POST') return await this.#change(request, response)
    if (this.#provider === null) return sendPage(response, 503, faultPage('Strongroom is not connected yet'))
    if (!path.startsWith('/interaction/')) return await this.#provider.callback()(request, response)
    const { params } = await this.#provider.interactionDetails(request, response).catch((cause: unknown) => {
      throw new Error('This sign-in has ended; begin again in Strongroom', { cause })
    })
    if (request.method !== 'POST') {
      const expected = typeof params.login_hint === 'string' ? params.login_hint : null
      return sendPage(response, 200, signInPage(this.#state.people, expected))
    }
    const person = this.#find((await readForm(request)).get('email'))
    if (person?.isActive !== true) throw new Error('Nobody of this address works at the company')
    await this.#provider.interactionFinished(request, response, { login: { accountId: person.email } })
  }

  /** Lets a person leave the company, or come back. What Strongroom refuses does not happen. */
  async #change(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = await readForm(request)
    const person = this.#find(form.get('email'))
    if (person?.isInDirectory !== true || this.#access === null) throw new Error('The directory cannot change this')
    const isActive = form.get('isActive') === 'true'
    try {
      await pushPerson(this.#access, { ...person, isActive })
    } catch (error) {
      return sendPage(response, 502, directoryPage(this.#state.people, (error as Error).message))
    }
    person.isActive = isActive
    this.#save()
    response.writeHead(303, { location: '/' }).end()
  }

  #find(email: string | null): CompanyPerson | null {
    return this.#state.people.find((person) => person.email === email) ?? null
  }

  #assertOwn({ headers }: IncomingMessage): void {
    if (headers.origin !== this.#state.issuer) throw new Error(`This form is for ${this.#state.issuer} only`)
  }

  #save(): void {
    writeJson(this.#path, this.#state)
  }
}

function newState(issuer: string, people: CompanyPerson[]): State {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    issuer,
    clientSecret: randomBytes(32).toString('base64url'),
    cookieKey: randomBytes(32).toString('base64url'),
    signingKey: { ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' } as JWK,
    providerId: null,
    directory: null,
    people,
  }
}

const readForm = async (request: IncomingMessage): Promise<URLSearchParams> => new URLSearchParams(await text(request))

function sendPage(response: ServerResponse, status: number, page: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(page)
}
