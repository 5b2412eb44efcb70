import { type AddressInfo, createServer } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../server/src/db/transaction.ts'
import { sendNotifications } from '../server/src/jobs/send-notifications.ts'
import { createSignInLink } from '../server/src/modules/people/sign-in/actions.ts'
import { createActiveProvider } from '../server/src/testing/active-provider.ts'
import { createTestApp, type TestApp } from '../server/src/testing/app.ts'
import { TestProvider } from '../server/src/testing/identity-provider.ts'
import { launchChromium } from '../server/src/testing/launch-chromium.ts'
import { createOutbox, linkIn, type Outbox } from '../server/src/testing/outbox.ts'
import { insertVault } from '../server/src/testing/vault-fixture.ts'

let outbox: Outbox
let test: TestApp
let browser: Browser
let page: Page
let origin: string
const faults: string[] = []
/** The provider that a page may lead to. */
let idp: TestProvider | null = null

beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  outbox = await createOutbox()
  test = await createTestApp({ PUBLIC_URL: origin, DATA_DIR: outbox.dataDir })
  await test.app.listen({ port, host: '127.0.0.1' })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await idp?.stop()
  await test?.close()
  await outbox?.remove()
})

afterEach(async () => {
  await page?.context().close()
  expect(faults.splice(0)).toEqual([])
})

/** A browser without cookies; any console error and any request to another host fails the test. */
async function openBrowser(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options)
  page = await context.newPage()
  page.setDefaultTimeout(60_000)
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    const { protocol } = new URL(request.url())
    if (protocol.startsWith('http') && ![origin, idp?.issuer].includes(new URL(request.url()).origin))
      faults.push(request.url())
    if (request.headers().referer?.includes('token=')) faults.push(`a token leaks by Referer to ${request.url()}`)
  })
  return page
}

