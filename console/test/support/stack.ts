import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createStrongroom, type Strongroom } from '@strongroom/sdk'
import pg from 'pg'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import { people } from '../../../demo/src/organisation.ts'
import { reserveCode, reserveDir } from '../../../demo/src/reserve.ts'
import type { StoredPasskey } from '../../../demo/src/software-passkey.ts'
import { livingPids, root, startDemo, until } from '../../../demo/src/testing/demo.ts'
import { launchChromium } from '../../../server/src/testing/launch-chromium.ts'
import { linkIn, parseMail, type ReceivedMail } from '../../../server/src/testing/outbox.ts'
import { signNextAuthority } from './next-authority.ts'

/** Those of the protected vault whose passkeys a browser can have, too. */
const keepers = {
  anna: 'anna@strongroom.localhost',
  ben: 'ben@strongroom.localhost',
  david: 'david@strongroom.localhost',
}
export type Keeper = keyof typeof keepers
export const emails = { admin: 'admin@strongroom.localhost', ...people, ...keepers }
export type Person = keyof typeof emails
export const vaultCode = 'treasury'
export { reserveCode }

/** The processes of `npm start` and a browser, shared by all tests of the console. */
export type Stack = {
  url: string
  browser: Browser
  /** A person's API, for what a flow needs to find. */
  client(person: Person): Promise<Strongroom>
  /** A browser of its own in which a person is signed in. */
  contextOf(person: Person, options?: BrowserContextOptions): Promise<BrowserContext>
  /** The session of a person has ended: their next browser signs in anew. */
  forgetSession(person: Person): void
  /** Waits for a mail. */
  mailTo(email: string, fits: (mail: ReceivedMail) => boolean): Promise<ReceivedMail>
  /** Asks something of the local chain. */
  chain(method: string, ...params: unknown[]): Promise<unknown>
  /** Orders or votes in the protected vault, with a passkey in software. */
  sign(...words: string[]): Promise<string>
  signingKeyOf(keeper: Keeper): StoredPasskey
  /** The next authority of the protected vault, signed by its people. */
  signNextAuthority(changes: object): ReturnType<typeof signNextAuthority>
  /** Runs a statement as the owner of the database. */
  sql(statement: string, values: unknown[]): Promise<void>
  stop(): Promise<void>
}

