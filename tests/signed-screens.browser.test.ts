import { type Browser, errors, type Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalJson, hashOf, type Order, payoutOf, readOrder } from '../sdk/src/signing/signing.ts'
import { mutated, type Random, randomOf } from '../sdk/src/testing/signed-orders.ts'
import type { SignedVote } from '../server/src/lib/signed-vote.ts'
import { campaignOf } from '../server/src/testing/campaign.ts'
import { authorityAnswer } from '../server/src/testing/fake-authority.ts'
import { fakeAddress } from '../server/src/testing/fake-wallet.ts'
import { usdtContract } from '../server/src/testing/fixtures.ts'
import { launchChromium } from '../server/src/testing/launch-chromium.ts'
import { createTransferBench, type TransferBench } from '../server/src/testing/transfer-bench.ts'
import { freePort } from './setup/free-port.ts'
import { type Answer, type LyingPage, onPages, pagesOf, type Seen } from './setup/lying-page.ts'

/**
 * The built console in a browser with an authenticator whose finger always agrees, and a service that answers anything: whatever one
 * value of an answer becomes, what was signed stands on the screen, or nothing was signed.
 */

/** The number of answers that are altered on each kind of page. */
const { runs, seed: firstSeed } = campaignOf('SIGNING_PAGE', { runs: 10, seed: 0 })
const long = { timeout: 3_600_000 }

/** A token of the authority with the decimals of ether. */
const wrapped = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'

let bench: TransferBench
let browser: Browser
let origin: string
let senders: [LyingPage, ...LyingPage[]]
let voters: [LyingPage, ...LyingPage[]]
let administrators: [LyingPage, ...LyingPage[]]
let address: Awaited<ReturnType<TransferBench['fundedAddress']>>
/** The hash of the authority that the wallet service has in force. */
let inForce: string
/** The path of the vault in the API. */
let base: `/vaults/${string}`

beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  bench = await createTransferBench({ PUBLIC_URL: origin, CONSOLE: 'on' })
  await bench.test.app.listen({ port, host: '127.0.0.1' })
  browser = await launchChromium()
  const { vault, owner, firstApprover, recipient } = bench
  base = `/vaults/${vault.code}`
  address = await bench.fundedAddress({ usdt: '100000', eth: '500' })
  senders = await pagesOf(browser, { origin, person: owner, count: 2 })
  voters = await pagesOf(browser, { origin, person: firstApprover, count: 2 })
  const { authority } = authorityAnswer(vault.id, [], 3)
  const rule = { network: 'ethereum', initiators: 'treasurers', perDay: null, floors: [] }
  const rules = [
    { ...rule, contractAddress: null, symbol: 'ETH', decimals: 18 },
    { ...rule, contractAddress: usdtContract, symbol: 'USDT', decimals: 6 },
    { ...rule, contractAddress: wrapped, symbol: 'WETH', decimals: 18 },
  ]
  const contacts = [{ person: owner.userId, email: 'owner@example.org' }]
  const addresses = [{ network: 'ethereum', address: recipient }]
  const document = { ...authority, contacts, addresses, rules: rules as never[] }
  inForce = await hashOf(document)
  vault.wallet.authority = { authority: document, version: 3, hash: inForce }
  administrators = await pagesOf(browser, { origin, person: vault.admin, count: 2 })
  const [{ page }] = administrators
  await page.goto(`${origin}/v/${vault.code}/settings`)
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByRole('button', { name: 'Switch off' }).waitFor()
})
afterAll(async () => {
  await browser?.close()
  await bench?.close()
})

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
  [`ethereum ${wrapped}`, { symbol: 'WETH', decimals: 18 }],
])

/** Returns the texts that the screen must show for the fields of an order under the authority in force. */
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

/** The signed vote that the page sent. */
function signedIn({ sent }: Seen): SignedVote | undefined {
  const votes = sent.map(({ body }) => body.signature ?? (body.signed as { vote: SignedVote } | undefined)?.vote)
  return votes.find(Boolean) as SignedVote | undefined
}

type Part = { seed: number; target: string; part: string | null; isFickle?: boolean }

/**
 * Alters one value of the answers to `target`, or of a part of them. The page asks more than once: it is told the same each time, or
 * something else if the service is fickle.
 */
