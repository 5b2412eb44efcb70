import type { Browser, Locator, Page, Request } from 'playwright-core'
import { sessionCookie } from '../../server/src/http/guard.ts'
import { addAuthenticator, type Credential, factOf, type Registered, registerAt } from './signing-window.ts'

type Seat = { origin: string; token: string; userId: string; signingPage: string }
/** A payment as people read it on the page for signatures. */
export type Read = { amount: string; toAddress: string }

/** A person at the console, whose service may lie, with a passkey of the service and another one of the wallet service. */
export class Desk {
  readonly page: Page
  readonly registered: Registered
  /** The milliseconds in which an idle page must show something. A machine may be busy. */
  patience = 60_000
  readonly #origin: string
  readonly #open = new Set<Request>()
  #since = performance.now()

  private constructor(page: Page, registered: Registered, origin: string) {
    this.page = page
    this.registered = registered
    this.#origin = origin
    page.on('request', (request) => {
      // The console waits for changes all the time.
      if (!request.url().includes('/changes')) this.#open.add(request)
    })
    const end = (request: Request) => {
      this.#open.delete(request)
      this.#since = performance.now()
    }
    page.on('requestfinished', end)
    page.on('requestfailed', end)
  }

  static async take(browser: Browser, { origin, token, userId, signingPage }: Seat): Promise<Desk> {
    const context = await browser.newContext({
      locale: 'en-US',
      viewport: { width: 1400, height: 1600 },
      reducedMotion: 'reduce',
    })
    const registered = await registerAt(context, signingPage, userId)
    await context.addCookies([{ name: sessionCookie, value: token, url: origin }])
    const page = await context.newPage()
    page.setDefaultTimeout(15_000)
    await addAuthenticator(page)
    const desk = new Desk(page, registered, origin)
    await desk.goto('/me')
    await page.getByLabel('Name of the new passkey').fill('Phone')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('row').filter({ hasText: 'Phone' }).waitFor()
    return desk
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(this.#origin + path)
  }

  /** Waits until something is there, or the page has asked for nothing for a while. */
  async reaches(locator: Locator): Promise<void> {
    const start = performance.now()
    while (performance.now() - start < 60_000) {
      if ((await locator.isVisible()) && (await locator.isEnabled())) return
      const still = this.#open.size > 0 ? 0 : performance.now() - Math.max(this.#since, start)
      if (still > this.patience) break
      await this.page.waitForTimeout(50)
    }
    throw new NothingDone(`the page does not show ${locator}: ${await this.page.locator('body').textContent()}`)
  }

  async click(locator: Locator): Promise<void> {
    await this.reaches(locator)
    await locator.click()
  }

  /** Presses what opens the page for signatures, and gives its window; the console may say instead that it does not sign. */
  async window(press: Locator): Promise<Page> {
    const opening = this.page.waitForEvent('popup', { timeout: 15_000 }).catch(() => null)
    await this.click(press)
    const refused = this.page.getByRole('alert').first().waitFor({ timeout: 15_000 })
    const popup = await Promise.race([opening, refused.then(() => null).catch(() => null)])
    if (popup === null) throw new NothingDone('nothing was signed')
    popup.setDefaultTimeout(4_000)
    await addAuthenticator(popup, [this.registered.credential as Credential])
    return popup
  }
}

/** A person could not do what they wanted to, or saw something else than they expected. */
export class NothingDone extends Error {}

/** Reads the payment on the page for signatures, and closes the window when it is another one. */
export async function readPayment(popup: Page, { amount, toAddress }: Read): Promise<void> {
  await popup.getByRole('heading', { level: 1 }).waitFor()
  const shown = await Promise.all([factOf(popup, 'Amount'), factOf(popup, 'Recipient')]).catch(() => [])
  if (shown[0] === amount && shown[1] === toAddress) return
  await popup.close()
  throw new NothingDone(`the window shows ${shown}, and not ${amount} to ${toAddress}`)
}

/** Presses the button of the page for signatures, and types the ends of those whom the person pays, where it asks. */
export async function sign(popup: Page, paid: readonly string[], said?: string): Promise<void> {
  const button = popup.getByRole('button', { name: /^Sign the/ })
  const closed = popup.waitForEvent('close', { timeout: 15_000 })
  closed.catch(() => {})
  try {
    await button.waitFor()
    const fields = popup.getByLabel('last four characters')
    for (const [i, field] of (await fields.all()).entries()) await field.fill((paid[i] ?? paid[0]!).slice(-4))
    await button.click({ timeout: 5_000 })
    if (said !== undefined) await popup.getByText(said).waitFor()
    await closed
  } catch (error) {
    if (!popup.isClosed()) {
      const shown = await popup.locator('body').textContent()
      await popup.close()
      throw new NothingDone(`nothing is signed on: ${shown}`, { cause: error })
    }
  }
}
