import type { Browser } from 'playwright-core'
import { decodeFunctionData, erc20Abi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  canonicalJson,
  hashOf,
  readAuthority,
  type SignedVote,
  signApproval,
  signAuthority,
  signOrder,
  termsOf,
  toRaw,
} from '../sdk/src/signing/signing.ts'
import { createStrongroom } from '../sdk/src/strongroom.ts'
import { randomOf } from '../sdk/src/testing/signed-orders.ts'
import type { Address, TransferPayload } from '../server/src/testing/answer.ts'
import { Authenticator } from '../server/src/testing/authenticator.ts'
import { campaignOf } from '../server/src/testing/campaign.ts'
import { launchChromium } from '../server/src/testing/launch-chromium.ts'
import type { Authority, AuthorityKey, Order } from '../wallet/src/authority/documents.ts'
import { pinAuthority } from '../wallet/src/authority/protection.ts'
import { requestOf } from '../wallet/src/testing/signing.ts'
import { Desk, NothingDone, readPayment, sign } from './setup/desk.ts'
import { byHash, Liar, type Mood } from './setup/lies.ts'
import {
  type Member,
  openVault,
  type ProtectedStack,
  startProtectedStack,
  switchOn,
  walletToken,
} from './setup/protected-stack.ts'
import { until } from './setup/running-service.ts'

/**
 * People do their honest work while the service, which serves them its built pages, lies to them. The attacker who holds it brings
 * everything that they signed to the wallet service. Nothing moves but what somebody typed and two others approved.
 */

/** Works of each person at a browser, and of each with a program, while the service lies. */
const { runs, seed } = campaignOf('SIGNING_PAGE', { runs: 50, seed: 41 })
const worksCount = runs / 25
const programRuns = worksCount * 10

const thief = privateKeyToAddress(generatePrivateKey())
/** On the signed list of addresses. */
const supplier = privateKeyToAddress(generatePrivateKey())
/** On no list. */
const vendor = privateKeyToAddress(generatePrivateKey())
const random = randomOf(seed)
const liar = new Liar({ random, thief, paid: [supplier, vendor] })

let stack: ProtectedStack
let browser: Browser
let vaultId: string
/** From which the initiators pay. */
let addresses: Map<string, Address>
let authority: Authority
let members: Record<'ada' | 'dora' | 'ben' | 'carl' | 'eve', Member>
/** Ada orders and Ben approves at browsers; Dora orders, and Carl and Eve approve, with programs. */
let ada: Desk
let ben: Desk
const keys = { dora: new Authenticator(''), carl: new Authenticator(''), eve: new Authenticator('') }
const programs = ['dora', 'carl', 'eve'] as const
/** Votes that the service kept to itself. */
const kept: SignedVote[] = []

/** A payment that somebody typed; no two have the same amount. */
type Typed = {
  toAddress: string
  symbol: 'ETH' | 'TUSD'
  amount: string
  by: 'ada' | 'dora'
  approvedBy: Set<string>
  isStopped: boolean
  /** The order that the service told its initiator. */
  told?: unknown
}
const typed: Typed[] = []

function typePayment(by: Typed['by'], values: Partial<Pick<Typed, 'symbol' | 'toAddress'>> = {}): Typed {
  // No two amounts are the same, and none ends with a zero, which pages do not show.
  const number = `${String(typed.length + 1).padStart(4, '0')}1`
  const { symbol = 'ETH', toAddress = supplier } = values
  const payment = { toAddress, symbol, by, amount: `${symbol === 'ETH' ? '0.01' : '1.'}${number}` }
  typed.push({ ...payment, approvedBy: new Set(), isStopped: false })
  return typed.at(-1)!
}

const unitOf = (symbol: Typed['symbol']) => ({ decimals: symbol === 'ETH' ? 18 : 6 })
const rawOf = ({ amount, symbol }: Typed) => String(toRaw(amount, unitOf(symbol)))
const contractOf = ({ symbol }: Typed) => (symbol === 'ETH' ? null : stack.token)

