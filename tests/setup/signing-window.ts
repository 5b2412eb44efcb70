import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import type { SignedVote } from '../../wallet/src/authority/documents.ts'

/**
 * A passkey in the form of Chromium's virtual authenticators. A passkey that was made in one window can be given to
 * another window.
 */
export type Credential = Awaited<ReturnType<typeof credentialsOf>>[number]

/** An authenticator that always confirms. Chromium keeps one for each window. */
export async function addAuthenticator(page: Page, credentials: Credential[] = []) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
  for (const credential of credentials) await devtools.send('WebAuthn.addCredential', { authenticatorId, credential })
  return { devtools, authenticatorId }
}

export async function credentialsOf({ devtools, authenticatorId }: { devtools: CDPSession; authenticatorId: string }) {
  return (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials
}

/** A message that a page received from a window that it opened. */
export type Handed = { origin: string; data: { type: string; signed: SignedVote } }

/** Opens a window from a page, as its own script would. The page keeps all messages that it receives. */
export async function openWindow(page: Page, url: string): Promise<Page> {
  const opened = page.waitForEvent('popup')
  await page.evaluate(`{
    window.handed = []
    addEventListener('message', ({ origin, data }) => window.handed.push({ origin, data }))
    window.opened = window.open(${JSON.stringify(url)}, 'strongroom-sign', 'popup')
  }`)
  return opened
}

export const handedTo = (page: Page): Promise<Handed[]> => page.evaluate('window.handed')

/** The fact of this name on the page for signatures, without the gaps by which people compare it. */
export async function factOf(page: Page, term: string): Promise<string> {
  const facts = page.locator('dt', { hasText: new RegExp(`^${term}$`) }).locator('+ dd')
  return (await facts.first().textContent())!.trim()
}

export type Registered = {
  entry: { id: string; person: string; publicKey: string; rpId: string; origins: string[] }
  fingerprint: string
  credential: Credential
}

/** Makes a passkey on the page of a wallet service, as a person does before the ceremony. */
export async function registerAt(context: BrowserContext, origin: string, person: string): Promise<Registered> {
  const page = await context.newPage()
  const authenticator = await addAuthenticator(page)
  await page.goto(`${origin}/sign#register`)
  await page.getByLabel('Name of the passkey').fill('Phone of the approver')
  await page.getByLabel('Your user id').fill(person)
  await page.getByRole('button', { name: 'Make a passkey' }).click()
  const entry = JSON.parse(await page.getByLabel('Entry').inputValue())
  const fingerprint = await factOf(page, 'Fingerprint of the key')
  const [credential] = await credentialsOf(authenticator)
  await page.close()
  return { entry, fingerprint, credential: credential! }
}