describe('signing in with a browser', () => {
  it('by a printed link: confirm, be signed in, read the API reference, sign out', async () => {
    const admin = await test.signIn('admin@example.org')
    await insertVault(test, 'main-vault', admin)
    const link = await inTransaction(test.deps.db, (trx) =>
      createSignInLink(trx, test.deps, 'admin@example.org', test.clock.now()),
    )
    await openBrowser()
    await page.goto(link)
    expect(await page.textContent('main')).toContain('as admin@example.org')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor()
    const text = await page.textContent('main')
    expect(text).toContain('admin@example.org')
    expect(text).toContain('Vault main-vault')
    expect(text).toContain('administrator')
    expect(await page.evaluate('document.cookie')).toBe('')

    await page.getByRole('link', { name: 'API reference' }).click()
    // This node serves no console, of which the reference is a part.
    await page.getByRole('heading', { name: 'API reference' }).waitFor()
    const file = await page.getByRole('link', { name: 'Open openapi.json' }).getAttribute('href')
    expect((await page.request.get(`${origin}${file}`)).status()).toBe(200)

    await page.goto(origin)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('E-mail address').waitFor()
    await page.goto(origin)
    await page.getByLabel('E-mail address').waitFor()
  })

  it('T90 by the page of an identity provider, and a logout there ends the session here', async () => {
    const provider = await TestProvider.start(() => test.clock.now())
    idp = provider
    const admin = await test.signIn('first@platform.example', { isPlatformAdmin: true })
    const second = await test.signIn('second@platform.example', { isPlatformAdmin: true })
    const id = await createActiveProvider(test, { idp: provider, admin, second })
    await test.signIn('anna@corp.example')
    provider.hasPage = true
    await openBrowser()
    await page.goto(origin)
    await page.getByLabel('E-mail address').fill('anna@corp.example')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('link', { name: 'Continue with Corp' }).click()
    await page.getByRole('button', { name: 'Sign in at the provider' }).click()
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor()
    expect(page.url()).toBe(`${origin}/`)
    expect(await page.textContent('main')).toContain('anna@corp.example')
    await page.goto(`${provider.issuer}/session/end`)
    await page.getByRole('button', { name: 'Sign out of all' }).click()
    await page.getByRole('heading', { name: 'Signed out at the provider' }).waitFor()
    await page.goto(origin)
    await page.getByLabel('E-mail address').waitFor()
    expect((await second.post(`/identity-providers/${id}/deactivate`, {})).status).toBe(200)
  })

  it('by form and mail: the link signs in directly in the same browser', async () => {
    await test.signIn('known@example.org')
    await openBrowser()
    await page.goto(`${origin}/`)
    await askForLink('known@example.org')
    await page.goto((await outbox.lastLink('known@example.org')).href)
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor()
    expect(page.url()).toBe(`${origin}/`)
  })

  it('T42 by a mail that is opened in another browser, without scripts: its code signs in', async () => {
    await test.signIn('mobile@example.org')
    await openBrowser()
    await page.goto(`${origin}/sign-in?redirectTo=%2Fdocs`)
    await askForLink('mobile@example.org')
    await page.context().close()

    const mail = (await outbox.read()).filter(({ to }) => to === 'mobile@example.org').at(-1)!
    const code = /this code: (\d{6})/.exec(mail.text)![1]!
    await openBrowser({ javaScriptEnabled: false })
    await page.goto(linkIn(mail).href)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await page.context().cookies()).toEqual([])
    await page.getByLabel('Code from the mail').fill(code === '000000' ? '000001' : '000000')
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('4 tries are left')
    // The answer to a wrong code is a 401, which the console logs as an error.
    faults.length = 0
    await page.getByLabel('Code from the mail').fill(code)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${origin}/docs**`)
  })

  it('T43 leaves the link to its person when a scanner follows it, runs its scripts and presses its buttons', async () => {
    await test.signIn('scanned@example.org')
    await openBrowser()
    await page.goto(origin)
    await askForLink('scanned@example.org')
    const asking = page
    const link = (await outbox.lastLink('scanned@example.org')).href

    await openBrowser()
    await page.goto(link)
    for (let visit = 0; visit < 6; visit += 1) {
      for (const button of await page.getByRole('button').all()) await button.click()
      await page.evaluate('for (const form of document.forms) form.submit()')
      await page.getByRole('alert').waitFor()
    }
    expect(await page.context().cookies()).toEqual([])
    await page.context().close()
    faults.length = 0

    page = asking
    await page.goto(link)
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor()
  })

  it('by mistake or by a thief: the button of the mail ends the session', async () => {
    await test.signIn('robbed@example.org')
    await openBrowser()
    await page.goto(origin)
    await askForLink('robbed@example.org')
    await page.goto((await outbox.lastLink('robbed@example.org')).href)
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor()
    const thief = page
    await test.sendMails()

    await openBrowser({ javaScriptEnabled: false })
    await page.goto((await outbox.lastLink('robbed@example.org')).href)
    await page.getByRole('button', { name: 'End this session' }).click()
    await page.getByRole('heading', { name: 'The session has ended' }).waitFor()
    await page.context().close()

    page = thief
    await page.goto(origin)
    await page.getByLabel('E-mail address').waitFor()
  })

  it('by an invitation: the page names the vault, the link makes a member', async () => {
    const owner = await test.signIn('owner@example.org')
    const vault = await insertVault(test, 'guest-vault', owner)
    await owner.post('/invitations', { email: 'guest@example.org', groupIds: [vault.administratorsId] })
    await test.sendMails()
    await openBrowser()
    await page.goto((await outbox.lastLink('guest@example.org')).href)
    expect(await page.textContent('main')).toContain('You are invited to the vault Vault guest-vault')
    expect(await page.getByLabel('E-mail address').inputValue()).toBe('guest@example.org')
    await askForLink('guest@example.org')
    await page.goto((await outbox.lastLink('guest@example.org')).href)
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor()
    expect(await page.textContent('main')).toContain('Vault guest-vault')
  })

  it('by a mail about a change: leads to the change after the sign-in, on a page that can show every logo', async () => {
    const chief = await test.signIn('chief@example.org')
    const vault = await insertVault(test, 'logo-vault', chief)
    await chief.post('/invitations', { email: 'late@example.org', groupIds: [vault.administratorsId] })
    test.clock.advance(61_000)
    await sendNotifications(test.deps)
    const link = (await outbox.read())
      .filter(({ to, subject }) => to === 'chief@example.org' && subject.startsWith('Changes to the vault'))
      .flatMap(({ text }) => /https?:\/\/\S+\/changes\/\S+/.exec(text)?.[0] ?? [])
      .at(-1)!
    await openBrowser()
    await page.goto(link)
    await askForLink('chief@example.org')
    await page.goto((await outbox.lastLink('chief@example.org')).href)
    await page.getByRole('heading', { name: 'Change' }).waitFor()
    expect(page.url()).toBe(link)
    expect(await page.textContent('pre')).toContain('"late@example.org" was invited.')

    const accepted = 'https://logos.example.org/token.svg'
    const others = ['http://logos.example.org/token.svg', 'https://logos.example.org/gone.svg']
    await page.route('**/token.svg', (route) => route.fulfill({ contentType: 'image/svg+xml', body: square }))
    await page.route('**/gone.svg', (route) => route.abort())
    expect((await chief.patch('/users/me', { image: accepted })).status).toBe(200)
    expect((await chief.patch('/users/me', { image: others[0] })).status).toBe(400)
    expect(await showsImage(accepted)).toBe(true)
    for (const other of others) expect(await showsImage(other)).toBe(false)
    await page.goto(origin)
    expect(await showsImage(accepted)).toBe(false)
    // The browser reports what the policy refused.
    faults.length = 0
  })

  it('reports a link that is no longer valid', async () => {
    await openBrowser()
    await page.goto(`${origin}/sign-in/confirm?token=unknown`)
    expect(await page.getByRole('alert').textContent()).toContain('used, expired or unknown')
    await page.goto(`${origin}/sign-in?invitation=unknown`)
    expect(await page.getByRole('alert').textContent()).toContain('already accepted or revoked')
  })
})

const square = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'

function showsImage(source: string): Promise<boolean> {
  return page.evaluate(`new Promise((resolve) => {
    const image = new Image()
    image.onload = () => resolve(true)
    image.onerror = () => resolve(false)
    image.src = ${JSON.stringify(source)}
  })`)
}

async function askForLink(email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByRole('button', { name: 'E-mail me a sign-in link' }).click()
  await page.getByText('a link is on its way').waitFor()
  await test.sendMails()
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