function alteringOf({ seed, target, part, isFickle = false }: Part) {
  const start = firstSeed + seed
  const fickle = randomOf(start)
  const names: string[] = []
  const alter = (path: string, answer: unknown): unknown => {
    if (path !== target) return answer
    const { altered, name } = withAltered(answer as Answer, part?.split('.') ?? [], isFickle ? fickle : randomOf(start))
    names.push(`${path} ${part ?? ''} ${name}`)
    return altered
  }
  return { alter, names }
}

function withAltered(answer: Answer, [name, ...rest]: string[], random: Random): { altered: unknown; name: string } {
  if (name === undefined || !(name in answer)) {
    const { answer: altered, name } = mutated(answer, random)
    return { altered, name }
  }
  const inner = withAltered(answer[name] as Answer, rest, random)
  return { altered: { ...answer, [name]: inner.altered }, name: inner.name }
}

const never: Part = { seed: 0, target: '', part: null }

/** A page that cannot read its answer may have lost the button. */
const isOn = (button: Locator) => button.isEnabled({ timeout: 200 }).catch(() => false)

/** Opens a page on which somebody votes, and approves what it shows, if it lets them; the screen as it was then. */
async function approveOn(lying: LyingPage, path: string, seen: Seen): Promise<string> {
  const { page } = lying
  await lying.goto(path)
  const approve = page.getByRole('button', { name: 'Approve', exact: true })
  if (!(await lying.until(() => isOn(approve)))) return ''
  await approve.click()
  const dialog = page.getByRole('dialog')
  const confirm = dialog.getByRole('button', { name: 'Confirm' })
  if (!(await lying.until(() => confirm.isVisible()))) return ''
  const screen = await lying.screen()
  await confirm.click()
  // It is signed and sent once more, the page says why not, or it does nothing at all.
  await lying.until(async () => seen.sent.length > 1 || (await dialog.getByRole('alert').count()) > 0)
  return screen
}

/** A page that breaks under its reader shows nothing: then nothing may be signed. */
const unlessBroken = (screen: Promise<string>) =>
  screen.catch((error: unknown) => {
    if (error instanceof errors.TimeoutError) return ''
    throw error
  })

type Typed = { amount: string; symbol: string; maxFee: string }
const halfCoin: Typed = { amount: '0.1', symbol: 'ETH', maxFee: '0.01' }
const nothing = async () => {}

/** Fills the form as a person does, and confirms; the screen as it was then, or nothing if the page did not let them. */
async function orderOn(
  lying: LyingPage,
  { amount, symbol, maxFee }: Typed,
  { isSent, beforeConfirming = nothing }: { isSent: () => boolean; beforeConfirming?: () => Promise<void> },
): Promise<string> {
  const { page } = lying
  await lying.goto(`/v/${bench.vault.code}/send`)
  const from = page.getByRole('combobox', { name: 'From' })
  if (!(await lying.until(() => from.isVisible()))) return ''
  await from.fill(address.address)
  const option = page.getByRole('listbox').getByRole('option').first()
  if (!(await lying.until(() => option.isVisible(), 2_000))) return ''
  await option.click()
  const token = page.getByLabel('Token', { exact: true })
  const hasToken = async () => (await token.locator('option').allTextContents()).includes(symbol)
  if (!(await lying.until(hasToken))) return ''
  await token.selectOption({ label: symbol })
  await page.getByText('Network fee').click()
  await page.getByRole('combobox', { name: 'To', exact: true }).fill(bench.recipient)
  await page.getByLabel(`Amount in ${symbol}`).fill(amount)
  const fee = page.getByLabel('Fee at most')
  if (!(await lying.until(() => fee.isVisible()))) return ''
  await fee.fill(maxFee)
  const send = page.getByRole('button', { name: 'Send …' })
  if (!(await lying.until(() => isOn(send), 2_000))) return ''
  await send.click()
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Confirm' })
  await confirm.waitFor()
  await beforeConfirming()
  const screen = await lying.screen()
  await confirm.click()
  await lying.until(async () => isSent() || (await page.getByRole('alert').count()) > 0)
  return screen
}

