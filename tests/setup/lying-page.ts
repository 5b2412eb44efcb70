import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { canonicalJson } from '../../sdk/src/signing/signing.ts'
import { sessionCookie } from '../../server/src/http/guard.ts'
import type { Person } from '../../server/src/testing/app.ts'
import { addAuthenticator, type Credential, credentialsOf } from './signing-window.ts'

export type Answer = Record<string, unknown>
/** Returns the answer that replaces the true one. */
type Alter = (path: string, answer: unknown) => unknown
/** The requests that an altered service received, and all of its answers by the end of the address. */
export type Seen = { sent: { path: string; body: Answer }[]; answers: Map<string, unknown[]> }
type Asked = { method: string; path: string; body: string | null }
type Answered = { status: number; body: string }

/**
 * Puts a service before the built pages that the test answers for, and counts what the page waits for. Requests stay in the browser:
 * its cache keeps the scripts, which it would not if they could be intercepted.
 */
const inPlaceOfService = `{
  const real = window.fetch.bind(window)
  const never = new Promise(() => {})
  const work = (window.work = { open: 0, since: performance.now() })
  const counted = async (promise) => {
    work.open += 1
    try {
      return await promise
    } finally {
      work.open -= 1
      work.since = performance.now()
    }
  }
  const answered = async (request) => {
    const { pathname, search } = new URL(request.url)
    const body = request.method === 'GET' ? null : await request.clone().text()
    const answer = await window.answer({ method: request.method, path: pathname + search, body })
    if (window.isLeft) return never
    if (answer === null) return real(request)
    return new Response(answer.body, { status: answer.status, headers: { 'content-type': 'application/json' } })
  }
  window.fetch = (input, init) => {
    const request = new Request(input, init)
    const { pathname } = new URL(request.url)
    if (!pathname.startsWith('/api/v1/')) return real(input, init)
    if (window.isLeft) return never
    return pathname.endsWith('/changes') ? answered(request) : counted(answered(request))
  }
  for (const kind of ['get', 'create']) {
    const ask = navigator.credentials?.[kind].bind(navigator.credentials)
    if (ask !== undefined) navigator.credentials[kind] = (options) => counted(ask(options))
  }
}`

/** True answers to reads, for all pages. Altered answers are made from them. */
const known = new Map<string, Promise<Answered>>()

/** A page of a person whose finger always agrees, and whose service may answer anything. */
export class LyingPage {
  readonly page: Page
  keys: () => Promise<Credential[]> = async () => []
  readonly #origin: string
  readonly #person: Person
  #alter: Alter | null = null
  #seen: Seen = { sent: [], answers: new Map() }
  #tellChanges: (answer: Answered) => void = () => {}
  #loading = 0

  private constructor(page: Page, origin: string, person: Person) {
    this.page = page
    this.#origin = origin
    this.#person = person
    page.on('request', () => {
      this.#loading += 1
    })
    const loaded = () => {
      this.#loading -= 1
    }
    page.on('requestfinished', loaded)
    page.on('requestfailed', loaded)
  }