/** Starts it. STRONGROOM_URL and DATA_DIR of a demo that runs already spare a developer the start. */
export async function startStack(): Promise<Stack> {
  const running = process.env.STRONGROOM_URL
  const dataDir = running === undefined ? mkdtempSync(join(tmpdir(), 'strongroom-console-')) : process.env.DATA_DIR!
  const [demo, browser] = await Promise.all([running === undefined ? startDemo(dataDir) : null, launchChromium()])
  const url = running ?? demo!.url
  const mails = mailsBelow(join(dataDir, 'outbox'))
  const states = new Map<Person, Promise<State>>()
  const stateOf = (person: Person) => once(states, person, () => signInByMail(browser, url, mails, emails[person]))
  const client = async (person: Person) => clientWith(url, await stateOf(person))
  await switchGovernanceOff(await client('admin'), await client('secondAdministrator'))
  return {
    url,
    browser,
    client,
    contextOf: async (person, options = {}) =>
      // No flow looks at animations, and each frame costs time.
      browser.newContext({ reducedMotion: 'reduce', ...options, storageState: await stateOf(person) }),
    forgetSession: (person) => states.delete(person),
    mailTo: (email, fits) => mails.next((mail) => mail.to === email && fits(mail)),
    chain: (method, ...params) => askChain(dataDir, method, params),
    sign: (...words) => sign(dataDir, words),
    signingKeyOf: (keeper) => JSON.parse(readFileSync(join(reserveDir(dataDir), `${keeper}.signing-key.json`), 'utf8')),
    signNextAuthority: (changes) => signNextAuthority(dataDir, changes),
    sql: (statement, values) => runSql(dataDir, statement, values),
    stop: async () => {
      await browser.close()
      if (demo === null) return
      demo.process.kill('SIGTERM')
      await until(async () => demo.process.exitCode !== null).catch(() => undefined)
      for (const pid of livingPids(dataDir)) process.kill(pid, 'SIGKILL')
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Flows change the rules of the demo alone; the one about governance switches it on itself. */
async function switchGovernanceOff(admin: Strongroom, second: Strongroom): Promise<void> {
  const { governance } = admin.vault(vaultCode)
  if ((await governance.get()).threshold === 0) return
  const { pendingApproval } = await governance.update({ threshold: 0, looseningDelayHours: 0, tighteningDelayHours: 0 })
  await second.vault(vaultCode).approvalRequests.approve(pendingApproval!.id)
}

async function askChain(dataDir: string, method: string, params: unknown[]): Promise<unknown> {
  const { chain } = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as { chain: number }
  const answer = await fetch(`http://127.0.0.1:${chain}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await answer.json()) as { result?: unknown; error?: { message: string } }
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}

async function sign(dataDir: string, words: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir }
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'demo/dist/sign.js'), ...words], { env })
  return stdout.trim()
}

async function runSql(dataDir: string, statement: string, values: unknown[]): Promise<void> {
  const port = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3])
  const password = readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim()
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'strongroom', password, database: 'strongroom' })
  await client.connect()
  await client.query(statement, values).finally(() => client.end())
}

type State = Awaited<ReturnType<BrowserContext['storageState']>>

function once<Value>(map: Map<Person, Promise<Value>>, key: Person, make: () => Promise<Value>): Promise<Value> {
  const made = map.get(key) ?? make()
  map.set(key, made)
  return made
}

/** The mails of the demo, which arrive as files. */
function mailsBelow(outbox: string) {
  const names = () => readdirSync(outbox).filter((name) => name.endsWith('.eml'))
  const read = (known: ReadonlySet<string>) =>
    names()
      .filter((name) => !known.has(name))
      .map((name) => parseMail(readFileSync(join(outbox, name), 'utf8')))
  return {
    names,
    async next(fits: (mail: ReceivedMail) => boolean, known: ReadonlySet<string> = new Set()): Promise<ReceivedMail> {
      await until(async () => read(known).some(fits))
      return read(known).findLast(fits)!
    },
  }
}

type Mails = ReturnType<typeof mailsBelow>

/** The link in the mail that follows a request for it. */
async function linkAfter(mails: Mails, email: string, ask: () => Promise<unknown>): Promise<string> {
  const before = new Set(mails.names())
  await ask()
  const isLink = (mail: ReceivedMail) => mail.to === email && mail.subject.startsWith('Your sign-in link')
  return linkIn(await mails.next(isLink, before)).href
}

/** A program with the session of the browser: the number of sign-ins per person and hour is limited. */
function clientWith(baseUrl: string, { cookies }: State): Strongroom {
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const send: typeof fetch = (input, init) => {
    const request = new Request(input, init)
    request.headers.set('cookie', cookie)
    request.headers.set('origin', baseUrl)
    if (request.method !== 'GET') request.headers.set('content-type', 'application/json')
    return fetch(request)
  }
  return createStrongroom({ baseUrl, fetch: send })
}

/** In the browser that asks for it, the link signs in without a code. */
async function signInByMail(browser: Browser, url: string, mails: Mails, email: string): Promise<State> {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(`${url}/sign-in`)
  await page.getByLabel('E-mail address').fill(email)
  await page.goto(await linkAfter(mails, email, () => page.locator('button[type=submit]').click()))
  const button = page.getByRole('button', { name: 'Sign in' })
  // A person with a single vault starts in it.
  const vaults = page.getByRole('heading', { name: 'Your vaults' })
  const inside = vaults.or(page.getByRole('link', { name: 'Home' })).first()
  await button.or(inside).first().waitFor()
  if (await button.isVisible()) await button.click()
  await inside.waitFor()
  const state = await context.storageState()
  await context.close()
  return state
}