beforeAll(async () => {
  const launched = launchChromium()
  stack = await startProtectedStack()
  browser = await launched
  const { signingPage, proxy, keeper, store, clientId } = stack
  const [initiators, approvers] = ['initiators', 'approvers'] as const
  const names = { ada: initiators, dora: initiators, ben: approvers, carl: approvers, eve: approvers }
  const vault = await openVault(stack, names)
  ;({ vaultId, members, addresses } = vault)
  const seat = ({ token, id: userId }: Member) => Desk.take(browser, { origin: proxy.url, signingPage, token, userId })
  ;[ada, ben] = await Promise.all([seat(members.ada), seat(members.ben)])
  for (const name of programs) keys[name] = new Authenticator(signingPage)
  authority = authorityOf()
  await pinAuthority(keeper, store, clientId, authority)
  await switchOn(stack)
  proxy.lie = liar.lie
})
afterAll(async () => {
  await browser?.close()
  await stack?.stop()
})

function authorityOf(): Authority {
  const { hostname: rpId } = new URL(stack.signingPage)
  const ofPrograms = programs.map((name) => ({
    id: keys[name].id.toString('base64url'),
    person: members[name].id,
    name: 'Program',
    kind: 'passkey' as const,
    publicKey: keys[name].publicKey.toString('base64url'),
    rpId,
    origins: [stack.signingPage],
  }))
  const rule = { network: 'ethereum', initiators: 'initiators', perDay: null }
  const floors = [{ above: '0', to: 'any' as const, group: 'approvers', votes: 2 }]
  return {
    format: 'strongroom-authority-2',
    vaultId,
    version: 1,
    previous: null,
    keys: [...ofPrograms, ...[ada, ben].map(({ registered }) => registered.entry as AuthorityKey)],
    groups: [
      { id: 'initiators', persons: [members.ada.id, members.dora.id] },
      { id: 'approvers', persons: [members.ben.id, members.carl.id, members.eve.id] },
      { id: 'officers', persons: [members.ben.id, members.carl.id, members.dora.id] },
    ],
    addresses: [{ network: 'ethereum', address: supplier }],
    change: { group: 'officers', votes: 2 },
    trustsServicePage: false,
    delayHours: 24,
    contacts: [],
    rules: [
      { ...rule, contractAddress: null, symbol: 'ETH', decimals: 18, floors },
      { ...rule, contractAddress: stack.token, symbol: 'TUSD', decimals: 6, floors },
    ],
  }
}

const vault = '/v/treasury'

/** A form that Ada fills, whose payment she signs without looking at it again. */
async function orderAtBrowser(payment: Typed): Promise<void> {
  const { page } = ada
  const { toAddress, amount, symbol } = payment
  const address = addresses.get('ada')!
  await ada.goto(`${vault}/send?fromAddressId=${address.id}`)
  const from = page.getByRole('combobox', { name: 'From' })
  await ada.reaches(from)
  await from.fill(address.address)
  await ada.click(page.getByRole('listbox').getByRole('option').first())
  const token = page.getByLabel('Token', { exact: true })
  await ada.reaches(token)
  await token.selectOption({ label: symbol })
  await page.getByRole('combobox', { name: 'To', exact: true }).fill(toAddress)
  await page.getByLabel(`Amount in ${symbol}`).fill(amount)
  await ada.click(page.getByRole('button', { name: 'Send …' }))
  const popup = await ada.window(page.getByRole('dialog').getByRole('button', { name: 'Confirm' }))
  await sign(popup, [toAddress])
}

/** A list that Ada uploads. */
async function payAtBrowser(payments: Typed[]): Promise<void> {
  const { page } = ada
  const lines = payments.map(({ toAddress, amount, symbol }) => `list-${amount},${toAddress},${amount},${symbol}`)
  const buffer = Buffer.from(['externalId,toAddress,amount,token', ...lines].join('\n'))
  await ada.goto(`${vault}/payouts/new`)
  const file = page.locator('input[type=file]')
  await file.setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
  const from = page.getByLabel('From')
  await ada.reaches(from)
  await from.selectOption({ index: 1 })
  await page.getByLabel('Token', { exact: true }).selectOption({ index: 1 })
  await ada.click(page.getByRole('button', { name: 'Check the policies' }))
  await ada.click(page.getByRole('button', { name: `Order ${payments.length} payments` }))
  const popup = await ada.window(page.getByRole('dialog').getByRole('button', { name: 'Confirm' }))
  await sign(
    popup,
    payments.filter(({ toAddress }) => toAddress === vendor).map(({ toAddress }) => toAddress),
  )
}

