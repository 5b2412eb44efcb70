import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionCookie } from '../server/src/http/guard.ts'
import { createTestApp, type Person, type TestApp } from '../server/src/testing/app.ts'
import { launchChromium } from '../server/src/testing/launch-chromium.ts'
import { challengeIn, lies, lyingAbout, type Signature, votesSignedBy } from './setup/blank-signature.ts'
import { freePort } from './setup/free-port.ts'
import { type LyingService, startLyingService } from './setup/lying-service.ts'
import { addAuthenticator } from './setup/signing-window.ts'

type Answered = { kind: 'get'; answer: Signature } | { kind: 'create'; answer: { clientDataJSON: string } }

let test: TestApp
let service: LyingService
let browser: Browser
let origin: string
/** All answers of the authenticators of all pages, sent or not. */
const answered: Answered[] = []

beforeAll(async () => {
  const ports = [await freePort(), await freePort()] as const
  origin = `http://localhost:${ports[1]}`
  test = await createTestApp({ PUBLIC_URL: origin, CONSOLE: 'on' })
  await test.app.listen({ port: ports[0], host: '127.0.0.1' })
  service = await startLyingService(`http://127.0.0.1:${ports[0]}`, ports[1])
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await service?.close()
  await test?.close()
})

/** Tells what an authenticator answered to the built pages, which stay as they are. */
const eavesdrop = `{
  const text = (bytes) =>
    btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  for (const kind of ['get', 'create']) {
    const ask = navigator.credentials[kind].bind(navigator.credentials)
    navigator.credentials[kind] = async (options) => {
      const { rawId, response } = await ask(options)
      const answer = { id: text(rawId) }
      for (const name of ['clientDataJSON', 'authenticatorData', 'signature']) {
        if (response[name] !== undefined) answer[name] = text(response[name])
      }
      await window.tell({ kind, answer })
      return { rawId, response }
    }
  }
}`

async function contextOf(person: Person): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  await context.exposeFunction('tell', (told: Answered) => void answered.push(told))
  await context.addInitScript(eavesdrop)
  await context.addCookies([{ name: sessionCookie, value: person.token, url: origin }])
  return context
}

async function openMe(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await addAuthenticator(page)
  await page.goto(`${origin}/me`)
  await page.getByLabel('Name of the new passkey').fill('Phone')
  return page
}

const rowOf = (page: Page) => page.getByRole('row').filter({ hasText: 'Phone' })
const addPasskey = (page: Page) => page.getByRole('button', { name: 'Add a passkey' }).click()

/** Waits for the next answer of the authenticator, after the press of a button. */
async function nextAnswer<Kind extends Answered['kind']>(kind: Kind, press: () => Promise<void>) {
  const before = answered.length
  await press()
  await expect.poll(() => answered.length).toBe(before + 1)
  const last = answered[before]!
  expect(last.kind).toBe(kind)
  return last.answer as Extract<Answered, { kind: Kind }>['answer']
}

describe('T79 a service that was taken over, and the built console in a browser', () => {
  it('T79 gets no vote from a confirmation, a registration and a sign-in, whatever it answers as nonce', async () => {
    const person = await test.signIn('anna@example.org')
    const context = await contextOf(person)
    const page = await openMe(context)
    // The pages of an honest service work.
    await addPasskey(page)
    await rowOf(page).waitFor()
    const [passkey] = (await person.get('/users/me/passkeys')).body.items
    const { publicKey } = passkey!

    const remove = () => page.getByRole('button', { name: 'Remove the passkey Phone' }).click()
    // A page that lost its cookie goes to the sign-in by itself: it is left before.
    const signOut = async () => {
      await page.goto('about:blank')
      await context.clearCookies()
    }
    const signIn = async () => {
      await page.goto(`${origin}/sign-in?redirectTo=%2Fme`)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    }
    const all = lies(person.userId)
    for (const nonce of [all[0]!, all[3]!, all.at(-2)!, all.at(-1)!]) {
      service.lie = lyingAbout(nonce)
      const signed = [await nextAnswer('get', remove), await nextAnswer('get', () => addPasskey(page))]
      await signOut()
      signed.push(await nextAnswer('get', signIn))
      for (const signature of signed) {
        expect(challengeIn(signature)).not.toBe(nonce)
        expect(votesSignedBy(signature, publicKey, person.userId, origin)).toEqual([])
      }
      service.lie = null
      await context.addCookies([{ name: sessionCookie, value: person.token, url: origin }])
      await page.goto(`${origin}/me`)
      await rowOf(page).waitFor()
      await page.getByLabel('Name of the new passkey').fill('Phone')
    }
    await signOut()
    await nextAnswer('get', signIn)
    await page.waitForURL('**/me')
    await nextAnswer('get', remove)
    await page.getByText('You have no passkey yet.').waitFor()
    await context.close()
  })

  it('T79 gets no challenge of its own signed by a passkey that is made', async () => {
    const person = await test.signIn('ben@example.org')
    const context = await contextOf(person)
    for (const nonce of lies(person.userId).slice(-2)) {
      const page = await openMe(context)
      service.lie = lyingAbout(nonce)
      const made = await nextAnswer('create', () => addPasskey(page))
      expect(challengeIn(made)).not.toBe(nonce)
      service.lie = null
      await page.getByRole('alert').first().waitFor()
      await page.close()
    }
    expect((await person.get('/users/me/passkeys')).body.items).toEqual([])
    await context.close()
  })
})
