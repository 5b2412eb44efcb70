import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sessionCookie } from '../server/src/http/guard.ts'
import { tellStops } from '../server/src/jobs/tell-stops.ts'
import { isAtPlace } from '../server/src/lib/signed-payout.ts'
import { isSignedBy, type SignedVote } from '../server/src/lib/signed-vote.ts'
import type { Person } from '../server/src/testing/app.ts'
import { Authenticator } from '../server/src/testing/authenticator.ts'
import { authorityAnswer } from '../server/src/testing/fake-authority.ts'
import { fakeAddress } from '../server/src/testing/fake-wallet.ts'
import { launchChromium } from '../server/src/testing/launch-chromium.ts'
import { createTransferBench, type TransferBench } from '../server/src/testing/transfer-bench.ts'
import { newVote } from '../server/src/testing/votes.ts'
import { freePort } from './setup/free-port.ts'
import { addAuthenticator } from './setup/signing-window.ts'

let bench: TransferBench
let browser: Browser
let origin: string
/** Those who order, who vote and who administer, at their pages, and a voter with a program. */
let sender: Page
let voter: Page
let key: Authenticator
let keys: Awaited<ReturnType<typeof keyOf>>[]
let administrator: Page

beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  bench = await createTransferBench({ PUBLIC_URL: origin, CONSOLE: 'on' })
  await bench.test.app.listen({ port, host: '127.0.0.1' })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await bench?.close()
})

/** A person's browser with an authenticator of its own, whose finger always agrees, and a passkey that they added. */
async function pageOf(person: Person): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  await context.addCookies([{ name: sessionCookie, value: person.token, url: origin }])
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  await addAuthenticator(page)
  await page.goto(`${origin}/me`)
  await page.getByLabel('Name of the new passkey').fill('Phone')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('row').filter({ hasText: 'Phone' }).waitFor()
  return page
}

async function keyOf(person: Person) {
  const [passkey] = (await person.get('/users/me/passkeys')).body.items
  const publicKey = Buffer.from(passkey!.publicKey, 'base64url')
  return { id: passkey!.credentialId, person: person.userId, publicKey }
}

type Wanted = { address: string; addressId: string; amount: string; recipient: string }

async function order({ address, addressId, amount, recipient }: Wanted): Promise<void> {
  await sender.goto(`${origin}/v/${bench.vault.code}/send?fromAddressId=${addressId}`)
  await sender.getByRole('combobox', { name: 'From' }).fill(address)
  await sender.getByRole('listbox').getByRole('option').first().click()
  await sender.getByRole('combobox', { name: 'To', exact: true }).fill(recipient)
  await sender.getByLabel('Amount in USDT').fill(amount)
  await sender.getByRole('button', { name: 'Send …' }).click()
  await sender.getByText('You sign exactly this with a passkey.').waitFor()
  await sender.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  await sender.getByText('Ordered. It waits for votes.').waitFor()
}

const toNamed = ({ id, person, publicKey }: (typeof keys)[number]) => ({
  person,
  key: { id: Buffer.from(id, 'base64url'), publicKey, origin },
})