/** Ben opens what waits, and signs when the window shows the payment that he knows of. */
async function voteAtBrowser(payment: Typed, id: string, decision: 'approve' | 'reject'): Promise<void> {
  const { page } = ben
  const dialog = page.getByRole('dialog')
  await ben.goto(`${vault}/approvals/transfer/${id}`)
  const [button, confirm] = decision === 'approve' ? ['Approve', 'Confirm'] : ['Reject', 'Confirm the rejection']
  await ben.click(page.getByRole('button', { name: button, exact: true }))
  if (decision === 'reject') await dialog.getByLabel('Reason').fill('Not expected')
  const popup = await ben.window(dialog.getByRole('button', { name: confirm }))
  await readPayment(popup, { amount: `${payment.amount} ${payment.symbol}`, toAddress: payment.toAddress })
  if (decision === 'approve') {
    // From when he presses the button: he does not take back what he signed.
    payment.approvedBy.add(members.ben.id)
    await sign(popup, [payment.toAddress])
  } else await sign(popup, [], 'The wallet service has it: it signs nothing of this from now on.')
}

/** Ben reads each row of a list in the window, and signs all of them. */
async function approveListAtBrowser(payments: Typed[], id: string): Promise<void> {
  const { page } = ben
  await ben.goto(`${vault}/approvals/payout/${id}`)
  await ben.click(page.getByRole('button', { name: 'Approve', exact: true }))
  const popup = await ben.window(page.getByRole('dialog').getByRole('button', { name: 'Confirm' }))
  const rows = popup.getByRole('region', { name: 'All rows' }).locator('tbody tr')
  await rows.first().waitFor()
  const shown = await rows.allTextContents()
  const wanted = payments.map(({ amount, symbol, toAddress }, i) => `${i + 1}${amount} ${symbol}${toAddress}`)
  if (shown.length !== wanted.length || !wanted.every((row, i) => shown[i]!.startsWith(row))) {
    await popup.close()
    throw new NothingDone(`the window shows ${shown}`)
  }
  for (const { approvedBy } of payments) approvedBy.add(members.ben.id)
  await sign(
    popup,
    payments.filter(({ toAddress }) => toAddress === vendor).map(({ toAddress }) => toAddress),
  )
}

/** Ada takes back what she ordered. */
async function cancelAtBrowser(payment: Typed, id: string): Promise<void> {
  const { page } = ada
  await ada.goto(`${vault}/transfers/${id}`)
  await ada.click(page.getByRole('button', { name: 'Cancel the transfer' }))
  const popup = await ada.window(page.getByRole('dialog').getByRole('button', { name: 'Cancel the transfer' }))
  await readPayment(popup, { amount: `${payment.amount} ${payment.symbol}`, toAddress: payment.toAddress })
  await sign(popup, [], 'The wallet service has it: it signs nothing of this from now on.')
}

const clientOf = (name: keyof typeof members) =>
  createStrongroom({ baseUrl: stack.proxy.url, token: members[name].token, timeoutMs: 10_000 }).vault('treasury')
const signerOf = (name: keyof typeof keys) => ({
  person: members[name].id,
  sign: async (vote: SignedVote['vote']) => keys[name].vote(vote) as SignedVote,
})
const readShown = async (name: keyof typeof members) => readAuthority((await clientOf(name).authority.get()).document)

/** The order that people with programs expect. Only its terms come from an answer of the service. */
function expectedOf(payment: Typed, order: unknown) {
  const { toAddress, amount, by } = payment
  const typed = {
    network: 'ethereum',
    contractAddress: contractOf(payment),
    fromAddress: addresses.get(by)!.address,
    toAddress,
    amount,
  }
  return {
    vaultId,
    initiatorId: members[by].id,
    ...typed,
    terms: { ...termsOf(order), fromAddressId: addresses.get(by)!.id },
  }
}

async function orderByProgram(payment: Typed): Promise<void> {
  const { transfers } = clientOf('dora')
  const { toAddress, amount, symbol } = payment
  const body = { fromAddressId: addresses.get('dora')!.id, toAddress, amount, token: symbol }
  const { order } = await transfers.preview(body)
  payment.told = order
  const expected = { ...expectedOf(payment, order), authority: await readShown('dora') }
  const vote = await signOrder(order, expected, signerOf('dora'))
  const { transferId, expiresAt, rulesVersion } = order as Order
  await transfers.create({ ...body, signed: { transferId, expiresAt, rulesVersion, vote } })
}

