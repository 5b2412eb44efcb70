import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deflateRawSync } from 'node:zlib'
import pg from 'pg'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchChromium } from '../server/src/testing/launch-chromium.ts'
import { hashOf, toFingerprint } from '../wallet/src/authority/canonical.ts'
import type { Authority, AuthorityKey, Order, SignedVote } from '../wallet/src/authority/documents.ts'
import { pinAuthority } from '../wallet/src/authority/protection.ts'
import { AuthorityStore } from '../wallet/src/authority/store.ts'
import { isSignedBy } from '../wallet/src/authority/verify-vote.ts'
import { type RunningWallet, startWallet } from '../wallet/src/start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../wallet/src/testing/database.ts'
import { authorizeAll, payoutOf } from '../wallet/src/testing/payout.ts'
import {
  authorize,
  follow,
  listed,
  authority as pinned,
  order as plain,
  requestOf,
  team,
  token,
  unlisted,
} from '../wallet/src/testing/signing.ts'
import { call, deriveTestAddress, testConfig } from '../wallet/src/testing/wallet-client.ts'
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

/** Pages of any host. They open the page for signatures. */
let openers: Server
const names = ['first', 'vault-of-the-order', 'vault-of-the-payout', 'vault-that-changes']
const tokenOf = (name: string) => `token-of-the-client-${name}`
let database: TestDatabase
let pool: pg.Pool
let directory: string
let wallet: RunningWallet
let browser: Browser
let origin: string
let consoleOrigin: string
let evilOrigin: string

let context: BrowserContext
const faults: string[] = []

beforeAll(async () => {
  openers = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Opener</title>')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => openers.once('listening', resolve))
  const { port: openerPort } = openers.address() as AddressInfo
  consoleOrigin = `http://console.localhost:${openerPort}`
  evilOrigin = `http://evil.localhost:${openerPort}`
  const port = await freePort()
  origin = `http://sign.localhost:${port}`
  database = await createTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'signing-page-'))
  const place = { databaseUrl: database.url, rpcUrl: 'http://127.0.0.1:9', authorityDir: directory }
  const clients = names.map((name) => ({ name, token: tokenOf(name) }))
  wallet = await startWallet(testConfig({ ...place, port, clients, signing: { origin, consoleOrigin } }))
  pool = new pg.Pool({ connectionString: database.url })
  const { rows } = await pool.query("select id from wallet.clients where name = 'first'")
  await pinAuthority(pool, new AuthorityStore(directory), rows[0].id, authority)
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await wallet?.stop()
  await pool?.end()
  await database?.drop()
  openers?.close()
  if (directory !== undefined) await rm(directory, { recursive: true, force: true })
})
beforeEach(async () => {
  context = await browser.newContext()
  context.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
})
afterEach(async () => {
  await context.close()
  faults.length = 0
})

/** Pins an authority for a client of the name, and gives what orders of its vault are made and handed over with. */
async function protect(vaultId: string, changes: Partial<Authority>) {
  const token = tokenOf(vaultId)
  const store = new AuthorityStore(directory)
  const { rows } = await pool.query('select id from wallet.clients where name = $1', [vaultId])
  const present: Authority = { ...authority, vaultId, ...changes }
  await pinAuthority(pool, store, rows[0].id, present)
  const derivationPath = 'm/44/60/0/0'
  const fromAddress = await deriveTestAddress(wallet.url, derivationPath, token)
  const orderFrom = (values: Partial<Order>) =>
    orderOf({ vaultId, toAddress: listed, amount: '7', derivationPath, fromAddress, ...values })
  /** As a service does that only has what anna signed. */
  const hand = (order: Order, authorization = authorize(order, { by: team.anna, under: present })) =>
    call<{ details: string }>(wallet.url, '/transfers', { token, body: { ...requestOf(order), authorization } })
  return { present, store, clientId: rows[0].id as string, orderFrom, hand }
}

const authority: Authority = { ...pinned, vaultId: 'vault-of-the-page', delayHours: 24 }
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()
/** One end for all orders: the rows of a payout have the same. */
const end = inAnHour()
const orderOf = (changes: Partial<Order> = {}): Order => ({
  ...plain,
  vaultId: authority.vaultId,
  amount: '1234567890000000001',
  expiresAt: end,
  ...changes,
})