it('signatures of passkeys on the pages reach the wallet service, which verifies them itself', async () => {
  const { vault, owner, firstApprover, secondApprover } = bench
  const base = `/vaults/${vault.code}` as const
  const address = await bench.fundedAddress()
  sender = await pageOf(owner)
  voter = await pageOf(firstApprover)
  key = new Authenticator(origin)
  const { creation } = (await secondApprover.post('/users/me/passkeys/options', {})).body
  await secondApprover.post('/users/me/passkeys', { name: 'Key', credential: await key.register(creation) })
  keys = await Promise.all([owner, firstApprover, secondApprover].map(keyOf))
  vault.wallet.authority = authorityAnswer(vault.id, keys.map(toNamed), 3)

  administrator = await pageOf(vault.admin)
  await administrator.goto(`${origin}/v/${vault.code}/settings`)
  await administrator.getByRole('button', { name: 'Switch on' }).click()
  await administrator.getByRole('button', { name: 'Switch off' }).waitFor()

  await order({ address: address.address, addressId: address.id, amount: '200', recipient: bench.recipient })

  const { items } = (await owner.get(`${base}/transfers`)).body
  const { id, payload, payloadHash } = items[0]!
  await voter.goto(`${origin}/v/${vault.code}/approvals/transfer/${id}`)
  await voter.getByRole('button', { name: 'Approve' }).click()
  await voter.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  await voter.getByText('You approved this.').waitFor()
  const person = secondApprover.userId
  const signature = key.vote(newVote({ subject: 'transfer', hash: payloadHash, decision: 'approve', person }))
  expect((await bench.act(secondApprover, id, 'approve', { signature })).body.status).toBe('pending')

  await bench.deliver()
  const { authorization } = handedOver().at(-1)!
  expect(authorization).toMatchObject({ order: payload, authorityVersion: 3 })
  expectSigned(authorization.votes, payloadHash)
})

it('a veto and a cancellation are signed on the pages of the service, where the authority trusts them', async () => {
  const { vault, owner, firstApprover, recipient } = bench
  const base = `/vaults/${vault.code}` as const
  const address = await bench.fundedAddress()
  expect((await owner.get(`${base}/authority`)).body.trustsServicePage).toBe(true)
  const ordered = async (amount: string) => {
    await order({ address: address.address, addressId: address.id, amount, recipient })
    const { items } = (await owner.get(`${base}/transfers`)).body
    return items.find(({ amountDecimal }) => amountDecimal === amount)!
  }
  const { wallet } = vault
  const stops = () => wallet.requests.filter(({ path }) => path === '/stops').flatMap(({ body }) => body.votes)

  const vetoed = await ordered('210')
  await voter.goto(`${origin}/v/${vault.code}/approvals/transfer/${vetoed.id}`)
  await voter.getByRole('button', { name: 'Reject' }).click()
  const dialog = voter.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('Not expected')
  await dialog.getByRole('button', { name: 'Confirm the rejection' }).click()
  await voter.getByText('You rejected this.').waitFor()

  const cancelled = await ordered('220')
  await sender.goto(`${origin}/v/${vault.code}/transfers/${cancelled.id}`)
  await sender.getByRole('button', { name: 'Cancel the transfer' }).click()
  await sender.getByText('Sign it with a passkey').waitFor()
  await sender.getByRole('dialog').getByRole('button', { name: 'Cancel the transfer' }).click()
  await sender.getByText('The transfer was cancelled. Its amount is available again.').waitFor()

  await tellStops(bench.test.deps)
  const wanted = [
    { hash: vetoed.payloadHash, decision: 'reject', person: firstApprover.userId },
    { hash: cancelled.payloadHash, decision: 'cancel', person: owner.userId },
  ]
  expect(stops().map(({ vote }: SignedVote) => vote)).toEqual(wanted.map((vote) => expect.objectContaining(vote)))
  for (const signed of stops()) expectSignedHere(signed)
})