async function signByProgram(name: 'carl' | 'eve', payment: Typed, id: string) {
  const { payload, payloadHash } = await clientOf(name).transfers.get(id)
  return { payloadHash, signature: await signTold(name, payment, payload) }
}

async function signTold(name: 'carl' | 'eve', payment: Typed, order: unknown): Promise<SignedVote> {
  const expected = { ...expectedOf(payment, order), authority: await readShown(name) }
  const signature = await signApproval({ kind: 'transfer', order, expected }, signerOf(name))
  payment.approvedBy.add(members[name].id)
  return signature
}

async function approveByProgram(name: 'carl' | 'eve', payment: Typed): Promise<void> {
  const id = await knownIdOf(payment)
  await clientOf(name).transfers.approve(id, await signByProgram(name, payment, id))
}

/** Eve approves, and the service says that it did not get it. */
async function approveInVain(payment: Typed): Promise<void> {
  kept.push((await signByProgram('eve', payment, await knownIdOf(payment))).signature)
}

async function approveListByProgram(payments: Typed[], payoutId: string): Promise<void> {
  const { payouts } = clientOf('carl')
  const orders: object[] = []
  for await (const { payload } of payouts.listRows(payoutId)) orders.push(payload)
  const { payloadHash } = await payouts.get(payoutId)
  const rows = payments.map((payment, i) => expectedOf(payment, orders[i]))
  const expected = { authority: await readShown('carl'), rows }
  const signature = await signApproval({ kind: 'payout', payoutId, orders, expected }, signerOf('carl'))
  for (const { approvedBy } of payments) approvedBy.add(members.carl.id)
  await payouts.approve(payoutId, { payloadHash, signature })
}

/** Reads the ids of the order from the database, as a colleague would tell them. No lie changes them. */
async function idsOf(payment: Typed): Promise<{ id: string; payoutId: string } | null> {
  const sql = `select id, payout_id as "payoutId" from transfers where payload ->> 'amount' = $1`
  return (await stack.service.query(sql, [rawOf(payment)])).rows[0] ?? null
}
const isOrdered = async (payment: Typed) => (await idsOf(payment)) !== null
async function knownIdsOf(payment: Typed) {
  const ids = await idsOf(payment)
  if (ids === null) throw new NothingDone('the service has no such order')
  return ids
}
const knownIdOf = async (payment: Typed) => (await knownIdsOf(payment)).id
const listIdOf = async ([first]: Typed[]) => (await knownIdsOf(first!)).payoutId

/** Carl and Dora were robbed of their keys: they have signed an authority that lets the thief's key alone do everything. */
async function signNextAuthority(delayHours: number): Promise<string> {
  const present = await readAuthority(authority)
  const key = new Authenticator(stack.signingPage)
  const [first] = authority.keys
  const stolen = { ...first!, id: key.id.toString('base64url'), publicKey: key.publicKey.toString('base64url') }
  const next = {
    ...authority,
    version: 2,
    previous: present.hash,
    delayHours,
    keys: [stolen, ...authority.keys.slice(1)],
  }
  const expected = { authority: present, document: canonicalJson(next) }
  const votes = [
    await signAuthority(next as never, expected, signerOf('carl'), 'initiate'),
    await signAuthority(next as never, expected, signerOf('dora'), 'approve'),
  ]
  const inForceAt = new Date(Date.now() + 3_600_000).toISOString()
  await stack.store.append(stack.clientId, { authority: next, votes, inForceAt })
  return hashOf(next)
}

/** Ben cancels it, when the window shows the version that the wallet service itself has told him of. */
async function cancelAuthorityAtBrowser(): Promise<void> {
  const { page } = ben
  await ben.goto(`${vault}/settings`)
  await ben.click(page.getByRole('button', { name: 'Cancel this version …' }).first())
  const popup = await ben.window(page.getByRole('dialog').getByRole('button', { name: 'Sign the cancellation' }))
  await sign(popup, [], 'The wallet service has it: the next version is cancelled.')
}

/** The person may do nothing because of a lie. What they must never do is seen at the end. */
async function unlessLiedTo(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch {
    return false
  }
}

const setMood = (name: keyof typeof members, mood: Mood) => liar.moods.set(members[name].token, mood)
const moods: Mood[] = ['some', 'signed', 'signed', 'every']
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!