  static async open(
    context: BrowserContext,
    { origin, person, keys }: Opening & { keys: Credential[] },
  ): Promise<LyingPage> {
    const page = await context.newPage()
    page.setDefaultTimeout(10_000)
    const lying = new LyingPage(page, origin, person)
    await page.exposeFunction('answer', (request: Asked) => lying.#answer(request))
    await page.addInitScript(inPlaceOfService)
    const authenticator = await addAuthenticator(page, keys)
    lying.keys = () => credentialsOf(authenticator)
    return lying
  }

  /** Has the service alter its answers from now on, those of calculations as well, and take no order and no vote. */
  takeOver(alter: Alter): Seen {
    this.#alter = alter
    this.#seen = { sent: [], answers: new Map() }
    return this.#seen
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(this.#origin + path)
  }

  /**
   * Mutes what stands there until the next page, so that it sends nothing to the next service, which is honest. Another page in
   * between, such as about:blank, would cost the browser two new processes each time.
   */
  async leave(): Promise<void> {
    const muted = this.page.evaluate('window.isLeft = true').then(() => true)
    // A page that an altered answer has hung up hears nothing.
    const isMuted = await Promise.race([muted.catch(() => false), sleep(2_000, false, { ref: false })])
    if (!isMuted) await this.page.goto('about:blank')
    this.#alter = null
  }

  /** Says that everything changed, so that all that the page shows is asked for again. */
  tellChanges(): void {
    this.#tellChanges({ status: 200, body: JSON.stringify({ items: [], nextCursor: 'later', reset: true }) })
  }

  /** Waits until the state is reached, or the page waits for nothing and has stood still for so long. */
  async until(isReached: () => Promise<boolean>, milliseconds = 150): Promise<boolean> {
    const start = Date.now()
    while (Date.now() < start + 30_000) {
      if (await isReached()) return true
      const still = await this.page.evaluate<number>('work.open > 0 ? 0 : performance.now() - work.since')
      if (Math.min(still, Date.now() - start) > milliseconds && this.#loading === 0) return isReached()
      await this.page.waitForTimeout(50)
    }
    throw new Error('the page does not stand still')
  }

  /** All that a person sees, and nothing that is there without being drawn. */
  async screen(): Promise<string> {
    // biome-ignore lint/performance/useDomNodeTextContent: what is hidden is not read.
    return (await this.page.locator('body').innerText()).replaceAll(/\s+/g, ' ')
  }

  async #answer({ method, path: whole, body }: Asked): Promise<Answered | null> {
    const path = whole.replace(/^\/api\/v1/, '').replace(/\?.*$/, '')
    if (path.endsWith('/changes')) return new Promise((resolve) => (this.#tellChanges = resolve))
    if (this.#alter === null) return null
    if (method !== 'GET' && !/\/(preview|recipients\/check)$/.test(path)) return this.#refuse(path, body)
    const answer = await this.#true({ method, path: whole, body })
    if (answer.status !== 200 || this.#alter === null) return answer
    const altered = this.#alter(path, JSON.parse(answer.body))
    this.#seen.answers.set(path, [...(this.#seen.answers.get(path) ?? []), altered])
    return { status: 200, body: JSON.stringify(altered) ?? 'null' }
  }

  /** A vote without a signature is asked for one, as in a protected vault. */
  #refuse(path: string, text: string | null): Answered {
    const sent = JSON.parse(text || '{}') as Answer
    this.#seen.sent.push({ path, body: sent })
    const isSigned = 'signature' in sent || 'signed' in sent
    const reason = isSigned ? 'payload_changed' : 'signature_required'
    const body = { code: 'forbidden', reason, message: 'Refused', details: null }
    return { status: isSigned ? 409 : 403, body: JSON.stringify({ ...body, error: body }) }
  }

  #true({ method, path, body }: Asked): Promise<Answered> {
    const key = canonicalJson([this.#person.token, method, path, body])
    const answer = known.get(key) ?? this.#ask({ method, path, body })
    known.set(key, answer)
    return answer
  }

  async #ask({ method, path, body }: Asked): Promise<Answered> {
    const headers = { cookie: `${sessionCookie}=${this.#person.token}`, 'content-type': 'application/json' }
    const init = { method, headers: { ...headers, origin: this.#origin }, body }
    const response = await fetch(this.#origin + path, init)
    return { status: response.status, body: await response.text() }
  }
}

type Opening = { origin: string; person: Person }

/** Pages of a person with one passkey, which they added on the first of them. */
export async function pagesOf(
  browser: Browser,
  { origin, person, count = 1, added = 'Phone' }: Opening & { count?: number; added?: string },
): Promise<[LyingPage, ...LyingPage[]]> {
  // Each has a context of its own: a page that another one covers draws slowly.
  const open = async (keys: Credential[]) => {
    const context = await browser.newContext({
      locale: 'en-US',
      viewport: { width: 1400, height: 3000 },
      reducedMotion: 'reduce',
    })
    await context.addCookies([{ name: sessionCookie, value: person.token, url: origin }])
    return LyingPage.open(context, { origin, person, keys })
  }
  const first = await open([])
  const { page } = first
  await first.goto('/me')
  await page.getByLabel('Name of the new passkey').fill('Phone')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('row').filter({ hasText: added }).waitFor()
  const keys = await first.keys()
  return [first, ...(await Promise.all(Array.from({ length: count - 1 }, () => open(keys))))]
}

/** Runs with each number below `count` on whichever page is free. */
export async function onPages(
  pages: readonly LyingPage[],
  count: number,
  run: (page: LyingPage, i: number) => Promise<void>,
): Promise<void> {
  let next = 0
  await Promise.all(
    pages.map(async (page) => {
      for (let i = next++; i < count; i = next++) await run(page, i)
    }),
  )
}