type Asked = {
  order?: object
  next?: object
  payoutId?: string
  orders?: object[]
  decision?: string
  person?: string
  authority?: string
}
const urlOf = ({ decision = 'approve', person = 'ben', authority: under = hashOf(authority), ...about }: Asked) => {
  const handed = Buffer.from(JSON.stringify({ ...about, decision, person, authority: under }))
  const fragment =
    handed.length > 8_192 ? `z.${deflateRawSync(handed).toString('base64url')}` : handed.toString('base64url')
  return `${origin}/sign#${fragment}`
}

async function shown(order: Asked): Promise<Page> {
  const page = await context.newPage()
  await page.goto(urlOf(order))
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

/** A page of some origin that opens the page for signatures and keeps all messages that it receives. */
async function openFrom(opener: string, request: Asked, registered: Registered): Promise<{ page: Page; popup: Page }> {
  const page = await context.newPage()
  await page.goto(opener)
  const popup = await openWindow(page, urlOf(request))
  await addAuthenticator(popup, [registered.credential])
  await popup.getByRole('button', { name: /^Sign/ }).waitFor()
  return { page, popup }
}

/** A window whose button a person is about to press. */
async function readyToSign() {
  const registered = await registerAt(context, origin, 'ben')
  const order = orderOf({ toAddress: listed, transferId: 'first' })
  const opened = await openFrom(consoleOrigin, { order }, registered)
  const button = opened.popup.getByRole('button', { name: 'Sign the approval' })
  await expect.poll(() => button.isEnabled()).toBe(true)
  const { x, y, width, height } = (await button.boundingBox())!
  /** As a finger that was on its way: it does not look again. */
  const press = () => opened.popup.mouse.click(x + width / 2, y + height / 2)
  return { ...opened, button, press }
}

/** The address of another order, as the opener of the window writes it. */
const forgedUrl = () => urlOf({ order: orderOf({ toAddress: listed, amount: '999000000000000000000' }) })

describe('T78 the page of the wallet service', () => {
  it('is off unless it is set up, and then lets nothing be loaded, framed or sent elsewhere', async () => {
    const answer = await fetch(`${wallet.url}/sign`)
    expect(answer.status).toBe(200)
    const policy = answer.headers.get('content-security-policy')!
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src http/)
    for (const part of ["frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"])
      expect(policy).toContain(part)
    expect(answer.headers.get('x-frame-options')).toBe('DENY')
    const off = await startWallet(testConfig({ databaseUrl: database.url, rpcUrl: 'http://127.0.0.1:9' }))
    expect((await fetch(`${off.url}/sign`)).status).toBe(404)
    expect((await fetch(`${off.url}/sign/authority`, { method: 'POST' })).status).toBe(404)
    await off.stop()

    const page = await context.newPage()
    await page.goto(consoleOrigin)
    const frame = JSON.stringify(`${origin}/sign`)
    await page.evaluate(`document.body.append(Object.assign(document.createElement('iframe'), { src: ${frame} }))`)
    await expect.poll(() => faults.join()).toContain('frame-ancestors')
    await expect.poll(() => page.frames().at(-1)!.url()).toContain('chrome-error')
  })

  it('works at its own origin only', async () => {
    const page = await context.newPage()
    await page.goto(urlOf({ order: orderOf() }).replace('sign.localhost', 'other.localhost'))
    await page.getByText(`This page works at ${origin} only.`).waitFor()
    expect(await page.getByRole('button').count()).toBe(0)
  })

  it('shows an order in full and exactly, with the terms of the authority', async () => {
    const order = orderOf({ maxFee: '2100000000000001', feeLevel: 'high' })
    const page = await shown({ order })
    await page.getByText('The recipient is NOT on the signed address list').waitFor()
    expect(await factOf(page, 'Recipient')).toBe(unlisted)
    expect(await factOf(page, 'Sender')).toBe(order.fromAddress)
    expect(await factOf(page, 'Amount')).toBe('1.234567890000000001 ETH')
    expect(await page.getByText('exactly 1234567890000000001 in the smallest unit').count()).toBe(1)
    expect(await factOf(page, 'Fee limit')).toContain('0.002100000000000001 ETH')
    expect(await factOf(page, 'Expires')).toContain(order.expiresAt)
    expect(await factOf(page, 'Fingerprint of the document')).toBe(hashOf(order))
    expect(await page.locator('code span').allTextContents()).toEqual(
      expect.arrayContaining(toFingerprint(hashOf(order)).split(' ')),
    )
    const text = await page.getByRole('main').textContent()
    expect(text).toContain(
      'It needs the order of one of initiators, and approvals by 2 of treasurers and 1 of officers.',
    )
    const everything = await page.locator('details').textContent()
    for (const value of Object.values(order)) expect(everything).toContain(String(value))
    // The order does not stay in the address line or the history.
    expect(page.url()).toBe(`${origin}/sign`)
    expect(faults).toEqual([])

    const known = await shown({
      order: orderOf({ toAddress: listed, amount: '7' }),
      decision: 'initiate',
      person: 'anna',
    })
    await known.getByText('The recipient is on the signed address list.').waitFor()
    await known.getByText('It needs the order of one of initiators, and no approvals.').waitFor()
    expect(await factOf(known, 'Fee limit')).toContain('none was set')
    const without = await shown({ order: orderOf({ contractAddress: unlisted }) })
    await without.getByText('No rule permits this token').waitFor()
    expect(await factOf(without, 'Amount')).toBe('1234567890000000001 in the smallest unit')
    const stranger = await shown({ order: orderOf({ vaultId: 'another-vault' }) })
    await stranger.getByText('The wallet service did not say which of its rules applies').waitFor()
    expect(await stranger.getByRole('button', { name: 'Sign the approval' }).isDisabled()).toBe(true)
  })

  it.each<[string, Asked]>([
    ['markup', { order: orderOf({ tokenId: '<img src=x onerror=alert(1)>' }) }],
    ['markup in who signs', { order: orderOf(), person: '<b>ben</b>' }],
    ['a field that it does not know', { order: { ...orderOf(), memo: 'for the supplier' } }],
    ['a field of the prototype', { order: JSON.parse('{"__proto__": {"amount": "1"}}') }],
    ['a recipient that is none', { order: orderOf({ toAddress: '0x1234' }) }],
    ['an amount that is a number', { order: { ...orderOf(), amount: 7 } }],
    ['a missing network', { order: { ...orderOf(), network: undefined } }],
    ['an end that is not a time', { order: orderOf({ expiresAt: '2026-02-30T09:30:00.000Z' }) }],
    ['another decision', { order: orderOf(), decision: 'constructor' }],
    ['the order of somebody else', { order: orderOf(), decision: 'initiate', person: 'ben' }],
  ])('refuses %s', async (_what, request) => {
    const page = await shown(request)
    expect(await page.getByRole('heading').textContent()).toBe('Nothing is signed')
    expect(await page.getByRole('button').count()).toBe(0)
    expect(await page.locator('img, b').count()).toBe(0)
    expect(faults).toEqual([])
  })

  it('shows a payout with its sums by token and all of its rows, and signs the document over them', async () => {
    const registered = await registerAt(context, origin, 'ben')
    const coins = Array.from({ length: 150 }, (_, i) =>
      orderOf({
        transferId: `row-${i}`,
        toAddress: i === 77 ? unlisted : listed,
        amount: String(10n ** 17n + BigInt(i)),
      }),
    )
    const tokens = [1, 2].map((i) =>
      orderOf({ transferId: `token-${i}`, toAddress: listed, contractAddress: token, amount: `${i}500001` }),
    )
    const orders = [...coins, ...tokens]
    const { page, popup } = await openFrom(consoleOrigin, { payoutId: 'payout-1', orders }, registered)
    const text = (await popup.getByRole('main').textContent())!
    expect(text).toContain('15.000000000000011175 ETHin 150 rows, the coin of ethereum')
    expect(text).toContain('4.000002 TUSDin 2 rows')
    expect(text).toContain('Not on the signed address list: 1 recipient.')
    expect(text).toContain('approvals by 2 of treasurers and 1 of officers.')
    const rows = popup.getByRole('region', { name: 'All rows' }).locator('tbody tr')
    expect(await rows.count()).toBe(152)
    expect(await rows.nth(77).textContent()).toBe(`780.100000000000000077 ETH${unlisted}unlisted${plain.fromAddress}`)
    expect(await rows.nth(151).textContent()).toContain(`1522.500001 TUSD${listed}`)
    expect(await popup.getByText('unlisted', { exact: true }).count()).toBe(1)
    await rows.nth(151).scrollIntoViewIfNeeded()
    expect(await rows.nth(151).isVisible()).toBe(true)
    const document = payoutOf(orders)
    expect(await factOf(popup, 'Fingerprint of the document')).toBe(hashOf(document))
    await popup.getByLabel('The recipient of row 78 is on no signed list').fill(unlisted.slice(-4))
    const closed = popup.waitForEvent('close')
    await popup.getByRole('button', { name: 'Sign the approval' }).click()
    await closed
    const [{ data }] = (await handedTo(page)) as [Handed]
    expect(data.signed.vote).toMatchObject({ subject: 'payout', hash: hashOf(document), decision: 'approve' })
    expect(isSignedBy(registered.entry as AuthorityKey, data.signed)).toBe(true)
    expect(faults).toEqual([])
  })

  it.each<[string, object[]]>([
    ['another initiator in a row', [orderOf(), orderOf({ transferId: 'second', initiatorId: 'carla' })]],
    ['one row twice', [orderOf(), orderOf()]],
    ['a row with a field more', [orderOf(), { ...orderOf({ transferId: 'second' }), memo: 'x' }]],
    ['no rows', []],
  ])('refuses a payout with %s', async (_what, orders) => {
    const page = await shown({ payoutId: 'payout-1', orders })
    expect(await page.getByRole('heading').textContent()).toBe('Nothing is signed')
    expect(await page.getByRole('button').count()).toBe(0)
  })

  it('shows the whole difference of the next authority, and signs that document', async () => {
    const registered = await registerAt(context, origin, 'ben')
    const { authority: next } = follow(authority, { delayHours: 0, change: { group: 'treasurers', votes: 1 } }, [])
    const added = { ...next, keys: [...next.keys, { ...registered.entry, name: 'Thief' } as AuthorityKey] }
    const { page, popup } = await openFrom(consoleOrigin, { next: added }, registered)
    const text = (await popup.getByRole('main').textContent())!
    for (const sentence of [
      'A later version waits 0 hours after it was signed, and not 24.',
      'A later version needs 1 votes of treasurers, and not 2 of officers.',
      `Adds the key “Thief” of ben, a passkey of sign.localhost that signs at ${origin}, id ${registered.entry.id}, ` +
        `fingerprint ${registered.fingerprint}.`,
      'Comes into force24 hours after it was signed',
    ])
      expect(text).toContain(sentence)
    expect(await factOf(popup, 'Fingerprint of the document')).toBe(hashOf(added))
    const closed = popup.waitForEvent('close')
    await popup.getByRole('button', { name: 'Sign the next authority' }).click()
    await closed
    const [{ data }] = (await handedTo(page)) as [Handed]
    const about = { subject: 'authority', hash: hashOf(added), decision: 'approve', authority: hashOf(authority) }
    expect(data.signed.vote).toMatchObject(about)
  })

  it.each<[string, Asked, string]>([
    ['does not follow', { next: { ...authority, version: 2, previous: '0'.repeat(64) } }, 'It does not follow'],
    ['has another version', { next: { ...follow(authority, {}, []).authority, version: 3 } }, 'It does not follow'],
    ['cannot be read', { next: { ...follow(authority, {}, []).authority, memo: 'x' } }, 'cannot read this document'],
    ['does not wait', { next: follow(authority, {}, []).authority, decision: 'reject' }, 'there is nothing to cancel'],
    ['follows another one', { authority: '0'.repeat(64) }, 'Another version'],
  ])('signs no next authority that %s', async (_what, request, text) => {
    const { next = follow(authority, {}, []).authority, decision, authority: under } = request
    const page = await shown({
      next,
      ...(decision === undefined ? {} : { decision }),
      ...(typeof under === 'string' ? { authority: under } : {}),
    })
    await page.getByText(text).waitFor()
    expect(await page.getByRole('button', { name: /^Sign/ }).isEnabled()).toBe(false)
  })

  it('does not sign an expired order', async () => {
    const page = await shown({ order: orderOf({ expiresAt: '2026-01-31T09:30:00.000Z' }) })
    await page.getByText('It has expired').waitFor()
    expect(await page.getByRole('button', { name: 'Sign the approval' }).isDisabled()).toBe(true)
  })

  it('creates a passkey, which signs only for the console', async () => {
    const registered = await registerAt(context, origin, 'ben')
    const { entry } = registered
    expect(entry).toMatchObject({ person: 'ben', kind: 'passkey', rpId: 'sign.localhost', origins: [origin] })
    const fingerprint = createHash('sha256').update(Buffer.from(entry.publicKey, 'base64url')).digest('hex')
    expect(registered.fingerprint).toBe(fingerprint)

    const order = orderOf({ toAddress: listed })
    const { page, popup } = await openFrom(consoleOrigin, { order }, registered)
    const closed = popup.waitForEvent('close')
    await popup.getByRole('button', { name: 'Sign the approval' }).click()
    await closed
    await expect.poll(() => handedTo(page)).toHaveLength(1)
    const [{ origin: from, data }] = (await handedTo(page)) as [Handed]
    expect([from, data.type]).toEqual([origin, 'strongroom-signed'])
    const vote = {
      format: 'strongroom-vote-2',
      subject: 'transfer',
      hash: hashOf(order),
      decision: 'approve',
      person: 'ben',
      authority: hashOf(authority),
      signedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    }
    expect(data.signed.vote).toEqual(vote)
    const key = entry as AuthorityKey & { kind: 'passkey' }
    expect(isSignedBy(key, data.signed)).toBe(true)
    expect(isSignedBy({ ...key, origins: [consoleOrigin] }, data.signed)).toBe(false)
    expect(isSignedBy({ ...key, rpId: 'console.localhost' }, data.signed)).toBe(false)
    expect(faults).toEqual([])

    const evil = await openFrom(evilOrigin, { order }, registered)
    const gone = evil.popup.waitForEvent('close')
    await evil.popup.getByRole('button', { name: 'Sign the approval' }).click()
    await gone
    expect(await handedTo(evil.page)).toEqual([])
  })

  it.each([60, 120, 200, 300])(
    'signs no other order that its opener put there %i ms before the click',
    async (lead) => {
      const { page, popup, press } = await readyToSign()
      await page.evaluate(`window.opened.location = ${JSON.stringify(forgedUrl())}`)
      await sleep(lead)
      await press()
      await popup.getByText('Another order was put into this window').waitFor()
      expect(await popup.getByRole('button').count()).toBe(0)
      expect(await handedTo(page)).toEqual([])
    },
  )

  it.each(['a page of another origin', 'another query', 'a reload', 'history'])(
    'signs nothing in a window that comes to another order by %s',
    async (way) => {
      const { page, popup } = await readyToSign()
      const go = (url: string) => page.evaluate(`window.opened.location = ${JSON.stringify(url)}`)
      if (way === 'another query') await go(forgedUrl().replace('#', '?again#'))
      else if (way === 'history') await popup.evaluate(`history.pushState(null, '', '#x'); history.back()`)
      else if (way === 'a reload') {
        await go(`${origin}/sign`)
        await popup.getByText('This window has already shown its order').waitFor()
        await go(forgedUrl())
      } else {
        await go(consoleOrigin)
        await popup.waitForURL(`${consoleOrigin}/`)
        await go(forgedUrl())
      }
      await popup.getByRole('heading', { name: 'Nothing is signed' }).waitFor()
      expect(await popup.getByRole('button').count()).toBe(0)
      // Nor does the first order come back.
      await popup.goto(urlOf({ order: orderOf({ toAddress: listed, transferId: 'first' }) }))
      await popup.getByRole('heading', { name: 'Nothing is signed' }).waitFor()
      expect(await handedTo(page)).toEqual([])
    },
  )

  it('does not return a signature for a prompt that was open when another order came', async () => {
    const { page, popup, button } = await readyToSign()
    // The person does not answer the prompt.
    const devtools = await context.newCDPSession(popup)
    await devtools.send('WebAuthn.disable')
    await button.click()
    await expect.poll(() => button.isEnabled()).toBe(false)
    await page.evaluate(`window.opened.location = ${JSON.stringify(forgedUrl())}`)
    await popup.getByText('Another order was put into this window').waitFor()
    expect(await handedTo(page)).toEqual([])
  })

  it('waits until it was seen for two seconds, and again after each change', async () => {
    const registered = await registerAt(context, origin, 'ben')
    const opened = performance.now()
    const { popup } = await openFrom(consoleOrigin, { order: orderOf({ toAddress: listed }) }, registered)
    const button = popup.getByRole('button', { name: 'Sign the approval' })
    const untilEnabled = async (since: number) => {
      await expect.poll(() => button.isEnabled()).toBe(true)
      expect(performance.now() - since).toBeGreaterThan(2_000)
    }
    expect(await button.isEnabled()).toBe(false)
    await untilEnabled(opened)
    await popup.getByText('The recipient is on the signed address list.').waitFor()

    const devtools = await context.newCDPSession(popup)
    const changes = {
      'another window in front': () => popup.evaluate(`document.hasFocus = () => false`),
      'hidden, also by a script that swallowed the event': () =>
        popup.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`),
      'too small to read': () => popup.setViewportSize({ width: 720, height: 120 }),
    }
    const back = {
      'another window in front': () => popup.evaluate(`delete document.hasFocus`),
      'hidden, also by a script that swallowed the event': () => popup.evaluate(`delete document.visibilityState`),
      'too small to read': () => popup.setViewportSize({ width: 720, height: 900 }),
    }
    for (const name of Object.keys(changes) as (keyof typeof changes)[]) {
      await changes[name]()
      await expect.poll(() => button.isEnabled(), { message: name }).toBe(false)
      const since = performance.now()
      await back[name]()
      await untilEnabled(since)
    }
    for (const event of ['blur', 'focus', 'resize']) {
      const since = performance.now()
      await popup.evaluate(`dispatchEvent(new Event('${event}'))`)
      expect(await button.isEnabled(), event).toBe(false)
      await untilEnabled(since)
    }
    await devtools.detach()
  })

  it('asks for the last four characters of a recipient that no list has, unless it is turned down', async () => {
    const registered = await registerAt(context, origin, 'ben')
    const order = orderOf({ toAddress: unlisted })
    const { page, popup } = await openFrom(consoleOrigin, { order }, registered)
    const button = popup.getByRole('button', { name: 'Sign the approval' })
    await popup.getByText('Type what is asked for above.').waitFor()
    const field = popup.getByLabel('type its last four characters')
    for (const wrong of [unlisted.slice(2, 6), unlisted.slice(-3), '']) {
      await field.fill(wrong)
      await sleep(100)
      expect(await button.isEnabled(), wrong).toBe(false)
    }
    await field.fill(unlisted.slice(-4).toUpperCase())
    const closed = popup.waitForEvent('close')
    await button.click()
    await closed
    const [{ data }] = (await handedTo(page)) as [Handed]
    expect(data.signed.vote.hash).toBe(hashOf(order))

    const rejected = await shown({ order, decision: 'reject' })
    await rejected.getByRole('button', { name: 'Sign the rejection' }).click()
    expect(await rejected.getByLabel('type its last four characters').count()).toBe(0)
  })

  it('gives the signed vote to the person where no console opened it', async () => {
    const registered = await registerAt(context, origin, 'ben')
    const order = orderOf({ toAddress: listed })
    const page = await shown({ order })
    await addAuthenticator(page, [registered.credential])
    await page.getByRole('button', { name: 'Sign the approval' }).click()
    const signed = JSON.parse(await page.getByRole('textbox').inputValue()) as SignedVote
    expect(signed.vote.hash).toBe(hashOf(order))
    expect(isSignedBy(registered.entry as AuthorityKey, signed)).toBe(true)
  })
})

describe('T58 T81 a service that keeps to itself what people signed against a payment or a version', () => {
  const signAgainst = async (request: Asked, registered: Registered, action: string) => {
    const { page, popup } = await openFrom(consoleOrigin, request, registered)
    const button = popup.getByRole('button', { name: action })
    await expect.poll(() => button.isEnabled()).toBe(true)
    return { page, popup, button }
  }

  it.each(['order', 'payout'] as const)('does not keep it from the wallet service, of the %s', async (kind) => {
    const name = `vault-of-the-${kind}`
    const ben = await registerAt(context, origin, 'ben')
    const keys = [...authority.keys, ben.entry as AuthorityKey]
    const { present, hand, orderFrom } = await protect(name, { keys })
    const [first, second] = [orderFrom({ transferId: 'first' }), orderFrom({ transferId: 'second' })]
    const [request, action] =
      kind === 'order'
        ? [{ order: first, decision: 'reject' }, 'Sign the rejection']
        : [{ payoutId: 'payout-1', orders: [first, second], decision: 'cancel' }, 'Sign the cancellation']
    const { page, popup, button } = await signAgainst({ ...request, authority: hashOf(present) }, ben, action)
    const closed = popup.waitForEvent('close')
    await button.click()
    await popup.getByText('The wallet service has it: it signs nothing of this from now on.').waitFor()
    await closed
    const [{ data }] = (await handedTo(page)) as [Handed]
    expect(data.signed.vote).toMatchObject({ decision: request.decision, person: 'ben' })
    // The service has it now, and hands over what others signed instead.
    const [of] = kind === 'payout' ? authorizeAll([first, second], { by: team.anna, under: present }) : []
    const { status, body } = await hand(first, of)
    expect({ status, details: body.details }).toEqual({ status: 403, details: expect.stringMatching(/^STOPPED: ben/) })
    expect((await hand(orderFrom({ transferId: 'third' }))).status).toBe(202)
    expect(faults).toEqual([])
  })

  it('does not keep a cancellation of the next authority from it, though no person has all signatures', async () => {
    const [dora, emil] = [await registerAt(context, origin, 'dora'), await registerAt(context, origin, 'emil')]
    const keys = [...authority.keys, dora.entry as AuthorityKey, emil.entry as AuthorityKey]
    const change = { group: 'officers', votes: 3 }
    const { present, clientId, store } = await protect('vault-that-changes', { keys, change })
    const next = follow(present, { delayHours: 1 }, [team.anna, team.dora, team.emil])
    await store.append(clientId, { ...next, inForceAt: inAnHour() })
    const request = { next: next.authority, decision: 'reject', authority: hashOf(present) }
    const pressed = async (registered: Registered, person: string, said: string) => {
      const { page, popup, button } = await signAgainst({ ...request, person }, registered, 'Sign the cancellation')
      expect(await factOf(popup, 'Waits already')).toBe(hashOf(next.authority))
      const closed = popup.waitForEvent('close')
      await button.click()
      await popup.getByText(said).waitFor()
      await closed
      const [{ data }] = (await handedTo(page)) as [Handed]
      const about = { subject: 'authority', hash: hashOf(next.authority), decision: 'reject' }
      expect(data.signed.vote).toMatchObject({ ...about, person, authority: hashOf(present) })
    }
    await pressed(dora, 'dora', '1 of the 2 signatures that cancel the next version.')
    expect((await store.readShown(clientId))?.pending?.version).toBe(2)
    await pressed(emil, 'emil', 'The wallet service has it: the next version is cancelled.')
    expect((await store.readShown(clientId))?.pending).toBe(null)
    expect(faults).toEqual([])
  })

  it('is what people are told to go on with when the wallet service does not take it', async () => {
    const ben = await registerAt(context, origin, 'ben')
    const { page, popup, button } = await signAgainst(
      { order: orderOf(), decision: 'reject' },
      ben,
      'Sign the rejection',
    )
    const closed = popup.waitForEvent('close')
    await button.click()
    await popup.getByText('The wallet service did not take it: KEY_UNKNOWN: ').waitFor()
    await sleep(2_500)
    expect(await handedTo(page)).toEqual([])
    await popup.getByRole('button', { name: 'Hand it to the console' }).click()
    await closed
    expect(await handedTo(page)).toHaveLength(1)
  })
})