describe('people who do honest work', () => {
  it('T58 T80 order, approve, send many, veto and cancel at browsers and by programs, while nobody lies to them', async () => {
    const inDollars = typePayment('ada', { symbol: 'TUSD', toAddress: vendor })
    const [vetoed, ordered, cancelled] = [
      typePayment('dora'),
      typePayment('dora', { toAddress: vendor }),
      typePayment('ada'),
    ]
    const list = [typePayment('ada'), typePayment('ada', { toAddress: vendor })]
    const waiting = typePayment('dora')
    for (const payment of [vetoed, ordered, waiting]) {
      await orderByProgram(payment)
      await approveByProgram('carl', payment)
    }
    await approveInVain(vetoed)
    const next = await signNextAuthority(24)
    const atAda = async () => {
      await orderAtBrowser(cancelled)
      await until(() => isOrdered(cancelled))
      await approveByProgram('carl', cancelled)
      await approveInVain(cancelled)
      await cancelAtBrowser(cancelled, await knownIdOf(cancelled))
      cancelled.isStopped = true
      await orderAtBrowser(inDollars)
      await payAtBrowser(list)
    }
    const atBen = async () => {
      await voteAtBrowser(vetoed, await knownIdOf(vetoed), 'reject')
      vetoed.isStopped = true
      await cancelAuthorityAtBrowser()
      await voteAtBrowser(ordered, await knownIdOf(ordered), 'approve')
      await until(() => isOrdered(inDollars))
      await voteAtBrowser(inDollars, await knownIdOf(inDollars), 'approve')
      await until(() => isOrdered(list[1]!))
      await approveListAtBrowser(list, await listIdOf(list))
    }
    await Promise.all([atAda(), atBen()])
    await approveByProgram('carl', inDollars)
    await approveListByProgram(list, await listIdOf(list))
    expect(await stack.store.isCancelled(stack.clientId, next)).toBe(true)
    await until(async () => (await moved()).length === 4)
    const paid = [inDollars, ordered, ...list].map(nameOf)
    expect((await moved()).map(({ name }) => name).sort()).toEqual(paid.sort())
  })

  it(`T58 T80 sign nothing else in ${worksCount} works at each browser and ${programRuns} by programs, whatever is told`, async () => {
    const before = typed.length
    // A page that gets a lie may wait for an answer that never comes.
    ada.patience = ben.patience = 600
    const atAda = async () => {
      for (let i = 0; i < worksCount; i++) {
        setMood('ada', moods[i % moods.length]!)
        const payments = [typePayment('ada', { symbol: pick(['ETH', 'TUSD']), toAddress: pick([supplier, vendor]) })]
        const isList = i % 3 === 1
        if (isList) payments[0] = typePayment('ada')
        if (isList) payments.push(typePayment('ada', { toAddress: vendor }))
        await unlessLiedTo(() => (isList ? payAtBrowser(payments) : orderAtBrowser(payments[0]!)))
      }
    }
    const atBen = async () => {
      for (let i = 0; i < worksCount; i++) {
        const payment = typePayment('dora', { toAddress: pick([supplier, vendor]) })
        setMood('dora', 'honest')
        await orderByProgram(payment)
        setMood('ben', moods[(i + 2) % moods.length]!)
        await unlessLiedTo(async () => voteAtBrowser(payment, await knownIdOf(payment), 'approve'))
      }
    }
    await Promise.all([atAda(), atBen()])
    const atBrowsers = typed.length - before
    for (let i = 0; i < programRuns; i++) {
      const payment = typePayment('dora', { symbol: pick(['ETH', 'TUSD']), toAddress: pick([supplier, vendor]) })
      for (const name of programs) setMood(name, pick(['some', 'signed', 'every']))
      if (!(await unlessLiedTo(() => orderByProgram(payment)))) {
        // The service has no such order, and shows others what it told its initiator.
        for (const name of ['carl', 'eve'] as const)
          await unlessLiedTo(async () => kept.push(await signTold(name, payment, payment.told)))
        continue
      }
      await unlessLiedTo(() => approveByProgram('carl', payment))
      // Each second one has a vote too few, and must stay where it is.
      if (i % 2 === 0) await unlessLiedTo(() => approveByProgram('eve', payment))
    }
    // Carl approves what Ada may have ordered, and what Ben may have approved.
    setMood('carl', 'honest')
    for (const payment of typed.slice(before, before + atBrowsers))
      await unlessLiedTo(() => approveByProgram('carl', payment))
    expect(liar.count).toBeGreaterThan(worksCount * 10)
    expect(typed.slice(before).filter(({ approvedBy }) => approvedBy.has(members.carl.id)).length).toBeGreaterThan(
      programRuns / 20,
    )
  })

  it('T58 T80 move nothing but what they typed, whoever brings what they signed to the wallet service', async () => {
    const answers = await handOverEverything()
    for (const code of ['VOTES_MISSING', 'STOPPED', 'ORDER_DIFFERS']) expect([...answers.keys()]).toContain(code)
    await until(async () => {
      const { rows } = await stack.keeper.query(
        `select 1 from wallet.transfers where status in ('queued', 'broadcast')`,
      )
      return rows.length === 0
    })
    const names = new Map(typed.map((payment) => [nameOf(payment), payment]))
    const all = await moved()
    for (const { name } of all) {
      const payment = names.get(name)
      expect(payment, `nobody typed ${name}`).toBeDefined()
      expect(payment!.isStopped, `${name} was stopped`).toBe(false)
      expect(payment!.approvedBy.size, `${name} has not all votes`).toBeGreaterThan(1)
    }
    expect(new Set(all.map(({ name }) => name)).size, 'nothing is paid twice').toBe(all.length)
    expect(await stack.faucet.getBalance({ address: thief })).toBe(0n)
    expect(await stack.store.read(stack.clientId)).toMatchObject({ version: 1, hash: await hashOf(authority) })
  })
})