it('a payout is signed once by each, on pages that compute what they sign from all of its rows', async () => {
  const base = `/vaults/${bench.vault.code}/payouts` as const
  // More rows than one page of the API has.
  const lines = Array.from({ length: 120 }, (_, i) => `row-${i},${fakeAddress(`paid ${i}`)},2`)
  const buffer = Buffer.from(['externalId,toAddress,amount', ...lines].join('\n'))
  await sender.goto(`${origin}/v/${bench.vault.code}/payouts/new`)
  await sender.locator('input[type=file]').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
  await sender.getByLabel('From').selectOption({ index: 1 })
  await sender.getByLabel('Token', { exact: true }).selectOption({ index: 1 })
  await sender.getByRole('button', { name: 'Check the policies' }).click()
  await sender.getByText('Waits for votes', { exact: true }).waitFor()
  const answer = sender.waitForResponse(
    (response) => response.request().method() === 'POST' && response.url().endsWith('/payouts'),
  )
  // The page computes the document of all rows before it lets anybody order; until then the button does nothing.
  await sender.getByRole('button', { name: 'Order 120 payments', disabled: false }).click()
  await sender.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  expect((await answer).status(), await (await answer).text()).toBe(201)
  await sender.waitForURL(/\/payouts\/c[a-z0-9]{24}$/)

  const { id, payloadHash } = (await bench.owner.get(base)).body.items[0]!
  await voter.goto(`${origin}/v/${bench.vault.code}/payouts/${id}`)
  await voter.getByRole('link', { name: 'Approve or reject …' }).click()
  await voter.waitForURL(`**/approvals/payout/${id}`)
  // All rows, although the table draws only those in view.
  await voter.locator('[aria-rowcount="121"]').waitFor()
  // The buttons stay where they are while one scrolls to the end of the list.
  const approve = voter.getByRole('button', { name: 'Approve' })
  const placed = await approve.boundingBox()
  // Rows are measured as they come into view, so that the end of the list moves.
  const last = voter.getByText('row-119')
  for (; !(await last.isVisible()); await voter.waitForTimeout(50)) await voter.mouse.wheel(0, 100_000)
  expect(await approve.boundingBox()).toEqual(placed)
  await approve.click()
  await voter.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  await voter.getByText('You approved this.').waitFor()
  const person = bench.secondApprover.userId
  const signature = key.vote(newVote({ subject: 'payout', hash: payloadHash, decision: 'approve', person }))
  const { status } = (await bench.secondApprover.post(`${base}/${id}/approve`, { signature })).body
  expect(status).toBe('approved')

  const before = handedOver().length
  await bench.deliver()
  const told = handedOver().slice(before)
  expect(told).toHaveLength(120)
  expectSigned(told[0]!.authorization.votes, payloadHash)
  for (const { authorization } of told) expect(isAtPlace(authorization.order, authorization.batch)).toBe(true)
})

const handedOver = () =>
  bench.vault.wallet.requests
    .filter(({ method, path }) => method === 'POST' && path === '/transfers')
    .map(({ body }) => body)

function expectSigned(votes: SignedVote[], hash: string): void {
  expect(votes).toHaveLength(3)
  for (const signed of votes) {
    expect(signed.vote.hash).toBe(hash)
    expectSignedHere(signed)
  }
}

function expectSignedHere(signed: SignedVote): void {
  const { publicKey } = keys.find((key) => key.id === signed.keyId && key.person === signed.vote.person)!
  expect(isSignedBy(signed, { kind: 'passkey', publicKey, rpId: 'localhost', origins: [origin] })).toBe(true)
}

it('a first passkey in the protected vault waits until an administrator has compared its fingerprint', async () => {
  const { thirdApprover } = bench
  const approverPage = await pageOf(thirdApprover)
  const row = approverPage.getByRole('row').filter({ hasText: 'Phone' })
  const waitingLink = row.getByRole('link', { name: 'Waits for a second person' })
  await waitingLink.waitFor()
  const fingerprint = (await row.getByText(/^([0-9a-f]{4} ){15}[0-9a-f]{4}$/).textContent()) ?? ''

  await administrator.goto(`${origin}${await waitingLink.getAttribute('href')}`)
  await administrator.getByRole('heading', { name: 'First passkey of a person' }).waitFor()
  await administrator.getByText(fingerprint).first().waitFor()
  await administrator.getByRole('button', { name: 'Approve' }).click()
  await administrator.getByRole('dialog').getByText(fingerprint).waitFor()
  await administrator.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  await administrator.getByText('You approved this.').waitFor()

  await approverPage.reload()
  await row.getByText('Never').waitFor()
  expect(await waitingLink.count()).toBe(0)
})
