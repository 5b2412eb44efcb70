import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionCookie } from '../server/src/http/guard.ts'
import type { Person } from '../server/src/testing/app.ts'
import { Authenticator } from '../server/src/testing/authenticator.ts'
import { authorityAnswer } from '../server/src/testing/fake-authority.ts'
import { usdtContract } from '../server/src/testing/fixtures.ts'
import { launchChromium } from '../server/src/testing/launch-chromium.ts'
import { confirming } from '../server/src/testing/passkeys.ts'
import { createTransferBench, type TransferBench } from '../server/src/testing/transfer-bench.ts'
import { newVote } from '../server/src/testing/votes.ts'
import { hashOf } from '../wallet/src/authority/canonical.ts'
import { refusalOfOrder } from '../wallet/src/authority/decide.ts'
import type { Authority, AuthorityKey } from '../wallet/src/authority/documents.ts'
import { pinAuthority } from '../wallet/src/authority/protection.ts'
import { AuthorityStore } from '../wallet/src/authority/store.ts'
import { isSignedBy } from '../wallet/src/authority/verify-vote.ts'
import { type RunningWallet, startWallet } from '../wallet/src/start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../wallet/src/testing/database.ts'
import { testConfig } from '../wallet/src/testing/wallet-client.ts'
import { freePort } from './setup/free-port.ts'
import {
  addAuthenticator,
  factOf,
  type Handed,
  handedTo,
  openWindow,
  type Registered,
  registerAt,
} from './setup/signing-window.ts'

let bench: TransferBench
let browser: Browser
let context: BrowserContext
let wallet: RunningWallet
let database: TestDatabase
let pool: pg.Pool
let directory: string
let consoleOrigin: string
let page: string
/** Of the first approver, who has no other passkey. */
let registered: Registered
/** Of the initiator, who cancels there. */
let registeredByOwner: Registered
let store: AuthorityStore
let clientId: string
let authority: Authority
const keys = new Map<Person, Authenticator>()
const attacker = '0x000000000000000000000000000000000000dEaD'

beforeAll(async () => {
  const ports = [await freePort(), await freePort()] as const
  consoleOrigin = `http://localhost:${ports[0]}`
  page = `http://sign.localhost:${ports[1]}`
  bench = await createTransferBench({ PUBLIC_URL: consoleOrigin, CONSOLE: 'on' })
  await bench.test.app.listen({ port: ports[0], host: '127.0.0.1' })
  database = await createTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'signed-elsewhere-'))
  const place = { databaseUrl: database.url, rpcUrl: 'http://127.0.0.1:9', authorityDir: directory }
  wallet = await startWallet(testConfig({ ...place, port: ports[1], signing: { origin: page, consoleOrigin } }))
  pool = new pg.Pool({ connectionString: database.url })
  browser = await launchChromium()
  context = await browser.newContext({ reducedMotion: 'reduce' })
  await protect()
})
afterAll(async () => {
  await browser?.close()
  await wallet?.stop()
  await pool?.end()
  await database?.drop()
  await bench?.close()
  if (directory !== undefined) await rm(directory, { recursive: true, force: true })
})

async function protect(): Promise<void> {
  const { vault, owner, firstApprover, secondApprover } = bench
  registered = await registerAt(context, page, firstApprover.userId)
  registeredByOwner = await registerAt(context, page, owner.userId)
  for (const person of [owner, secondApprover]) keys.set(person, await addPasskey(person))
  const administrator = confirming(vault.admin, await addPasskey(vault.admin))
  const named = [...keys].map(([{ userId: person }, key]) => ({ person, key }))
  const answer = authorityAnswer(vault.id, named)
  const group = 'treasurers'
  authority = {
    ...(answer.authority as unknown as Authority),
    keys: [...answer.authority.keys, registered.entry, registeredByOwner.entry] as AuthorityKey[],
    groups: [{ id: group, persons: [...named.map(({ person }) => person), firstApprover.userId] }],
    rules: [
      {
        network: 'ethereum',
        contractAddress: usdtContract,
        symbol: 'USDT',
        decimals: 6,
        initiators: group,
        perDay: null,
        floors: [{ above: '0', to: 'unlisted', group, votes: 2 }],
      },
    ],
  }
  vault.wallet.authority = { authority, version: 1, hash: hashOf(authority) }
  const { rows } = await pool.query("select id from wallet.clients where name = 'first'")
  clientId = rows[0].id
  store = new AuthorityStore(directory)
  await pinAuthority(pool, store, clientId, authority)
  const { body } = await administrator.put(`/vaults/${vault.code}/protection`, { protection: 'votes' })
  expect(body.protection).toBe('votes')
}

