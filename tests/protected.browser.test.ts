import { type AddressInfo, createServer } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sessionCookie } from '../server/src/http/guard.ts'
import { isSignedBy, type SignedVote } from '../server/src/lib/signed-vote.ts'
import type { Person } from '../server/src/testing/app.ts'
import { Authenticator } from '../server/src/testing/authenticator.ts'
import { findChromium } from '../server/src/testing/find-chromium.ts'
import { createTransferBench, type TransferBench } from '../server/src/testing/transfer-bench.ts'

let bench: TransferBench
let browser: Browser
let origin: string

beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  bench = await createTransferBench({ PUBLIC_URL: origin, CONSOLE: 'on' })
  await bench.test.app.listen({ port, host: '127.0.0.1' })
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath: findChromium(), args })
})
afterAll(async () => {
  await browser?.close()
  await bench?.close()
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A person's browser with an authenticator of its own, whose finger always agrees, and a passkey that they added. */
async function pageOf(person: Person): Promise<Page> {
  const context = await browser.newContext()
  await context.addCookies([{ name: sessionCookie, value: person.token, url: origin }])
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
  await page.goto(`${origin}/me`)
  await page.getByLabel('Name of the new passkey').fill('Phone')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('row').filter({ hasText: 'Phone' }).waitFor()
  return page
}

async function keyOf(person: Person) {
  const [passkey] = (await person.get('/users/me/passkeys')).body.items
  const publicKey = Buffer.from(passkey.publicKey, 'base64url')
  return { id: passkey.credentialId, person: person.userId, publicKey }
}

it('what passkeys signed on the pages reaches the wallet service, which verifies it for itself', async () => {
  const { vault, owner, firstApprover, secondApprover } = bench
  const base = `/vaults/${vault.code}`
  const address = await bench.fundedAddress()
  const pages = [await pageOf(owner), await pageOf(firstApprover)] as const
  const key = new Authenticator(origin)
  const { creation } = (await secondApprover.post('/users/me/passkeys/options', {})).body
  await secondApprover.post('/users/me/passkeys', { name: 'Key', credential: key.create(creation) })
  const keys = await Promise.all([owner, firstApprover, secondApprover].map(keyOf))
  vault.wallet.authority = { authority: { keys }, version: 3, hash: '0'.repeat(64) }

  const administrator = await pageOf(vault.admin)
  await administrator.goto(`${origin}/v/${vault.code}/settings`)
  await administrator.getByRole('button', { name: 'Switch on' }).click()
  await administrator.getByRole('button', { name: 'Switch off' }).waitFor()

  const [sender, voter] = pages
  await sender.goto(`${origin}/v/${vault.code}/send?fromAddressId=${address.id}`)
  await sender.getByRole('combobox', { name: 'From' }).fill(address.address)
  await sender.getByRole('listbox').getByRole('option').first().click()
  await sender.getByRole('combobox', { name: 'To', exact: true }).fill(bench.recipient)
  await sender.getByLabel('Amount in USDT').fill('200')
  await sender.getByRole('button', { name: 'Send …' }).click()
  await sender.getByText('You sign exactly this with a passkey.').waitFor()
  await sender.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  await sender.getByText('Ordered. It waits for votes.').waitFor()

  const { items } = (await owner.get(`${base}/transfers`)).body
  const { id, payload, payloadHash } = items[0]
  await voter.goto(`${origin}/v/${vault.code}/approvals/transfer/${id}`)
  await voter.getByRole('button', { name: 'Approve' }).click()
  await voter.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  await voter.getByText('You approved this.').waitFor()
  const vote = { format: 'strongroom-vote-1', subject: 'transfer', hash: payloadHash, decision: 'approve' } as const
  const signature = key.vote({ ...vote, person: secondApprover.userId })
  expect((await bench.act(secondApprover, id, 'approve', { signature })).body.status).toBe('pending')

  await bench.deliver()
  const { authorization } = vault.wallet.requests.findLast(
    ({ method, path }) => method === 'POST' && path === '/transfers',
  )!.body
  expect(authorization).toMatchObject({ order: payload, authorityVersion: 3 })
  expect(authorization.votes).toHaveLength(3)
  for (const signed of authorization.votes as SignedVote[]) {
    const { publicKey } = keys.find((one) => one.id === signed.keyId && one.person === signed.vote.person)!
    expect(signed.vote.hash).toBe(payloadHash)
    expect(isSignedBy(signed, { kind: 'passkey', publicKey, rpId: 'localhost', origins: [origin] })).toBe(true)
  }
})
