import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, createAddress, deposit, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyDeposits } from './verify-deposits.ts'

let bench: TransferBench
let other: Person
let address: Address
let txHash: string
let count = 0

beforeAll(async () => {
  bench = await createTransferBench()
  other = await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
})
afterAll(() => bench.close())
beforeEach(async () => {
  bench.vault.wallet.transactions = new Map()
  address = await bench.fundedAddress({ usdt: '0' })
  txHash = fakeTxHash(`deposit ${++count}`)
  await arrives('100')
})
afterEach(async () => {
  await bench.expectSoundLedger()
  expect((await inTransaction(bench.test.deps.db, (trx) => verifyDeposits(trx, new Date()))).differences).toEqual([])
})

const arrives = (amount: string) =>
  deposit(bench.test, { address: address.address, asset: usdtContract, amount, txHash })
const base = () => `/vaults/${bench.vault.code}` as const
const available = async () => (await bench.balances(address.id)).available

/** Returns the id of an event that contradicts the first. */
async function quarantined(amount: string): Promise<string> {
  await arrives(amount)
  const { body } = await bench.vault.admin.get(`${base()}/deposits?outcome=quarantined&addressId=${address.id}`)
  return body.items[0]!.id
}

const mined = (amount: string, changes: object = {}) =>
  bench.vault.wallet.mine({
    hash: txHash,
    from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    payments: [{ index: 0, toAddress: address.address, contractAddress: usdtContract, amount }],
    ...changes,
  })

const ask = (id: string, outcome: string, by: Person = bench.vault.admin) =>
  by.post(`${base()}/wallet-events/${id}/resolve`, { outcome, reason: 'Somebody looked' })
const vote = (requestId: string, by: Person = other) => by.post(`${base()}/approval-requests/${requestId}/approve`, {})

async function resolved(id: string, outcome: string) {
  const response = await ask(id, outcome)
  expect([response.status, response.body.details]).toEqual([202, undefined])
  const voted = await vote(response.body.request.id)
  expect([voted.status, voted.body.status, voted.body.details]).toEqual([200, 'applied', undefined])
  return response.body.request
}

it('a resolution needs a reason that is not blank', async () => {
  const path = `${base()}/wallet-events/cmi8h2k1p0a1b2c3d4e5f6g7h/resolve` as const
  for (const reason of ['', '   ', '\n\t']) {
    const { status, body } = await bench.vault.admin.post(path, { outcome: 'dismiss', reason })
    expect([status, body.details[0]!.field]).toEqual([400, 'reason'])
  }
})