/** A passkey of the pages of the service. */
async function addPasskey(person: Person): Promise<Authenticator> {
  const key = new Authenticator(consoleOrigin)
  const { creation } = (await person.post('/users/me/passkeys/options', {})).body
  const added = await person.post('/users/me/passkeys', { name: 'Key', credential: await key.register(creation) })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  return key
}

async function ordered(amount: string) {
  const address = await bench.fundedAddress()
  const order = { fromAddressId: address.id, toAddress: bench.recipient, amount }
  const base = `/vaults/${bench.vault.code}/transfers` as const
  const preview = (await bench.owner.post(`${base}/preview`, order)).body
  const { transferId, expiresAt, rulesVersion } = preview.order
  const vote = keys.get(bench.owner)!.vote(preview.vote)
  const { status, body } = await bench.owner.post(base, {
    ...order,
    signed: { transferId, expiresAt, rulesVersion, vote },
  })
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

/** A payout of two rows, which waits for votes. */
async function orderedAll(name: string) {
  const address = await bench.fundedAddress()
  const rows = ['70', '80'].map((amount, i) => {
    return { externalId: `${name}-${i}`, fromAddressId: address.id, toAddress: bench.recipient, amount }
  })
  const base = `/vaults/${bench.vault.code}/payouts` as const
  const { payoutId, orders, vote } = (await bench.owner.post(`${base}/preview`, { rows })).body.toSign
  const { expiresAt, rulesVersion } = orders[0]!
  const signed = { payoutId, expiresAt, rulesVersion, vote: keys.get(bench.owner)!.vote(vote) }
  const { status, body } = await bench.owner.post(base, { rows, signed })
  expect([status, body.status], JSON.stringify(body)).toEqual([201, 'awaiting_approval'])
  return { payoutId, orders, payloadHash: body.payloadHash }
}

/** The approval page of the first approver, whose browser has no passkey for the pages of the service. */
async function approvalPage(id: string, kind = 'transfer'): Promise<Page> {
  const voter = await pageOf(bench.firstApprover)
  await voter.goto(`${consoleOrigin}/v/${bench.vault.code}/approvals/${kind}/${id}`)
  // In two runs of the whole suite the page asked for no vote. The output says what it showed instead; a person loads it again.
  const approve = voter.getByRole('button', { name: 'Approve' })
  await approve.waitFor({ timeout: 15_000 }).catch(async () => {
    console.warn(`${voter.url()} asks for no vote: ${await voter.locator('body').textContent()}`)
    await voter.reload()
  })
  await approve.waitFor()
  return voter
}

async function pageOf({ token }: Person): Promise<Page> {
  await context.addCookies([{ name: sessionCookie, value: token, url: consoleOrigin }])
  const opened = await context.newPage()
  opened.setDefaultTimeout(30_000)
  return opened
}

const payoutOf = async (id: string) =>
  (await bench.owner.get(`/vaults/${bench.vault.code}/payouts/${id}` as '/vaults/{code}/payouts/{id}')).body

/** The window that opens, with the passkey that its person made there. */
async function signing(opening: Promise<Page>, { credential } = registered): Promise<Page> {
  const popup = await opening
  popup.setDefaultTimeout(30_000)
  await addAuthenticator(popup, [credential])
  return popup
}

/** Types the end of a recipient that is on no list. The person reads it at its source. */
const typeEndOf = (popup: Page, recipient: string) =>
  popup.getByLabel('type its last four characters').fill(recipient.slice(-4))

async function approve(voter: Page): Promise<Page> {
  const opening = voter.waitForEvent('popup')
  await voter.getByRole('button', { name: 'Approve' }).click()
  await voter.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  return signing(opening)
}

describe('T78 people who sign on the page of the wallet service', () => {
  it('approves in the console, signs there, and is believed by the service and by the wallet service', async () => {
    const { id, payload, payloadHash } = await ordered('200')
    const voter = await approvalPage(id)
    const popup = await approve(voter)
    await popup.getByText('The recipient is NOT on the signed address list').waitFor()
    expect(await factOf(popup, 'Recipient')).toBe(payload.toAddress)
    expect(await factOf(popup, 'Fingerprint of the document')).toBe(payloadHash)
    await typeEndOf(popup, payload.toAddress)
    await popup.getByRole('button', { name: 'Sign the approval' }).click()
    await voter.getByText('You approved this.').waitFor()

    const by = { person: bench.secondApprover.userId, authority: hashOf(authority) }
    const vote = newVote({ subject: 'transfer', hash: payloadHash, decision: 'approve', ...by })
    const signature = keys.get(bench.secondApprover)!.vote(vote)
    expect((await bench.act(bench.secondApprover, id, 'approve', { signature })).body.status).toBe('pending')
    await bench.deliver()
    const { body } = bench.vault.wallet.requests.findLast(
      ({ method, path }) => method === 'POST' && path === '/transfers',
    )!
    const { authorization, ...sent } = body
    expect(authorization.votes).toHaveLength(3)
    const ordering = { ...sent, amount: BigInt(sent.amount), feeLevel: null, maxFee: null }
    const situation = { ordered: ordering, authorization, orderedLastDay: 0n, now: new Date() }
    expect(refusalOfOrder({ ...situation, authority })).toBe(null)
    const key = registered.entry as AuthorityKey & { kind: 'passkey' }
    const signed = authorization.votes.find(({ keyId }: { keyId: string }) => keyId === key.id)
    expect(isSignedBy(key, signed)).toBe(true)
    expect(isSignedBy({ ...key, rpId: 'localhost', origins: [consoleOrigin] }, signed)).toBe(false)
    await voter.close()
  })

  it('approves a payout there, with all of its rows', async () => {
    const { payoutId, orders, payloadHash } = await orderedAll('elsewhere')
    const voter = await approvalPage(payoutId, 'payout')
    const popup = await approve(voter)
    const shown = popup.getByRole('region', { name: 'All rows' }).locator('tbody tr')
    await shown.first().waitFor()
    expect(await shown.count()).toBe(2)
    expect(await shown.nth(1).textContent()).toContain(`80 USDT${orders[1]!.toAddress}unlisted`)
    expect(await popup.getByRole('main').textContent()).toContain('150 USDT')
    expect(await factOf(popup, 'Fingerprint of the document')).toBe(payloadHash)
    await popup.getByLabel('type its last four characters').fill(bench.recipient.slice(-4))
    await popup.getByRole('button', { name: 'Sign the approval' }).click()
    await voter.getByText('You approved this.').waitFor()
    await voter.close()
  })

  it('rejects a payout there, and the wallet service signs none of its rows from then on', async () => {
    const { payoutId, orders, payloadHash } = await orderedAll('rejected')
    // Rows that are still loading cannot be decided: a veto would sign an empty list.
    await context.route('**/rows*', async (route) => {
      await sleep(1_000)
      await route.continue()
    })
    const voter = await approvalPage(payoutId, 'payout')
    await voter.getByRole('button', { name: 'Reject' }).click()
    const dialog = voter.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('Not expected')
    const opening = voter.waitForEvent('popup')
    await dialog.getByRole('button', { name: 'Confirm the rejection' }).click()
    const popup = await signing(opening)
    const shown = popup.getByRole('region', { name: 'All rows' }).locator('tbody tr')
    await shown.nth(1).waitFor()
    expect(await shown.nth(1).textContent()).toContain(`80 USDT${orders[1]!.toAddress}`)
    await popup.getByRole('button', { name: 'Sign the rejection' }).click()
    await popup.getByText('The wallet service has it: it signs nothing of this from now on.').waitFor()
    await expect.poll(async () => (await payoutOf(payoutId)).status).toBe('rejected')
    const stop = { person: bench.firstApprover.userId, decision: 'reject', hash: payloadHash }
    expect(await store.stops.find(clientId, [payloadHash])).toEqual([expect.objectContaining(stop)])
    await context.unrouteAll({ behavior: 'wait' })
    await voter.close()
  })

  it('takes a payout back there, as its initiator, and the wallet service signs none of its rows', async () => {
    const { payoutId, orders, payloadHash } = await orderedAll('cancelled')
    const initiator = await pageOf(bench.owner)
    await initiator.goto(`${consoleOrigin}/v/${bench.vault.code}/payouts/${payoutId}`)
    await initiator.getByRole('button', { name: 'Withdraw …' }).click()
    await initiator.getByText('Sign it with a passkey').waitFor()
    const opening = initiator.waitForEvent('popup')
    await initiator.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
    const popup = await signing(opening, registeredByOwner)
    const shown = popup.getByRole('region', { name: 'All rows' }).locator('tbody tr')
    await shown.nth(1).waitFor()
    expect(await shown.nth(0).textContent()).toContain(`70 USDT${orders[0]!.toAddress}`)
    await popup.getByRole('button', { name: 'Sign the cancellation' }).click()
    await popup.getByText('The wallet service has it: it signs nothing of this from now on.').waitFor()
    await expect.poll(async () => (await payoutOf(payoutId)).status).toBe('cancelled')
    const stop = { person: bench.owner.userId, decision: 'cancel', hash: payloadHash }
    expect(await store.stops.find(clientId, [payloadHash])).toEqual([expect.objectContaining(stop)])
    await initiator.close()
  })

  it('sees another order that a console was made to hand over, and it counts for that order alone', async () => {
    const { id, payload, payloadHash } = await ordered('300')
    const voter = await approvalPage(id)
    await voter.getByText('300').first().waitFor()
    const forged = { ...payload, toAddress: attacker, amount: '999000000' }
    const forgedVote = {
      order: forged,
      decision: 'approve',
      person: bench.firstApprover.userId,
      authority: hashOf(authority),
    }
    const fragment = Buffer.from(JSON.stringify(forgedVote)).toString('base64url')
    // Scripts that a taken-over server has put into its own page.
    const popup = await signing(openWindow(voter, `${page}/sign#${fragment}`))
    await popup.getByText('The recipient is NOT on the signed address list').waitFor()
    expect(await factOf(popup, 'Recipient')).toBe(attacker)
    expect(await popup.getByRole('main').textContent()).toContain('999000000')
    expect(await factOf(popup, 'Fingerprint of the document')).toBe(hashOf(forged))
    await typeEndOf(popup, attacker)
    await popup.getByRole('button', { name: 'Sign the approval' }).click()
    await expect.poll(() => handedTo(voter)).toHaveLength(1)
    const [{ data }] = (await handedTo(voter)) as [Handed]
    const { signed } = data
    expect(hashOf(forged)).not.toBe(payloadHash)
    const refused = await bench.act(bench.firstApprover, id, 'approve', { signature: signed })
    expect([refused.status, refused.body.reason]).toEqual([409, 'payload_changed'])
    const renamed = { ...signed, vote: { ...signed.vote, hash: payloadHash } }
    expect((await bench.act(bench.firstApprover, id, 'approve', { signature: renamed })).body.reason).toBe(
      'signature_required',
    )
    await voter.close()
  })

  it('does not sign on a page of the service that withholds the page for signatures', async () => {
    const { id } = await ordered('260')
    const voter = await approvalPage(id)
    await addAuthenticator(voter)
    // The page has asked for all that it shows before its requests are stopped.
    await voter.getByRole('button', { name: 'Approve' }).waitFor()
    await voter.route('**/authority/signing-pages', (route) =>
      route.fulfill({
        status: 502,
        json: { status: 502, reason: 'wallet_service_failed', message: 'Gone', details: [] },
      }),
    )
    await voter.evaluate(`{
      window.asked = 0
      navigator.credentials.get = () => { window.asked += 1; return Promise.reject(new Error('asked')) }
    }`)
    await voter.getByRole('button', { name: 'Approve' }).click()
    await voter.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
    await voter.getByText('It cannot be read on which page you sign, and nothing was signed.').first().waitFor()
    expect(await voter.evaluate('window.asked')).toBe(0)
    expect((await bench.read(id, bench.firstApprover)).status).toBe('awaiting_approval')
    await voter.close()
  })

  it('keeps the request unchanged when the window is closed', async () => {
    const { id } = await ordered('250')
    const voter = await approvalPage(id)
    const popup = await approve(voter)
    await popup.getByRole('button', { name: 'Close' }).click()
    await voter.getByText('The window was closed, and nothing was signed.').waitFor()
    expect((await bench.read(id, bench.firstApprover)).status).toBe('awaiting_approval')
  })
})