/** An order that waits for votes. */
async function waitingOrder(amount: string): Promise<string> {
  const [sender] = senders
  await sender.leave()
  const answered = sender.page.waitForResponse(
    (response) => response.request().method() === 'POST' && response.url().endsWith('/transfers'),
  )
  let isSent = false
  const sent = answered.then((response) => {
    isSent = true
    return response.json() as Promise<{ id: string }>
  })
  await orderOn(sender, { amount, symbol: 'USDT', maxFee: '0.01' }, { isSent: () => isSent })
  return (await sent).id
}

/** A payout that waits for votes, with the screen on which its initiator signed it. */
async function orderPayout(): Promise<{ id: string; payloadHash: string; screen: string }> {
  const [sender] = senders
  await sender.leave()
  await uploadOn(
    sender,
    [1, 2].map((i) => `shown-${i},${fakeAddress(`paid ${i}`)},${150 + i}`),
  )
  await sender.page.getByText('transferId: ').nth(1).waitFor()
  const screen = await sender.screen()
  await sender.page.getByRole('button', { name: 'Order 2 payments' }).click()
  await sender.page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  await sender.page.waitForURL(/\/payouts\/c[a-z0-9]{24}$/, { waitUntil: 'commit' })
  const { id, payloadHash } = (await bench.owner.get(`/vaults/${bench.vault.code}/payouts`)).body.items[0]!
  return { id, payloadHash, screen }
}

let payout: ReturnType<typeof orderPayout> | null = null

function waitingPayout() {
  payout ??= orderPayout()
  return payout
}

let requestId: Promise<string> | null = null

/** A request that waits for votes: the first passkey of a member waits for an administrator. */
function waitingRequest(): Promise<string> {
  const ask = async () => {
    const { vault, thirdApprover: person } = bench
    const [{ page }] = await pagesOf(browser, { origin, person, added: 'Waits for a second person' })
    await page.context().close()
    return (await vault.admin.get(`/vaults/${vault.code}/approval-requests`)).body.items[0]!.id
  }
  requestId ??= ask()
  return requestId
}

/** Uploads a list, and asks what would be signed of it. */
async function uploadOn(lying: LyingPage, lines: string[]): Promise<boolean> {
  const { page } = lying
  const buffer = Buffer.from(['externalId,toAddress,amount', ...lines].join('\n'))
  await lying.goto(`/v/${bench.vault.code}/payouts/new`)
  await page.locator('input[type=file]').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
  await page.getByLabel('From').selectOption({ index: 1 })
  await page.getByLabel('Token', { exact: true }).selectOption({ index: 1 })
  await page.getByRole('button', { name: 'Check the policies' }).click()
  return lying.until(() => page.getByText('You sign exactly this with a passkey.').isVisible(), 300)
}

/** Orders the payout, if the page lets them; the screen as it was then. */
async function payOn(lying: LyingPage, lines: string[], seen: Seen): Promise<string> {
  if (!(await uploadOn(lying, lines))) return ''
  const order = lying.page.getByRole('button', { name: 'Order 2 payments' })
  if (!(await lying.until(() => isOn(order)))) return ''
  const screen = await lying.screen()
  await order.click()
  await lying.page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  const refused = lying.page.getByText('What is shown is not what would be signed.')
  await lying.until(async () => seen.sent.length > 0 || (await refused.count()) > 0)
  return screen
}

