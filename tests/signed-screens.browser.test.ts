import { type Browser, chromium, type Page, type Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalJson, hashOf, type Order, payoutOf, readOrder } from '../sdk/src/signing/signing.ts'
import { mutated, type Random, randomOf } from '../sdk/src/testing/signed-orders.ts'
import { sessionCookie } from '../server/src/http/guard.ts'
import type { SignedVote } from '../server/src/lib/signed-vote.ts'
import type { Person } from '../server/src/testing/app.ts'
import { authorityAnswer } from '../server/src/testing/fake-authority.ts'
import { fakeAddress } from '../server/src/testing/fake-wallet.ts'
import { findChromium } from '../server/src/testing/find-chromium.ts'
import { usdtContract } from '../server/src/testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../server/src/testing/transfer-bench.ts'
import { freePort } from './setup/free-port.ts'
import { addAuthenticator } from './setup/signing-window.ts'

/**
 * The built console in a browser with an authenticator whose finger always agrees, and a service that answers anything: whatever one
 * value of an answer becomes, what was signed stands on the screen, or nothing was signed.
 */

/** How many answers are altered for each kind of page. */
const runs = Number(process.env.SIGNING_PAGE_RUNS ?? 30)

let bench: TransferBench
let browser: Browser
let origin: string
let sender: Page
let voter: Page
let administrator: Page
let address: Awaited<ReturnType<TransferBench['fundedAddress']>>
/** The hash of the authority that the wallet service has in force. */
let inForce: string

beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  bench = await createTransferBench({ PUBLIC_URL: origin, CONSOLE: 'on' })
  await bench.test.app.listen({ port, host: '127.0.0.1' })
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath: findChromium(), args })
  const { vault, owner, firstApprover, recipient } = bench
  address = await bench.fundedAddress({ usdt: '100000', eth: '500' })
  sender = await pageOf(owner)
  voter = await pageOf(firstApprover)
  const { authority } = authorityAnswer(vault.id, [], 3)
  const rule = { network: 'ethereum', initiators: 'treasurers', perDay: null, floors: [] }
  const rules = [
    { ...rule, contractAddress: null, symbol: 'ETH', decimals: 18 },
    { ...rule, contractAddress: usdtContract, symbol: 'USDT', decimals: 6 },
  ]
  const contacts = [{ person: owner.userId, email: 'owner@example.org' }]
  const addresses = [{ network: 'ethereum', address: recipient }]
  const document = { ...authority, contacts, addresses, rules: rules as never[] }
  inForce = await hashOf(document)
  vault.wallet.authority = { authority: document, version: 3, hash: inForce }
  administrator = await pageOf(vault.admin)
  await administrator.goto(`${origin}/v/${vault.code}/settings`)
  await administrator.getByRole('button', { name: 'Switch on' }).click()
  await administrator.getByRole('button', { name: 'Switch off' }).waitFor()
})
afterAll(async () => {
  await browser?.close()
  await bench?.close()
})

/** A person's browser, with a passkey that they added. */
async function pageOf(person: Person, added = 'Phone'): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1400, height: 3000 } })
  await context.addCookies([{ name: sessionCookie, value: person.token, url: origin }])
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  await addAuthenticator(page)
  await page.goto(`${origin}/me`)
  await page.getByLabel('Name of the new passkey').fill('Phone')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('row').filter({ hasText: added }).waitFor()
  return page
}

type Answer = Record<string, unknown>
/** What an altered service was sent, and all that it answered by the end of the address. */
type Seen = { sent: { path: string; body: Answer }[]; answers: Map<string, unknown[]> }

/** Puts a service before the page that alters the answers that `alters` names, and takes no order and no vote. */
async function takeOver(page: Page, alter: (path: string, answer: unknown) => unknown): Promise<Seen> {
  const seen: Seen = { sent: [], answers: new Map() }
  await page.route('**/api/v1/**', async (route) => {
    const request = route.request()
    const path = new URL(request.url()).pathname.replace(/^.*\/api\/v1/, '')
    if (path.endsWith('/changes')) return route.abort()
    if (request.method() === 'POST' && !path.endsWith('/preview')) {
      const body = request.postDataJSON() as Answer
      seen.sent.push({ path, body })
      return refuse(route, 'signature' in body || 'signed' in body)
    }
    const response = await route.fetch()
    if (response.status() !== 200) return route.fulfill({ response })
    const answer = alter(path, await response.json())
    seen.answers.set(path, [...(seen.answers.get(path) ?? []), answer])
    return route.fulfill({ response, json: answer })
  })
  return seen
}

