import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createApp } from '../app.ts'
import { type Config, readConfig } from '../config/config.ts'
import type { Deps } from '../deps.ts'
import type { App } from '../http/endpoints.ts'
import { sendMails } from '../jobs/send-mails.ts'
import { newId } from '../lib/ids.ts'
import { newSecret, sha256 } from '../lib/secrets.ts'
import { createLogger } from '../logger.ts'
import { openDeps } from '../start.ts'
import type { Answer, AnswerOf, Method } from './answer.ts'
import { answerCheckOf } from './answer-check.ts'
import { createTestDatabase } from './database.ts'

type Headers = Record<string, string>
export type Client = {
  get<Url extends string>(url: Url, headers?: Headers): Promise<AnswerOf<'get', Url>>
  post<Url extends string>(url: Url, body?: unknown, headers?: Headers): Promise<AnswerOf<'post', Url>>
  patch<Url extends string>(url: Url, body?: unknown, headers?: Headers): Promise<AnswerOf<'patch', Url>>
  put<Url extends string>(url: Url, body?: unknown, headers?: Headers): Promise<AnswerOf<'put', Url>>
  delete<Url extends string>(url: Url, body?: unknown, headers?: Headers): Promise<AnswerOf<'delete', Url>>
  /** Sends a request with a method that is a variable. */
  send<M extends Method, Url extends string>(
    method: M,
    url: Url,
    body?: unknown,
    headers?: Headers,
  ): Promise<AnswerOf<M, Url>>
}
export type Person = Client & { token: string; userId: string; email: string }

export type TestApp = {
  deps: Deps
  app: App
  /** The URL of the database as its owner, for reads that the role of the service may not make. */
  databaseUrl: string
  clock: { now(): Date; advance(milliseconds: number): void }
  /** The log lines of the service. The default of tests is silent, so a test needs its own LOG_LEVEL. */
  logged: string[]
  /**
   * Sends an anonymous request. Every answer is checked against openapi.json. URLs are relative to /api/v1 unless they begin
   * with `//`.
   */
  anonymous: Client
  client(headers: Headers): Client
  /** Signs in a person with a fresh session. The person is created when the e-mail is new. */
  signIn(email: string, options?: { isPlatformAdmin?: boolean }): Promise<Person>
  /** Sends all queued mails, including those that wait for a repetition, until none is left (at most `roundsMax` rounds). */
  sendMails(roundsMax?: number): Promise<void>
  close(): Promise<void>
}

type Settings = Record<string, string>

/**
 * Creates the whole service on a database of its own, driven through `inject`. Everything is real except the clock and, on
 * request, the wallet.
 */
export async function createTestApp(settings: Settings | ((databaseUrl: string) => Settings) = {}): Promise<TestApp> {
  const database = await createTestDatabase()
  const env = typeof settings === 'function' ? settings(database.url) : settings
  const dataDir = join(tmpdir(), `strongroom-app-${randomUUID()}`)
  const config: Config = readConfig({
    DEMO: 'true',
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    PUBLIC_URL: 'http://localhost:8420',
    STRONGROOM_SECRET_KEY: 'a test key that is long enough to pass',
    WALLET_ALLOWED_HOSTS: '127.0.0.1',
    LOG_LEVEL: 'silent',
    // The console is a separate build. Its tests cover the parts of the service that it needs.
    CONSOLE: 'off',
    GAS_CHECK: 'on',
    ...env,
  })
  let offset = 0
  const clock = {
    now: () => new Date(Date.now() + offset),
    advance: (milliseconds: number) => {
      offset += milliseconds
    },
  }
  const logged: string[] = []
  const log = createLogger(config.logLevel, { write: (line: string) => void logged.push(line) })
  const { deps, close } = await openDeps(config, database.url, log, clock.now)
  const app = await createApp(deps)
  await app.ready()
  const check = answerCheckOf(app)

  const send = async <M extends Method, Url extends string>(verb: M, url: Url, body: unknown, headers: Headers) => {
    const method = verb.toUpperCase()
    const path = url.startsWith('//') ? url.slice(1) : `/api/v1${url}`
    const response = await app.inject({
      method: method as 'GET',
      url: path,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body === undefined
        ? {}
        : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    })
    const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json')
    const answer: Answer<unknown> = {
      status: response.statusCode,
      body: isJson ? response.json() : response.body,
      headers: response.headers,
    }
    if (isJson || response.statusCode === 204) check(method, path, answer)
    // The check above has verified this body against openapi.json, from which the types are generated.
    return answer as AnswerOf<M, Url>
  }
  const client = (common: Headers): Client => ({
    get: (url, headers = {}) => send('get', url, undefined, { ...common, ...headers }),
    post: (url, body, headers = {}) => send('post', url, body, { ...common, ...headers }),
    patch: (url, body, headers = {}) => send('patch', url, body, { ...common, ...headers }),
    put: (url, body, headers = {}) => send('put', url, body, { ...common, ...headers }),
    delete: (url, body, headers = {}) => send('delete', url, body, { ...common, ...headers }),
    send: (method, url, body, headers = {}) => send(method, url, body, { ...common, ...headers }),
  })

  return {
    deps,
    app,
    databaseUrl: database.url,
    clock,
    logged,
    anonymous: client({}),
    client,
    async signIn(email, { isPlatformAdmin = false } = {}) {
      const now = clock.now()
      const { id } = await deps.db
        .insertInto('users')
        .values({
          id: newId(now),
          email,
          name: email.split('@')[0]!,
          is_platform_admin: isPlatformAdmin,
          created_at: now,
          updated_at: now,
        })
        .onConflict((conflict) => conflict.column('email').doUpdateSet({ updated_at: now }))
        .returning('id')
        .executeTakeFirstOrThrow()
      const token = newSecret()
      const inAWeek = new Date(now.getTime() + 7 * 86_400_000)
      await deps.db
        .insertInto('sessions')
        .values({
          id: newId(now),
          token_hash: sha256(token),
          user_id: id,
          created_at: now,
          last_seen_at: now,
          expires_at: inAWeek,
          ends_at: inAWeek,
        })
        .execute()
      return { ...client({ authorization: `Bearer ${token}` }), token, userId: id, email }
    },
    async sendMails(roundsMax = 20) {
      for (let round = 0; round < roundsMax; round += 1) {
        const waiting = deps.db.updateTable('queued_mails').where('next_attempt_at', 'is not', null)
        const due = await waiting.set({ next_attempt_at: clock.now() }).returning('id').execute()
        if (due.length === 0) return
        await sendMails(deps)
      }
      expect.fail(`Mails still wait after ${roundsMax} rounds`)
    },
    async close() {
      await app.close()
      await close()
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