describe('T80 on the pages of the console', () => {
  it(`T80 of ${runs} altered answers an approver signs none that the page does not show`, long, async () => {
    const id = await waitingOrder('200')
    const path = `${base}/transfers/${id}`
    const before = (await bench.owner.get(path as '/vaults/{code}/transfers/{id}')).body
    expect(before.payload).toMatchObject({ amount: '200000000', maxFee: '10000000000000000' })
    const parts = [
      { target: path, part: 'payload' },
      { target: path, part: 'payload' },
      { target: path, part: null },
      { target: `${base}/authority`, part: 'document' },
    ]
    let [signedCount, refusedCount] = [0, 0]
    await onPages(voters, runs, async (lying, i) => {
      // The first time everything is as it is, so that something is signed.
      const { alter, names } = alteringOf(i === 0 ? never : { seed: i, ...parts[i % 4]!, isFickle: i % 5 === 4 })
      const seen = lying.takeOver(alter)
      const screen = await unlessBroken(approveOn(lying, `/v/${bench.vault.code}/approvals/transfer/${id}`, seen))
      await lying.leave()
      const signed = signedIn(seen)
      if (signed !== undefined) expect(signed.vote).toMatchObject({ decision: 'approve', subject: 'transfer' })
      const answers = (seen.answers.get(path) ?? []) as ({ payload?: unknown } | null)[]
      const orders = answers.map((answer) => answer?.payload)
      if (await expectShown(signed, orders, screen, `${i} ${names[0]}`)) signedCount++
      else refusedCount++
    })
    // Orders with altered unsigned fields are signed. Some alterations of signed fields cannot be.
    expect(signedCount).toBeGreaterThan(runs / 20)
    expect(refusedCount).toBeGreaterThan(runs / 20)
  })

  it.each([
    ['amount × 1000', (order: Order) => ({ ...order, amount: `${order.amount}000` })],
    ['another token’s contract', (order: Order) => ({ ...order, contractAddress: usdtContract })],
    ['a token of as many decimals', (order: Order) => ({ ...order, contractAddress: wrapped })],
    ['no end', (order: Order) => ({ ...order, expiresAt: '9999-12-31T00:00:00.000Z' })],
    ['another initiator', (order: Order) => ({ ...order, initiatorId: bench.secondApprover.userId })],
    ['another fee limit', (order: Order) => ({ ...order, maxFee: '90000000000000000' })],
    ['no fee limit', ({ maxFee: _, ...order }: Order) => order],
    ['another sender path', (order: Order) => ({ ...order, derivationPath: 'm/44/60/9/9' })],
    ['another recipient', (order: Order) => ({ ...order, toAddress: fakeAddress('a thief') })],
  ])('T80 an initiator does not sign an order with %s', async (_, alter) => {
    const [sender] = senders
    const orders: unknown[] = []
    const seen = sender.takeOver((path, answer) => {
      if (path !== `${base}/transfers/preview`) return answer
      const order = alter((answer as { order: Order }).order)
      orders.push(order)
      return { ...(answer as Answer), order, vote: { ...(answer as { vote: object }).vote, hash: undefined } }
    })
    const screen = await orderOn(sender, halfCoin, { isSent: () => seen.sent.length > 0 })
    await sender.leave()
    expect(screen).not.toBe('')
    // The path alone is no entry of theirs: it stands on the screen.
    if (await expectShown(signedIn(seen), orders, screen, ''))
      expect((orders[0] as Order).derivationPath).toBe('m/44/60/9/9')
  })

  it(`T80 of ${runs} altered answers an initiator signs none but what they entered`, long, async () => {
    const preview = `${base}/transfers/preview`
    const parts = [
      { target: preview, part: 'order' },
      { target: `${base}/authority`, part: 'document' },
      { target: `${base}/addresses`, part: 'items' },
      { target: preview, part: null },
    ]
    const typed = { amount: '100000000000000000', maxFee: '10000000000000000', contractAddress: null }
    const wanted = { ...typed, network: 'ethereum', toAddress: bench.recipient, initiatorId: bench.owner.userId }
    let signedCount = 0
    await onPages(senders, runs, async (lying, i) => {
      const { alter, names } = alteringOf(i === 0 ? never : { seed: i, ...parts[i % 4]!, isFickle: i % 5 === 4 })
      const seen = lying.takeOver(alter)
      const screen = await unlessBroken(orderOn(lying, halfCoin, { isSent: () => seen.sent.length > 0 }))
      await lying.leave()
      const answers = (seen.answers.get(preview) ?? []) as ({ order?: Order } | null)[]
      const orders = answers.map((answer) => answer?.order)
      const signed = signedIn(seen)
      if (!(await expectShown(signed, orders, screen, `${i} ${names[0]}`))) return
      signedCount++
      const hashes = await Promise.all(orders.map((order) => hashOf(order ?? {})))
      expect(orders[hashes.indexOf(signed!.vote.hash)], names[0]).toMatchObject(wanted)
    })
    expect(signedCount).toBeGreaterThan(runs / 20)
  })

  it('T80 decimals that were changed in the database do not change the amount on the screen', async () => {
    const { vault, sql } = bench
    const [voter] = voters
    const id = await waitingOrder('300')
    try {
      await sql(`update tokens set decimals = 8 where symbol = 'USDT'`)
      await voter.goto(`/v/${vault.code}/approvals/transfer/${id}`)
      await voter.page.getByText('300 USDT').first().waitFor()
      expect(await voter.screen()).not.toContain('3 USDT')
    } finally {
      await sql(`update tokens set decimals = 6 where symbol = 'USDT'`)
    }
  })

  it('T80 a person who rejects signs no approval, whatever the service says', async () => {
    const [voter] = voters
    const id = await waitingOrder('400')
    const seen = voter.takeOver((_, answer) => answer)
    await voter.goto(`/v/${bench.vault.code}/approvals/transfer/${id}`)
    await voter.page.getByRole('button', { name: 'Reject', exact: true }).click()
    const dialog = voter.page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('Not expected')
    await dialog.getByRole('button', { name: 'Confirm the rejection' }).click()
    await expect.poll(() => signedIn(seen)?.vote.decision).toBe('reject')
    for (const { path } of seen.sent) expect(path).toMatch(/\/reject$/)
    await voter.leave()
  })

  it(`T80 of ${runs} altered answers an initiator signs no payout but what they entered`, long, async () => {
    const preview = `${base}/payouts/preview`
    const lines = [1, 2].map((i) => `altered-${i},${fakeAddress(`paid ${i}`)},${i}`)
    const parts = [
      { target: preview, part: 'toSign.orders' },
      { target: preview, part: 'toSign.orders' },
      { target: preview, part: 'toSign' },
      { target: `${base}/authority`, part: 'document' },
      { target: preview, part: null },
    ]
    let signedCount = 0
    await onPages(senders, runs, async (lying, i) => {
      const { alter, names } = alteringOf(i === 0 ? never : { seed: i, ...parts[i % 5]! })
      const seen = lying.takeOver(alter)
      const screen = await unlessBroken(payOn(lying, lines, seen))
      await lying.leave()
      const signed = signedIn(seen)
      if (signed === undefined || signed.vote.authority !== inForce) return
      signedCount++
      const { toSign } = seen.answers.get(preview)!.at(-1) as { toSign: { payoutId: string; orders: unknown[] } }
      const orders = toSign.orders.map(readOrder)
      expect(signed.vote, names[0]).toMatchObject({ subject: 'payout', decision: 'initiate' })
      expect(signed.vote.hash, names[0]).toBe(await hashOf(await payoutOf(toSign.payoutId, orders)))
      const entered = lines.map((line) => line.split(','))
      const paid = orders.map(({ toAddress, amount }) => [toAddress.toLowerCase(), amount])
      expect(paid, names[0]).toEqual(entered.map(([, to, amount]) => [to!.toLowerCase(), `${amount}${'0'.repeat(18)}`]))
      for (const text of orders.flatMap(mustShow).filter((text) => text !== 'coin of'))
        expect(screen, `${names[0]}: ${text} is signed and not shown`).toContain(text)
    })
    expect(signedCount).toBeGreaterThan(runs / 20)
  })

  it('T80 a payout shows all that is signed of it to its initiator and to approvers', async () => {
    const { id, payloadHash, screen } = await waitingPayout()
    const payouts = `/vaults/${bench.vault.code}/payouts` as const
    const { items } = (await bench.owner.get(`${payouts}/${id}/rows`)).body
    const orders = items.map(({ payload }) => readOrder(payload))
    expect(await hashOf(await payoutOf(id, orders))).toBe(payloadHash)
    const [voter] = voters
    await voter.goto(`/v/${bench.vault.code}/approvals/payout/${id}`)
    await voter.page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await voter.page.getByText('transferId: ').nth(1).waitFor()
    const approval = await voter.screen()
    for (const text of orders.flatMap(mustShow).filter((text) => text !== 'coin of')) {
      expect(screen).toContain(text)
      expect(approval).toContain(text)
    }
  })

  it.each([
    ['payout', 'rows'],
    ['transfer', 'authority'],
  ] as const)(
    'T58 a veto of a %s whose %s cannot be loaded is given unsigned, by who was told and agrees',
    async (kind, part) => {
      const id = kind === 'payout' ? (await waitingPayout()).id : await waitingOrder('600')
      const [voter] = voters
      const { page } = voter
      await voter.leave()
      const refused = { status: 503, contentType: 'application/json', body: '{"message":"Try again later"}' }
      await page.route(new RegExp(`/${part}(\\?|$)`), (route) => route.fulfill(refused))
      await voter.goto(`/v/${bench.vault.code}/approvals/${kind}/${id}`)
      await page.getByRole('button', { name: 'Reject', exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Wrong amount' }).click()
      await dialog.getByText('so this veto is not signed. It stops nothing at the wallet service').waitFor()
      const confirm = dialog.getByRole('button', { name: 'Confirm the rejection' })
      await confirm.click()
      await dialog.getByRole('alert').filter({ hasText: 'Reject it without a signature' }).waitFor()
      const path = `${base}/${kind === 'payout' ? 'payouts' : 'transfers'}/${id}` as `/vaults/v/transfers/t`
      expect((await bench.owner.get(path)).body.status).toBe('awaiting_approval')
      await dialog.getByLabel('Reject it without a signature').check()
      await confirm.click()
      await page.getByText('You rejected this.').waitFor()
      await page.unrouteAll()
      expect((await bench.owner.get(path)).body.status).toBe('rejected')
      const signed = await bench.sql('select decision from signed_votes where subject_id = $1', [id])
      expect(signed).toEqual([{ decision: 'initiate' }])
    },
  )

  it('T80 a change is voted on with the differences that votes are bound to, and only rejected where they are bound to none', async () => {
    const id = await waitingRequest()
    const [lying] = administrators
    await lying.leave()
    const { page } = lying
    const { body: request } = await bench.vault.admin.get(`/vaults/${bench.vault.code}/approval-requests/${id}`)
    const payload = { title: 'A change of the rules', changes: [], direction: 'loosening', baseVersion: 1 }
    const show = async (bound: object, differences: unknown[]) => {
      const step = { action: 'rules_change', targetId: 'set', payload: { ...payload, ...bound } }
      const steps = [{ step, targetType: 'change_set', targetId: 'set' }]
      const boundPayload = { ...request.boundPayload, action: 'rules_change', steps }
      await page.unrouteAll()
      await page.route(`**/approval-requests/${id}`, (route) =>
        route.fulfill({ json: { ...request, targetId: 'set', boundPayload } }),
      )
      await page.route('**/change-sets/set', (route) => route.fulfill({ json: { id: 'set', differences } }))
      await lying.goto(`/v/${bench.vault.code}/approvals/request/${id}`)
    }
    const buttonOf = (name: string) => page.getByRole('button', { name, exact: true })
    const differencesHash = await hashOf([])

    await show({ differencesHash }, [])
    await buttonOf('Approve').waitFor()
    expect([await isOn(buttonOf('Reject')), await isOn(buttonOf('Approve'))]).toEqual([true, true])

    await show({ differencesHash }, [{ kind: 'group', before: null, after: null }])
    await page.getByText('What is shown is not what votes are bound to: nothing can be voted on here.').waitFor()
    expect(await buttonOf('Approve').count()).toBe(0)

    await show({}, [])
    await page.getByText('its votes are not bound to the differences, so it can only be rejected').waitFor()
    await buttonOf('Reject').waitFor()
    expect([await isOn(buttonOf('Reject')), await isOn(buttonOf('Approve'))]).toEqual([true, false])
    await page.keyboard.press('a')
    await lying.until(async () => false)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.unrouteAll()
    await lying.leave()
  })

  it(`T80 of ${runs} altered answers a voter on a request signs none that it does not show`, long, async () => {
    const id = await waitingRequest()
    const path = `${base}/approval-requests/${id}`
    let signedCount = 0
    await onPages(administrators, runs, async (lying, i) => {
      const part = i % 3 === 2 ? null : 'boundPayload'
      const { alter, names } = alteringOf(i === 0 ? never : { seed: i, target: path, part, isFickle: i % 5 === 4 })
      const seen = lying.takeOver(alter)
      const screen = await unlessBroken(approveOn(lying, `/v/${bench.vault.code}/approvals/request/${id}`, seen))
      await lying.leave()
      const signed = signedIn(seen)
      if (signed === undefined) return
      signedCount++
      const answers = seen.answers.get(path) as { boundPayload: object }[]
      const hashes = await Promise.all(answers.map(({ boundPayload }) => hashOf(boundPayload)))
      const shown = answers[hashes.indexOf(signed.vote.hash)]
      expect(shown, `${i} ${names[0]}: signed something that was not answered`).toBeDefined()
      expect(signed.vote).toMatchObject({ subject: 'approval_request', decision: 'approve' })
      expect(screen, `${i} ${names[0]}`).toContain(canonicalJson(shown!.boundPayload))
    })
    expect(signedCount).toBeGreaterThan(runs / 20)
  })

  it.each(['transfer', 'request'] as const)(
    'T80 a %s is not swapped under the hand of who confirms it',
    async (kind) => {
      const [lying] = kind === 'transfer' ? voters : administrators
      const { page } = lying
      const id = kind === 'transfer' ? await waitingOrder('500') : await waitingRequest()
      let isSwapped = false
      const seen = lying.takeOver((path, answer) => {
        if (!isSwapped || !path.endsWith(id)) return answer
        const { payload, boundPayload, ...rest } = answer as { payload: Order; boundPayload: object }
        return kind === 'transfer'
          ? { ...rest, payload: { ...payload, amount: `${payload.amount}000` } }
          : { ...rest, boundPayload: { ...boundPayload, targetId: 'another' } }
      })
      await lying.goto(`/v/${bench.vault.code}/approvals/${kind}/${id}`)
      const approve = page.getByRole('button', { name: 'Approve', exact: true })
      await approve.click()
      await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).waitFor()
      isSwapped = true
      lying.tellChanges()
      await page.getByText('What would be signed changed after you opened this page.').waitFor()
      expect(await page.getByRole('dialog').isVisible()).toBe(false)
      await approve.click({ force: true })
      await page.keyboard.press('a')
      expect(await page.getByRole('dialog').isVisible()).toBe(false)
      expect(seen.sent).toEqual([])
      await lying.leave()
    },
  )

  it('T80 an order is not swapped under the hand of its initiator', async () => {
    const [sender] = senders
    let isSwapped = false
    const seen = sender.takeOver((path, answer) => {
      if (!isSwapped || path !== `${base}/transfers/preview`) return answer
      const { order, ...rest } = answer as { order: Order }
      return { ...rest, order: { ...order, derivationPath: 'm/44/60/9/9' } }
    })
    const previews = () => seen.answers.get(`${base}/transfers/preview`) as { order: Order }[]
    const screen = await orderOn(sender, halfCoin, {
      isSent: () => seen.sent.length > 0,
      beforeConfirming: async () => {
        isSwapped = true
        sender.tellChanges()
        await expect.poll(() => previews().at(-1)!.order.derivationPath).toBe('m/44/60/9/9')
        await sender.until(async () => false)
      },
    })
    await sender.leave()
    expect(screen).not.toContain('m/44/60/9/9')
    expect(signedIn(seen)!.vote.hash).toBe(await hashOf(previews()[0]!.order))
  })

  it('T59 every page is red when the authority is older than the browser remembers, until its person compared it', async () => {
    const [voter] = voters
    await voter.leave()
    const { id, code } = bench.vault
    await voter.goto(`/v/${code}`)
    const kept = JSON.stringify({ version: 9, hash: 'ab'.repeat(32) })
    await voter.page.evaluate(`localStorage.setItem('strongroom.authority.${id}', '${kept}')`)
    await voter.goto(`/v/${code}/addresses`)
    await voter.page.getByText('Seen here before: version 9').waitFor()
    await voter.page.getByRole('button', { name: 'We compared the fingerprint: it is correct' }).click()
    await voter.goto(`/v/${code}`)
    await voter.page.getByRole('main').waitFor()
    await voter.until(async () => false)
    expect(await voter.screen()).not.toContain('Seen here before')
  })
})