/** Leaves the page first, so that it sends nothing to the next service. */
async function leave(page: Page): Promise<void> {
  await page.goto('about:blank')
  await page.unrouteAll({ behavior: 'ignoreErrors' })
}

/** A vote without a signature is asked for one, as in a protected vault. */
function refuse(route: Route, isSigned: boolean): Promise<void> {
  const reason = isSigned ? 'payload_changed' : 'signature_required'
  const body = { code: 'forbidden', reason, message: 'Refused', details: null }
  return route.fulfill({ status: isSigned ? 409 : 403, json: { ...body, error: body } })
}

/** All that a person sees, and nothing that is there without being drawn. */
// biome-ignore lint/performance/useDomNodeTextContent: what is hidden is not read.
const screenOf = async (page: Page): Promise<string> => (await page.locator('body').innerText()).replaceAll(/\s+/g, ' ')

/** Decimal digits of an amount, as an English page groups them. */
function decimalOf(raw: string, decimals: number): string {
  const digits = raw.padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

const units = new Map([
  ['ethereum null', { symbol: 'ETH', decimals: 18 }],
  [`ethereum ${usdtContract}`, { symbol: 'USDT', decimals: 6 }],
])

/** What must stand on the screen for each field of an order, by the authority in force. */
function mustShow({ amount, maxFee, contractAddress, feeLevel, ...rest }: Order): string[] {
  const written = (raw: string, token: string | null) => {
    const unit = units.get(`${rest.network} ${token}`)
    return unit === undefined
      ? `${decimalOf(raw, 0)} in the smallest unit`
      : `${decimalOf(raw, unit.decimals)} ${unit.symbol}`
  }
  const fee = maxFee === undefined ? [] : [written(maxFee, null)]
  return [
    written(amount, contractAddress),
    ...fee,
    contractAddress ?? 'coin of',
    feeLevel ?? '',
    ...Object.values(rest).map(String),
  ]
}

/** Asserts for each signature that the wallet service would take that all of its order stood on the screen. */
async function expectShown(
  signed: SignedVote | undefined,
  orders: unknown[],
  screen: string,
  name: string,
): Promise<boolean> {
  if (signed === undefined) return false
  const { vote } = signed
  // A vote by another authority, or for another person, is refused by the wallet service.
  if (vote.authority !== inForce) return false
  const readable = orders.flatMap((order) => {
    try {
      return [readOrder(order)]
    } catch {
      return []
    }
  })
  const hashes = await Promise.all(readable.map((order) => hashOf(order)))
  const order = readable[hashes.indexOf(vote.hash)]
  expect(order, `${name}: signed something that was not answered`).toBeDefined()
  for (const text of mustShow(order!)) expect(screen, `${name}: ${text} is signed and not shown`).toContain(text)
  return true
}

describe('T80 on the pages of the console', () => {
  it(`T80 of ${runs} altered answers an approver signs none that the page does not show`, {
    timeout: 3_600_000,
  }, async () => {
    const { vault, firstApprover, owner } = bench
    const id = await orderOnPage('200', 'USDT', '0.01')
    const before = (await owner.get(`/vaults/${vault.code}/transfers/${id}`)).body
    expect(before.payload).toMatchObject({ amount: '200000000', maxFee: '10000000000000000' })
    let [signedCount, refusedCount] = [0, 0]
    const random = randomOf(23)
    for (let i = 0; i < runs; i++) {
      const { altered, name } = await approveAltered(i, id, random)
      const signed = altered.sent.map(({ body }) => body.signature).find(Boolean) as SignedVote | undefined
      const shown = (altered.answers.get(`/vaults/${vault.code}/transfers/${id}`) ?? []) as ({
        payload?: unknown
      } | null)[]
      const orders = shown.map((answer) => answer?.payload)
      if (signed !== undefined) expect(signed.vote).toMatchObject({ decision: 'approve', subject: 'transfer' })
      if (await expectShown(signed, orders, altered.screen, name)) signedCount++
      else refusedCount++
    }
    // Alterations of what is not signed are signed over; of what is, some cannot be.
    expect(signedCount).toBeGreaterThan(0)
    expect(refusedCount).toBeGreaterThan(0)
    expect(firstApprover.userId).toBeDefined()
  })

  /** Opens the page of the transfer, of which one value of one answer is altered, and approves as a person does. */
  async function approveAltered(i: number, id: string, random: Random) {
    const path = `/vaults/${bench.vault.code}/transfers/${id}`
    const authority = `/vaults/${bench.vault.code}/authority`
    let name = ''
    const target = i % 4 === 3 ? authority : path
    const alteration = randomOf(random() * 2 ** 31)
    const choice = alteration() * 2 ** 31
    const seen = await takeOver(voter, (asked, answer) => {
      // The first time everything is as it is, so that something is signed.
      if (asked !== target || i === 0) return answer
      const part = target === authority ? 'document' : i % 4 === 2 ? null : 'payload'
      const whole = answer as Answer
      // The page asks more than once: mostly it is told the same, and sometimes something else.
      const by = i % 5 === 4 ? alteration : randomOf(choice)
      const changed = part === null ? mutated(whole, by) : mutated(whole[part], by)
      name = `${asked} ${part ?? ''} ${changed.name}`
      return part === null ? changed.answer : { ...whole, [part]: changed.answer }
    })
    const screen = await confirmOn(voter, `/v/${bench.vault.code}/approvals/transfer/${id}`, seen)
    await leave(voter)
    return { altered: { ...seen, screen }, name }
  }

  /** Approves what the page shows, if it lets them; the screen as it was when they confirmed. */
  async function confirmOn(page: Page, path: string, seen: Seen): Promise<string> {
    await page.goto(origin + path)
    const approve = page.getByRole('button', { name: 'Approve', exact: true })
    const refused = page.getByText(
      /Something went wrong|is missing or has another form|is another|is no field|cannot be|Failed|Try again/,
    )
    await approve
      .or(refused)
      .or(page.getByText('Your vote is not asked for here.'))
      .or(page.getByText('You approved this.'))
      .first()
      .waitFor({ timeout: 5_000 })
      .catch(() => {})
    if (!(await approve.isEnabled({ timeout: 100 }).catch(() => false))) return ''
    await approve.click({ timeout: 1_000 }).catch(() => {})
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Confirm' })
    if (!(await confirm.isVisible())) return ''
    const screen = await screenOf(page)
    await confirm.click()
    // It is signed and sent once more, the page says why not, or it does nothing at all.
    const isOver = async () => seen.sent.length > 1 || (await page.getByRole('dialog').getByRole('alert').count()) > 0
    for (const end = Date.now() + 5_000; Date.now() < end && !(await isOver()); ) await page.waitForTimeout(50)
    return screen
  }

  it.each([
    ['amount × 1000', (order: Order) => ({ ...order, amount: `${order.amount}000` })],
    ['another token’s contract', (order: Order) => ({ ...order, contractAddress: usdtContract })],
    ['no end', (order: Order) => ({ ...order, expiresAt: '9999-12-31T00:00:00.000Z' })],
    ['another initiator', (order: Order) => ({ ...order, initiatorId: bench.secondApprover.userId })],
    ['another fee limit', (order: Order) => ({ ...order, maxFee: '90000000000000000' })],
    ['no fee limit', ({ maxFee: _, ...order }: Order) => order],
    ['another sender path', (order: Order) => ({ ...order, derivationPath: 'm/44/60/9/9' })],
    ['another recipient', (order: Order) => ({ ...order, toAddress: fakeAddress('a thief') })],
  ])('T80 an initiator does not sign an order with %s', async (_, alter) => {
    const path = `/vaults/${bench.vault.code}/transfers/preview`
    const orders: unknown[] = []
    const seen = await takeOver(sender, (asked, answer) => {
      if (asked !== path) return answer
      const order = alter((answer as { order: Order }).order)
      orders.push(order)
      return { ...(answer as Answer), order, vote: { ...(answer as { vote: object }).vote, hash: undefined } }
    })
    const screen = await fillOrder('0.1', 'ETH', '0.01', () => seen)
    const signed = seen.sent.map(({ body }) => (body.signed as { vote: SignedVote } | undefined)?.vote).find(Boolean)
    await leave(sender)
    // The path alone is no entry of theirs: it stands on the screen.
    if (await expectShown(signed, orders, screen, '')) expect((orders[0] as Order).derivationPath).toBe('m/44/60/9/9')
  })

  it(`T80 of ${runs} altered answers an initiator signs none but what they entered and the page shows`, {
    timeout: 3_600_000,
  }, async () => {
    const paths = ['/transfers/preview', '/authority', '/addresses', '/transfers/preview'].map(
      (path) => `/vaults/${bench.vault.code}${path}`,
    )
    const random = randomOf(29)
    let signedCount = 0
    for (let i = 0; i < Math.ceil(runs / 3); i++) {
      let name = ''
      const orders: unknown[] = []
      const target = paths[i % paths.length]!
      const choice = random() * 2 ** 31
      const seen = await takeOver(sender, (asked, answer) => {
        // The same alteration each time, as the page asks more than once.
        const changed =
          asked === target && i > 0 ? mutatedPart(answer as Answer, i, randomOf(choice)) : { answer, name }
        name = changed.name
        if (asked === paths[0]) orders.push((changed.answer as { order: unknown }).order)
        return changed.answer
      })
      const screen = await fillOrder('0.1', 'ETH', '0.01', () => seen).catch(() => '')
      const signed = seen.sent.map(({ body }) => (body.signed as { vote: SignedVote } | undefined)?.vote).find(Boolean)
      await leave(sender)
      if (!(await expectShown(signed, orders, screen, `${target} ${name}`))) continue
      signedCount++
      const typed = {
        amount: '100000000000000000',
        maxFee: '10000000000000000',
        contractAddress: null,
        network: 'ethereum',
      }
      for (const order of orders.filter((each) => (each as Order).transferId === signedId(seen)))
        expect(order, name).toMatchObject({ ...typed, toAddress: bench.recipient, initiatorId: bench.owner.userId })
    }
    expect(signedCount).toBeGreaterThan(0)
  })

  const signedId = ({ sent }: Seen) =>
    sent.map(({ body }) => (body.signed as { transferId: string } | undefined)?.transferId).find(Boolean)

  function mutatedPart(answer: Answer, i: number, random: Random) {
    const part = ['order', 'document', 'items'].find((name) => name in answer)
    if (part === undefined || i % 4 === 3) return mutated(answer, random)
    const { answer: changed, name } = mutated(answer[part], random)
    return { answer: { ...answer, [part]: changed }, name }
  }

  it('T80 decimals that were changed in the database change what nobody signs', async () => {
    const { vault, sql } = bench
    const id = await orderOnPage('300', 'USDT', '0.01')
    try {
      await sql(`update tokens set decimals = 8 where symbol = 'USDT'`)
      await voter.goto(`${origin}/v/${vault.code}/approvals/transfer/${id}`)
      await voter.getByText('300 USDT').first().waitFor()
      expect(await screenOf(voter)).not.toContain('3 USDT')
    } finally {
      await sql(`update tokens set decimals = 6 where symbol = 'USDT'`)
    }
  })

  it('T80 who rejects signs no approval, whatever the service says', async () => {
    const id = await orderOnPage('400', 'USDT', '0.01')
    const seen = await takeOver(voter, (_, answer) => answer)
    await voter.goto(`${origin}/v/${bench.vault.code}/approvals/transfer/${id}`)
    await voter.getByRole('button', { name: 'Reject', exact: true }).click()
    await voter.getByRole('dialog').getByLabel('Reason').fill('Not expected')
    await voter.getByRole('dialog').getByRole('button', { name: 'Confirm the rejection' }).click()
    await expect.poll(() => seen.sent.length).toBeGreaterThan(1)
    const signed = seen.sent.map(({ body }) => body.signature).find(Boolean) as SignedVote
    expect(signed.vote.decision).toBe('reject')
    await leave(voter)
  })

  it('T80 a payout with an altered row is not signed unless the page shows it', async () => {
    const path = `/vaults/${bench.vault.code}/payouts/preview`
    const lines = [1, 2].map((i) => `altered-${i},${fakeAddress(`paid ${i}`)},${i}`)
    const alterations: ((order: Order) => object)[] = [
      (order) => ({ ...order, amount: `${order.amount}0` }),
      (order) => ({ ...order, toAddress: fakeAddress('a thief') }),
      (order) => ({ ...order, contractAddress: usdtContract }),
      (order) => ({ ...order, maxFee: '7' }),
    ]
    for (const alter of alterations) {
      const seen = await takeOver(sender, (asked, answer) => {
        if (asked !== path) return answer
        const { toSign } = answer as { toSign: { orders: Order[] } }
        const [first, ...rest] = toSign.orders
        return { ...(answer as Answer), toSign: { ...toSign, orders: [alter(first!), ...rest] } }
      })
      await uploadPayout(lines)
      const order = sender.getByRole('button', { name: 'Order 2 payments' })
      await order.click()
      await sender.getByText('What is shown is not what would be signed.').first().waitFor()
      expect(seen.sent).toEqual([])
      await leave(sender)
    }
  })

  it('T80 a payout shows all that is signed of it to its initiator and to approvers', async () => {
    await uploadPayout([1, 2].map((i) => `shown-${i},${fakeAddress(`paid ${i}`)},${150 + i}`))
    const toSign = sender.getByText('You sign exactly this with a passkey.')
    await toSign.waitFor()
    await sender.getByText('transferId: ').nth(1).waitFor()
    const screen = await screenOf(sender)
    await sender.getByRole('button', { name: 'Order 2 payments' }).click()
    await sender.waitForURL(/\/payouts\/c[a-z0-9]{24}$/, { waitUntil: 'commit' })
    const base = `/vaults/${bench.vault.code}/payouts` as const
    const { id, payloadHash } = (await bench.owner.get(base)).body.items[0]!
    const { items } = (await bench.owner.get(`${base}/${id}/rows`)).body
    const orders = items.map(({ payload }) => readOrder(payload))
    expect(await hashOf(await payoutOf(id, orders))).toBe(payloadHash)
    await voter.goto(`${origin}/v/${bench.vault.code}/approvals/payout/${id}`)
    await voter.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await voter.getByText('transferId: ').nth(1).waitFor()
    const approval = await screenOf(voter)
    for (const order of orders)
      for (const text of mustShow(order).filter((text) => text !== 'coin of')) {
        expect(screen).toContain(text)
        expect(approval).toContain(text)
      }
  })

  it(`T80 of ${runs} altered answers a voter on a request signs none that the page does not show`, {
    timeout: 3_600_000,
  }, async () => {
    const { vault } = bench
    const id = await waitingRequest()
    const path = `/vaults/${vault.code}/approval-requests/${id}`
    const random = randomOf(31)
    let signedCount = 0
    for (let i = 0; i < Math.ceil(runs / 3); i++) {
      let name = ''
      const choice = random() * 2 ** 31
      const seen = await takeOver(administrator, (to, answer) => {
        if (to !== path || i === 0) return answer
        const whole = answer as Answer
        const changed = mutated(i % 3 === 2 ? whole : whole.boundPayload, randomOf(choice))
        name = changed.name
        return i % 3 === 2 ? changed.answer : { ...whole, boundPayload: changed.answer }
      })
      const screen = await confirmOn(administrator, `/v/${vault.code}/approvals/request/${id}`, seen)
      await leave(administrator)
      const signed = seen.sent.map(({ body }) => body.signature).find(Boolean) as SignedVote | undefined
      if (signed === undefined) continue
      signedCount++
      const { boundPayload } = seen.answers.get(path)![0] as { boundPayload: object }
      expect(signed.vote).toMatchObject({
        subject: 'approval_request',
        decision: 'approve',
        hash: await hashOf(boundPayload),
      })
      expect(screen, name).toContain(canonicalJson(boundPayload))
    }
    expect(signedCount).toBeGreaterThan(0)
  })

  /** Holds back what changed until it is called: then all that a page shows is asked for again, once. */
  async function withoutChanges(page: Page): Promise<() => void> {
    let tell = () => {}
    await page.route('**/api/v1/changes**', (route) => {
      tell = () => void route.fulfill({ json: { items: [], nextCursor: 'later', reset: true } })
    })
    return () => tell()
  }

  it.each(['transfer', 'request'] as const)(
    'T80 a %s is not swapped under the hand of who confirms it',
    async (kind) => {
      const page = kind === 'transfer' ? voter : administrator
      const id = kind === 'transfer' ? await orderOnPage('500', 'USDT', '0.01') : await waitingRequest()
      let isSwapped = false
      const seen = await takeOver(page, (asked, answer) => {
        if (!isSwapped || !asked.endsWith(id)) return answer
        const { payload, boundPayload, ...rest } = answer as { payload: Order; boundPayload: object }
        return kind === 'transfer'
          ? { ...rest, payload: { ...payload, amount: `${payload.amount}000` } }
          : { ...rest, boundPayload: { ...boundPayload, targetId: 'another' } }
      })
      const swap = await withoutChanges(page)
      await page.goto(`${origin}/v/${bench.vault.code}/approvals/${kind}/${id}`)
      await page.getByRole('button', { name: 'Approve', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).waitFor()
      isSwapped = true
      swap()
      await page.getByText('What would be signed changed after you opened this page.').waitFor()
      expect(await page.getByRole('dialog').isVisible()).toBe(false)
      await page.getByRole('button', { name: 'Approve', exact: true }).click({ force: true })
      await page.keyboard.press('a')
      expect(await page.getByRole('dialog').isVisible()).toBe(false)
      expect(seen.sent).toEqual([])
      await leave(page)
    },
  )

  it('T80 an order is not swapped under the hand of its initiator', async () => {
    const path = `/vaults/${bench.vault.code}/transfers/preview`
    const orders: Order[] = []
    const seen = await takeOver(sender, (asked, answer) => {
      if (asked === path) orders.push((answer as { order: Order }).order)
      return answer
    })
    const swap = await withoutChanges(sender)
    const screen = await fillOrder(
      '0.1',
      'ETH',
      '0.01',
      () => seen,
      async () => {
        const before = orders.length
        swap()
        await expect.poll(() => orders.length).toBeGreaterThan(before)
        await sender.waitForTimeout(200)
      },
    )
    const { transferId } = orders.at(-1)!
    expect(screen).not.toContain(transferId)
    expect(signedId(seen)).not.toBe(transferId)
    expect(screen).toContain(signedId(seen))
    await leave(sender)
  })

  /** A request that waits for votes: the first passkey of a member waits for an administrator. */
  async function waitingRequest(): Promise<string> {
    const { vault, thirdApprover } = bench
    const base = `/vaults/${vault.code}/approval-requests` as const
    if ((await vault.admin.get(base)).body.items.length === 0) {
      const own = await pageOf(thirdApprover, 'Waits for a second person')
      await own.context().close()
    }
    return (await vault.admin.get(base)).body.items[0]!.id
  }

  async function uploadPayout(lines: string[]): Promise<void> {
    const buffer = Buffer.from(['externalId,toAddress,amount', ...lines].join('\n'))
    await sender.goto(`${origin}/v/${bench.vault.code}/payouts/new`)
    await sender.locator('input[type=file]').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
    await sender.getByRole('button', { name: 'Check the policies' }).click()
    await sender.getByText('You sign exactly this with a passkey.').waitFor()
  }

  /** Fills the form as a person does, and confirms; the screen as it was then, or nothing if the page did not let them. */
  async function fillOrder(
    amount: string,
    symbol: string,
    maxFee: string,
    seen: () => Seen,
    beforeConfirming = async () => {},
  ): Promise<string> {
    sender.setDefaultTimeout(15_000)
    await sender.goto(`${origin}/v/${bench.vault.code}/send?fromAddressId=${address.id}`)
    await sender.getByRole('combobox', { name: 'From' }).fill(address.address)
    await sender.getByRole('listbox').getByRole('option').first().click()
    await sender.getByLabel('Token').selectOption({ label: symbol })
    await sender.getByText('Network fee').click()
    await sender.getByRole('combobox', { name: 'To', exact: true }).fill(bench.recipient)
    await sender.getByLabel(`Amount in ${symbol}`).fill(amount)
    await sender.getByLabel('Fee at most').fill(maxFee)
    const send = sender.getByRole('button', { name: 'Send …' })
    await expect.poll(() => send.isEnabled(), { timeout: 10_000 }).toBe(true)
    await send.click()
    const confirm = sender.getByRole('dialog').getByRole('button', { name: 'Confirm' })
    await confirm.waitFor()
    await beforeConfirming()
    const screen = await screenOf(sender)
    await confirm.click()
    const isOver = async () => seen().sent.length > 0 || (await sender.getByRole('alert').count()) > 0
    await expect.poll(isOver, { timeout: 10_000 }).toBe(true)
    return screen
  }

  /** An order that waits for votes. */
  async function orderOnPage(amount: string, symbol: string, maxFee: string): Promise<string> {
    const isOrdered = { sent: [], answers: new Map() } as Seen
    const answered = sender.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith('/transfers'),
    )
    const [response] = await Promise.all([
      answered,
      fillOrder(amount, symbol, maxFee, () => isOrdered).catch((error: unknown) => {
        if (isOrdered.sent.length === 0) return ''
        throw error
      }),
      answered.then(() => isOrdered.sent.push({ path: '', body: {} })),
    ])
    return ((await response.json()) as { id: string }).id
  }
})