describe('credit', () => {
  it.each([
    ['more', '150', '150000000'],
    ['less', '60', '60000000'],
  ])('corrects a deposit by the difference when the chain has %s', async (_name, amount, raw) => {
    const id = await quarantined(amount)
    mined(raw)
    const request = await resolved(id, 'credit')
    expect(request).toMatchObject({ action: 'event_resolve', targetType: 'wallet_event', targetId: id })
    expect(request.payload).toMatchObject({
      evidence: {
        event: { reason: 'amount_differs', amount: raw, txHash },
        deposit: { amount: '100000000' },
        transaction: { status: 'mined' },
      },
    })
    expect(await available()).toBe(amount)
    const { body } = await bench.vault.admin.get(`${base()}/deposits?addressId=${address.id}`)
    expect(body.items).toHaveLength(1)
    expect(body.items[0]).toMatchObject({ amountDecimal: amount, txHash })
    expect(await bench.audited('wallet_event.credited', id)).toBe(1)
    // An event that was credited is not news, and a wrong event is quarantined again.
    await arrives(amount)
    expect(await available()).toBe(amount)
    const left = await bench.vault.admin.get(`${base()}/deposits?outcome=quarantined&addressId=${address.id}`)
    expect(left.body.items).toEqual([])
  })

  it('takes back only available funds', async () => {
    const id = await quarantined('10')
    mined('10000000')
    expect((await bench.order(address.id, '95')).status).toBe(201)
    const response = await ask(id, 'credit')
    const voted = await vote(response.body.request.id)
    expect([voted.status, voted.body.reason]).toEqual([409, 'not_applied'])
    expect(voted.body.details).toContain('less available')
  })

  it('names the finding of the chain as the reason of a refusal', async () => {
    const id = await quarantined('150')
    const refusal = async () => (await ask(id, 'credit')).body
    expect(await refusal()).toMatchObject({ reason: 'not_proven', details: expect.stringContaining('does not know') })
    mined('100000000')
    expect(await refusal()).toMatchObject({ reason: 'not_proven', details: expect.stringContaining('pays 100000000') })
    mined('150000000', { status: 'pending' })
    expect(await refusal()).toMatchObject({ reason: 'not_proven', details: expect.stringContaining('as pending') })
    mined('150000000', { payments: [] })
    expect(await refusal()).toMatchObject({ reason: 'not_proven', details: expect.stringContaining('no such payment') })
  })

  it('asks the chain again before the last vote counts', async () => {
    const id = await quarantined('150')
    mined('150000000')
    const response = await ask(id, 'credit')
    bench.vault.wallet.transactions = new Map()
    const voted = await vote(response.body.request.id)
    expect([voted.status, voted.body.reason]).toEqual([409, 'not_applied'])
    expect(await available()).toBe('100')
  })

  it('happens once, whichever of two requests is voted on', async () => {
    const id = await quarantined('150')
    mined('150000000')
    const responses = [await ask(id, 'credit'), await ask(id, 'credit')]
    const votes = await Promise.all(responses.map(({ body }) => vote(body.request.id)))
    expect(votes.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(await available()).toBe('150')
  })
})

describe('credit of an event whose amount the account could not hold', () => {
  it('names the reason why the event still credits nothing', async () => {
    const largest = `${2n ** 256n - 1n}`
    const most = `${largest.slice(0, -6)}.${largest.slice(-6)}`
    const full = await createAddress(bench.owner, { token: 'USDT' })
    const event = { address: full.address, asset: usdtContract, amount: '1', txHash: fakeTxHash(`overflow ${++count}`) }
    await deposit(bench.test, { ...event, amount: most, txHash: fakeTxHash(`most ${count}`) })
    await deposit(bench.test, event)
    const { body } = await bench.vault.admin.get(`${base()}/deposits?outcome=quarantined&addressId=${full.id}`)
    const payments = [{ index: 0, toAddress: full.address, contractAddress: usdtContract, amount: '1000000' }]
    mined('1000000', { hash: event.txHash, payments })
    const refusal = async () => {
      const voted = await vote((await ask(body.items[0]!.id, 'credit')).body.request.id)
      return [voted.status, voted.body.details]
    }
    const details = (text: string) => [409, expect.stringContaining(text)]
    expect(await refusal()).toEqual(details('still cannot hold the amount'))

    const { admin, tokens } = bench.vault
    const taken = { addressId: full.id, tokenId: tokens.usdt.id, amount: '-1', reason: 'Room for more' }
    expect((await admin.post(`${base()}/adjustments`, taken)).status).toBe(201)
    await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: false })
    expect(await refusal()).toEqual(details('The token is disabled'))
    await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: true })

    const walletWebhookSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    expect((await admin.patch(base(), { walletWebhookSecret })).status).toBe(200)
    expect(await refusal()).toEqual(details('its own webhook secret since'))
    expect((await admin.patch(base(), { walletWebhookSecret: null })).status).toBe(200)

    const { address: toAddress, ...lost } = event
    const tx = { network: 'ethereum', toAddress, ...lost }
    const { body: answer } = await bench.test.anonymous.post('//webhooks/wallet', { kind: 'DEPOSIT_ORPHANED', tx })
    expect(answer).toMatchObject({ outcome: 'ignored', reason: 'not_credited' })
    expect(await refusal()).toEqual(details('The chain lost the deposit'))
  })
})

describe('dismiss', () => {
  it('leaves the books as they are, also when the event arrives again', async () => {
    const id = await quarantined('150')
    await resolved(id, 'dismiss')
    await arrives('150')
    expect(await available()).toBe('100')
    const { body } = await bench.vault.admin.get(`${base()}/deposits?outcome=quarantined&addressId=${address.id}`)
    expect(body.items).toEqual([])
    const again = await ask(id, 'credit')
    expect([again.status, again.body.reason]).toEqual([409, 'wrong_state'])
  })
})

describe('the permission to resolve an event', () => {
  it('does not suffice for one administrator alone', async () => {
    const id = await quarantined('150')
    mined('150000000')
    const response = await ask(id, 'credit')
    const ownVote = await vote(response.body.request.id, bench.vault.admin)
    expect([ownVote.status, ownVote.body.reason]).toEqual([403, 'not_an_approver'])
    expect(await available()).toBe('100')
  })

  it('is hidden from members, who do not learn that the event exists', async () => {
    const id = await quarantined('150')
    expect((await ask(id, 'credit', bench.owner)).status).toBe(404)
    expect((await ask('nothing', 'credit', bench.owner)).status).toBe(404)
    expect((await ask('nothing', 'credit')).status).toBe(404)
  })
})

it('an unmatched event names the missing match, and is marked after a day', async () => {
  const stranger = '0x000000000000000000000000000000000000bEEF'
  await deposit(bench.test, { address: stranger, asset: usdtContract, amount: '1', txHash: fakeTxHash('nobody') })
  const platform = await bench.test.signIn('platform@example.org', { isPlatformAdmin: true })
  const read = async () => {
    const { body } = await platform.get('/wallet-events?outcome=unmatched')
    return body.items.find(({ toAddress }) => toAddress === stranger)
  }
  expect(await read()).toMatchObject({ misses: 'address', isOverdue: false })
  bench.test.clock.advance(25 * 3_600_000)
  const again = await bench.test.signIn('platform@example.org', { isPlatformAdmin: true })
  const { body } = await again.get('/wallet-events?outcome=unmatched')
  expect(body.items[0]).toMatchObject({ misses: 'address', isOverdue: true })
})