const nameOf = (payment: Typed) => `${rawOf(payment)} of ${contractOf(payment)} to ${payment.toAddress}`.toLowerCase()

/** Every payment that the chain has from the address of the vault. */
async function moved(): Promise<{ name: string; hash: Hex }[]> {
  const { faucet } = stack
  const sources = new Set([...addresses.values()].map(({ address }) => address.toLowerCase()))
  const all = []
  const last = await faucet.getBlockNumber()
  for (let blockNumber = 0n; blockNumber <= last; blockNumber++) {
    const { transactions } = await faucet.getBlock({ blockNumber, includeTransactions: true })
    for (const { from, to, value, input, hash } of transactions) {
      if (!sources.has(from.toLowerCase())) continue
      const [contract, paid] = input === '0x' ? [null, { to, value }] : [to, transferIn(input)]
      all.push({ name: `${paid.value} of ${contract} to ${paid.to}`.toLowerCase(), hash })
    }
  }
  return all
}

function transferIn(data: Hex): { to: string; value: bigint } {
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data })
  if (functionName !== 'transfer') throw new Error(`the vault has called ${functionName}`)
  return { to: args[0], value: args[1] }
}

/**
 * As who holds the service does: each order that was ever told, true or not, with all votes that anybody sent, and with those on
 * another one. The codes by which the wallet service refuses.
 */
async function handOverEverything(): Promise<Map<string, number>> {
  const orders = await byHash(liar.told)
  const bodies = stack.proxy.received.map(({ body }) => body).filter((body) => body !== null)
  const sent: SignedVote[] = bodies
    .flatMap((body) => [body.signature, body.signed?.vote, ...(body.votes ?? [])])
    .filter(Boolean)
  const votes = [...sent, ...kept]
  const answers = new Map<string, number>()
  const hand = async (order: TransferPayload, authorization: object) => {
    const code = await handOver(order, { order, authorityVersion: 1, ...authorization })
    answers.set(code, (answers.get(code) ?? 0) + 1)
  }
  for (const { vote } of votes) {
    const about = votes.filter((other) => other.vote.hash === vote.hash)
    const order = orders.get(vote.hash) as TransferPayload | undefined
    if (order === undefined) continue
    await hand(order, { votes: about })
    await hand({ ...order, toAddress: thief }, { votes: about })
    await hand(order, { votes: [...about, pick(votes)] })
  }
  return answers
}

async function handOver(order: TransferPayload, authorization: object): Promise<string> {
  const response = await fetch(`${stack.wallet.url}/transfers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${walletToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...requestOf(order as Order), authorization }),
  })
  const { details } = (await response.json()) as { details?: string }
  return response.ok ? 'accepted' : (/^[A-Z_]+(?=: )/.exec(details ?? '')?.[0] ?? String(response.status))
}
