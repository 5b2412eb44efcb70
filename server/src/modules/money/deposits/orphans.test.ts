import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { sendNotifications } from '../../../jobs/send-notifications.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, createAddress, usdtContract } from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { createOutbox, type Outbox } from '../../../testing/outbox.ts'
import { createRandom } from '../../../testing/random.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyDeposits } from './verify-deposits.ts'

let outbox: Outbox
let bench: TransferBench
let other: Person
let address: Address
let txHash: string
let count = 0

beforeAll(async () => {
  outbox = await createOutbox()
  bench = await createTransferBench({ DATA_DIR: outbox.dataDir })
  other = await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
})
afterAll(async () => {
  await bench?.close()
  await outbox?.remove()
})
beforeEach(async () => {
  address = await createAddress(bench.owner, { token: 'USDT' })
  txHash = fakeTxHash(`orphan ${++count}`)
})
afterEach(async () => {
  await bench.expectSoundLedger()
  expect((await inTransaction(bench.test.deps.db, (trx) => verifyDeposits(trx, new Date()))).differences).toEqual([])
})

const base = () => `/vaults/${bench.vault.code}` as const
const say = async (kind: string, tx: Record<string, unknown> = {}) =>
  (
    await bench.test.anonymous.post('//webhooks/wallet', {
      kind,
      tx: { network: 'ethereum', asset: usdtContract, amount: '100', toAddress: address.address, txHash, ...tx },
    })
  ).body
const arrives = (occurrence = 0, tx = {}) => say('TOPUP', { occurrence, ...tx })
const goes = (occurrence = 0, tx = {}) => say('DEPOSIT_ORPHANED', { occurrence, ...tx })
/** Another deposit at the same address. */
const arrivesToo = (amount: string) => say('TOPUP', { amount, txHash: fakeTxHash(`another ${++count}`) })

const totals = async (addressId = address.id) =>
  (await bench.owner.get(`${base()}/balances?addressId=${addressId}&token=USDT`)).body
async function standing(): Promise<[available: string, reserved: string, exposure: string]> {
  const [total] = (await totals()).totals
  return total === undefined ? ['0', '0', '0'] : [total.availableDecimal, total.reservedDecimal, total.exposureDecimal]
}
const readDeposit = async (id: string) => (await bench.owner.get(`${base()}/deposits/${id}`)).body
const historyOf = async (id: string) => {
  const { body } = await bench.owner.get(`${base()}/history?txHash=${txHash}`)
  return body.items.find((item) => item.id === id)
}
const settleOrder = async (id: string) => {
  await bench.deliver()
  bench.vault.wallet.confirm(id)
  await bench.deliver()
}
const spend = async (amount: string) => {
  const { status, body } = await bench.order(address.id, amount)
  expect([status, body.details]).toEqual([201, undefined])
  return body.id as string
}

describe('T17 a credited deposit that the chain lost', () => {
  it('T17 is taken back whole while it is available, and credited again each time it comes back', async () => {
    const { depositId } = await arrives()
    await arrivesToo('7')
    for (const occurrence of [0, 1, 2]) {
      expect(await goes(occurrence)).toEqual({ received: true, outcome: 'orphaned', depositId })
      expect(await standing()).toEqual(['7', '0', '0'])
      const deposit = await readDeposit(depositId)
      expect(deposit.orphaned).toMatchObject({ takenDecimal: '100', exposed: '0', orphanedAt: expect.any(String) })
      expect(await historyOf(depositId)).toMatchObject({
        status: 'failed',
        orphanedAt: deposit.orphaned!.orphanedAt,
        failureReason: expect.stringMatching(/^ORPHANED: /),
      })
      expect(await arrives(occurrence + 1)).toEqual({ received: true, outcome: 'credited', depositId })
      expect(await standing()).toEqual(['107', '0', '0'])
      expect(await historyOf(depositId)).toMatchObject({ status: 'confirmed', orphanedAt: null, failureReason: null })
      expect((await readDeposit(depositId)).orphaned).toBeNull()
      await bench.expectSoundLedger()
    }
    expect(await bench.audited('deposit.orphaned', depositId)).toBe(3)
    expect(await bench.audited('deposit.returned', depositId)).toBe(3)
  })

  it('T17 that is reported again changes nothing, and is answered as a duplicate', async () => {
    const { depositId } = await arrives()
    const duplicate = { received: true, outcome: 'duplicate', depositId }
    expect(await arrives()).toEqual(duplicate)
    await goes()
    expect(await goes()).toEqual(duplicate)
    expect(await arrives()).toEqual({ received: true, outcome: 'ignored', reason: 'orphaned' })
    await arrives(1)
    expect(await arrives(1)).toEqual(duplicate)
    expect(await arrives(0)).toEqual(duplicate)
    expect(await goes(0)).toEqual(duplicate)
    expect(await standing()).toEqual(['100', '0', '0'])
    expect(await bench.audited('deposit.orphaned', depositId)).toBe(1)
  })

  it('T17 exposes its address by the spent amount, which the next deposits cover first', async () => {
    const { depositId } = await arrives()
    await settleOrder(await spend('70'))
    expect(await standing()).toEqual(['30', '0', '0'])
    await goes()
    expect(await standing()).toEqual(['0', '0', '70'])
    expect((await readDeposit(depositId)).orphaned).toMatchObject({ takenDecimal: '30', exposedDecimal: '70' })
    const { accounts } = await totals()
    expect(accounts!.find((account) => account.purpose === 'available')).toMatchObject({
      balance: '0',
      exposureDecimal: '70',
    })
    await arrivesToo('50')
    expect(await standing()).toEqual(['0', '0', '20'])
    await arrivesToo('25')
    expect(await standing()).toEqual(['5', '0', '0'])
    expect((await bench.order(address.id, '5')).status).toBe(201)
  })

  it('T17 that comes back after its exposure was covered makes those funds available', async () => {
    await arrives()
    await settleOrder(await spend('70'))
    await goes()
    await arrivesToo('50')
    await arrives(1)
    // 30 are left of it, and 50 arrived meanwhile.
    expect(await standing()).toEqual(['80', '0', '0'])
  })

  it('T17 is covered by an adjustment of two people, and by the release of a transfer', async () => {
    await arrives()
    const id = await spend('60')
    await goes()
    expect(await standing()).toEqual(['0', '60', '60'])
    expect((await bench.act(bench.owner, id, 'cancel')).status).toBe(200)
    expect(await standing()).toEqual(['0', '0', '0'])
    await arrives(1)
    await settleOrder(await spend('100'))
    await goes(1)
    const body = {
      addressId: address.id,
      tokenId: (await totals()).accounts![0]!.token.id,
      amount: '120',
      reason: 'Loss',
    }
    const response = await bench.vault.admin.post(`${base()}/adjustments`, body)
    expect(response.status).toBe(202)
    expect(await standing()).toEqual(['0', '0', '100'])
    const { request } = response.body
    expect((await other.post(`${base()}/approval-requests/${request.id}/approve`)).body.status).toBe('applied')
    expect(await standing()).toEqual(['20', '0', '0'])
  })

  it('is listed by the history as failed, alone and beside other statuses, until it comes back', async () => {
    const listed = async (filter: string) => {
      const { body } = await bench.vault.admin.get(`${base()}/history?addressId=${address.id}&${filter}`)
      return body.items.map(({ id, status }) => [id, status])
    }
    const inHistory = () =>
      Promise.all(['statuses=failed', 'statuses=failed,pending', 'direction=in&statuses=failed'].map(listed))
    const { depositId } = await arrives()
    expect(await inHistory()).toEqual([[], [], []])
    await goes()
    const failed = [[depositId, 'failed']]
    expect(await inHistory()).toEqual([failed, failed, failed])
    expect(await listed('statuses=failed,confirmed')).toEqual(failed)
    expect(await listed('status=failed')).toEqual([])
    await arrives(1)
    expect(await inHistory()).toEqual([[], [], []])
  })

  it('notifies the administrators at once, by a mail that cannot be turned off', async () => {
    const { depositId } = await arrives()
    await settleOrder(await spend('70'))
    await sendNotifications(bench.test.deps)
    await goes()
    await sendNotifications(bench.test.deps)
    const mails = (await outbox.read()).filter(({ text }) => text.includes(depositId))
    expect(mails.map(({ to }) => to).sort()).toEqual([bench.vault.admin.email, other.email].sort())
    expect(mails[0]!.subject).toBe('Deposit lost by the chain in Main vault: 100 USDT')
    expect(mails[0]!.text).toContain('70 USDT had been spent or reserved.')
    expect(mails[0]!.text).toContain(`/v/${bench.vault.code}/deposits/${depositId}`)
  })
})

describe('T17 an exposed address', () => {
  it('T17 sends no token until it is covered, and names the reason', async () => {
    await say('TOPUP', { asset: null, amount: '5', txHash: fakeTxHash(`coin ${++count}`) })
    await arrives()
    await settleOrder(await spend('60'))
    await goes()
    const body = { fromAddressId: address.id, toAddress: bench.recipient, token: 'ETH', amount: '1' }
    const refused = await bench.owner.post(`${base()}/transfers`, body)
    expect([refused.status, refused.body.reason]).toEqual([409, 'address_exposed'])
    expect(refused.body.details).toContain(address.id)
    const preview = await bench.owner.post(`${base()}/transfers/preview`, body)
    expect(preview.body.problems).toContainEqual(expect.objectContaining({ code: 'address_exposed', blocks: true }))
    const rows = [
      { externalId: 'r1', fromAddressId: address.id, toAddress: bench.recipient, token: 'ETH', amount: '1' },
    ]
    const payout = await bench.owner.post(`${base()}/payouts`, { rows })
    expect([payout.status, payout.body.reason]).toEqual([409, 'address_exposed'])
    const shown = await bench.owner.post(`${base()}/payouts/preview`, { rows })
    expect(shown.body.problems).toContainEqual(expect.objectContaining({ code: 'address_exposed', row: 1 }))
    // Another address is not affected.
    const elsewhere = await bench.fundedAddress({ usdt: '5' })
    expect((await bench.order(elsewhere.id, '1')).status).toBe(201)
    await arrivesToo('100')
    expect((await bench.owner.post(`${base()}/transfers`, body)).status).toBe(201)
  })

  it('T17 takes no approvals, and a rejection releases funds that cover it', async () => {
    await arrives(0, { amount: '150' })
    const id = await spend('120')
    expect((await bench.read(id)).status).toBe('awaiting_approval')
    await goes(0, { amount: '150' })
    expect(await standing()).toEqual(['0', '120', '120'])
    const approved = await bench.act(bench.firstApprover, id, 'approve')
    expect([approved.status, approved.body.reason]).toEqual([409, 'address_exposed'])
    expect((await bench.act(bench.firstApprover, id, 'reject')).status).toBe(200)
    expect(await standing()).toEqual(['0', '0', '0'])
  })

  it('T17 lets queued transfers wait, and continue when it is covered', async () => {
    await arrives()
    const id = await spend('80')
    await goes()
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toBeNull()
    await arrivesToo('80')
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).not.toBeNull()
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect(await standing()).toEqual(['0', '0', '0'])
  })

  it('T17 waits for orders in progress, and later orders see it', async () => {
    await arrives()
    await arrivesToo('30')
    await bench.rolledBack(async (query) => {
      // An order that is being decided holds this lock.
      const [{ key }] = await query(
        `select ('x' || substr(encode(sha256(convert_to('holds ' || id, 'UTF8')), 'hex'), 1, 16))::bit(64)::bigint::text as key
         from vaults where code = $1`,
        [bench.vault.code],
      )
      await query('select pg_advisory_xact_lock_shared($1::bigint)', [key])
      const going = goes()
      await untilSessionsWait(bench.test.deps.db)
      expect(await standing()).toEqual(['130', '0', '0'])
      await query('commit')
      await going
    })
    expect(await standing()).toEqual(['30', '0', '0'])
  })
})

describe('T17 the loss of a deposit that is not in the state credited', () => {
  it('T17 is remembered before the deposit arrives: a late event is not credited, but a returned deposit is', async () => {
    expect(await goes()).toEqual({ received: true, outcome: 'ignored', reason: 'not_credited' })
    expect(await goes()).toEqual({ received: true, outcome: 'duplicate' })
    expect(await arrives()).toEqual({ received: true, outcome: 'ignored', reason: 'orphaned' })
    expect(await standing()).toEqual(['0', '0', '0'])
    const { outcome, depositId } = await arrives(1)
    expect(outcome).toBe('credited')
    expect(await standing()).toEqual(['100', '0', '0'])
    expect((await readDeposit(depositId)).orphaned).toBeNull()
    expect((await goes(1)).outcome).toBe('orphaned')
    expect(await standing()).toEqual(['0', '0', '0'])
  })

  it('T16 T17 of a deposit that was not final yet prevents its credit', async () => {
    expect(await arrives(0, { confirmations: 0 })).toMatchObject({ outcome: 'ignored', reason: 'unconfirmed' })
    await goes()
    expect(await arrives(0, { confirmations: 12 })).toMatchObject({ outcome: 'ignored', reason: 'orphaned' })
    expect(await standing()).toEqual(['0', '0', '0'])
  })

  it('T17 before its address exists lets only returned deposits be credited when the address is created', async () => {
    const path = fakeAddress('reorganised before it exists')
    const to = (kind: string, occurrence: number, hash: string) =>
      say(kind, { toAddress: path, occurrence, txHash: hash })
    const [gone, back] = [fakeTxHash(`${txHash} gone`), fakeTxHash(`${txHash} back`)]
    for (const hash of [gone, back]) {
      expect((await to('TOPUP', 0, hash)).outcome).toBe('unmatched')
      expect((await to('DEPOSIT_ORPHANED', 0, hash)).outcome).toBe('unmatched')
    }
    expect((await to('TOPUP', 1, back)).outcome).toBe('unmatched')
    bench.vault.wallet.answerWithAddress = () => path
    const created = await createAddress(bench.owner, { token: 'USDT' })
    bench.vault.wallet.answerWithAddress = null
    const { body } = await bench.owner.get(`${base()}/deposits?addressId=${created.id}`)
    expect(body.items.map((item) => item.txHash)).toEqual([back])
    expect((await totals(created.id)).totals[0]!.availableDecimal).toBe('100')
  })

  it('T17 with another amount is quarantined, and two people accept it if the chain does not contradict', async () => {
    const { depositId } = await arrives()
    expect(await goes(0, { amount: '99' })).toMatchObject({ outcome: 'quarantined', reason: 'orphan_differs' })
    await goes(0, { amount: '99' })
    expect(await standing()).toEqual(['100', '0', '0'])
    const { body } = await bench.vault.admin.get(`${base()}/deposits?outcome=quarantined&addressId=${address.id}`)
    expect(body.items).toHaveLength(1)
    const ask = () =>
      bench.vault.admin.post(`${base()}/wallet-events/${body.items[0]!.id}/resolve`, {
        outcome: 'credit',
        reason: 'The block is gone',
      })
    bench.vault.wallet.transactions = new Map()
    const payments = [{ index: 0, toAddress: address.address, contractAddress: usdtContract, amount: '100000000' }]
    bench.vault.wallet.mine({ hash: txHash, from: fakeAddress('payer'), payments })
    expect((await ask()).body).toMatchObject({ reason: 'not_proven', details: 'The chain has the payment' })
    bench.vault.wallet.transactions.clear()
    const response = await ask()
    expect(response.status).toBe(202)
    const unknown = 'The wallet service does not know the transaction, or does not tell'
    expect(response.body.request.payload).toHaveProperty('evidence.finding', unknown)
    const payloadWith = async (changes: object) => {
      bench.vault.wallet.mine({ hash: txHash, from: fakeAddress('payer'), payments: [], ...changes })
      return (await ask()).body.request.payload
    }
    const pending = 'The wallet service reports the transaction as pending'
    expect(await payloadWith({ status: 'pending' })).toHaveProperty('evidence.finding', pending)
    const missing = 'The transaction has no such payment to the address'
    expect(await payloadWith({})).toHaveProperty('evidence.finding', missing)
    const voted = await other.post(`${base()}/approval-requests/${response.body.request.id}/approve`, {})
    expect([voted.body.status, voted.body.details]).toEqual(['applied', undefined])
    expect(await standing()).toEqual(['0', '0', '0'])
    expect((await readDeposit(depositId)).orphaned).toMatchObject({ takenDecimal: '100' })
  })

  it('T17 and a return with another amount are quarantined, and credited as the chain has it', async () => {
    const { depositId } = await arrives()
    await goes()
    expect(await arrives(1, { amount: '90' })).toMatchObject({ outcome: 'quarantined', reason: 'amount_differs' })
    expect(await standing()).toEqual(['0', '0', '0'])
    bench.vault.wallet.transactions = new Map()
    const payments = [{ index: 0, toAddress: address.address, contractAddress: usdtContract, amount: '90000000' }]
    bench.vault.wallet.mine({ hash: txHash, from: fakeAddress('payer'), payments })
    const { body } = await bench.vault.admin.get(`${base()}/deposits?outcome=quarantined&addressId=${address.id}`)
    const response = await bench.vault.admin.post(`${base()}/wallet-events/${body.items[0]!.id}/resolve`, {
      outcome: 'credit',
      reason: 'It was mined again',
    })
    const voted = await other.post(`${base()}/approval-requests/${response.body.request.id}/approve`, {})
    expect([voted.body.status, voted.body.details]).toEqual(['applied', undefined])
    expect(await standing()).toEqual(['90', '0', '0'])
    expect(await readDeposit(depositId)).toMatchObject({ amountDecimal: '90', orphaned: null })
  })

  it('T17 and a smaller return to an exposed address covers its exposure with what is left', async () => {
    await arrives()
    await settleOrder(await spend('100'))
    await goes()
    expect(await standing()).toEqual(['0', '0', '100'])
    expect(await arrives(1, { amount: '70' })).toMatchObject({ outcome: 'quarantined', reason: 'amount_differs' })
    bench.vault.wallet.transactions = new Map()
    const payments = [{ index: 0, toAddress: address.address, contractAddress: usdtContract, amount: '70000000' }]
    bench.vault.wallet.mine({ hash: txHash, from: fakeAddress('payer'), payments })
    const { body } = await bench.vault.admin.get(`${base()}/deposits?outcome=quarantined&addressId=${address.id}`)
    const response = await bench.vault.admin.post(`${base()}/wallet-events/${body.items[0]!.id}/resolve`, {
      outcome: 'credit',
      reason: 'It was mined again',
    })
    const voted = await other.post(`${base()}/approval-requests/${response.body.request.id}/approve`, {})
    expect([voted.body.status, voted.body.details]).toEqual(['applied', undefined])
    expect(await standing()).toEqual(['0', '0', '30'])
  })

  it('T12 T17 that contradicts the books again is quarantined again, after two people decided', async () => {
    bench.vault.wallet.transactions = new Map()
    const quarantined = async () =>
      (await bench.vault.admin.get(`${base()}/deposits?outcome=quarantined&addressId=${address.id}`)).body.items
    const resolve = async (outcome: string) => {
      const [event, ...others] = await quarantined()
      expect(others).toEqual([])
      const path = `${base()}/wallet-events/${event!.id}/resolve` as const
      const response = await bench.vault.admin.post(path, { outcome, reason: 'Somebody looked' })
      expect([response.status, response.body.details]).toEqual([202, undefined])
      const voted = await other.post(`${base()}/approval-requests/${response.body.request.id}/approve`, {})
      expect([voted.body.status, voted.body.details]).toEqual(['applied', undefined])
      expect(await quarantined()).toEqual([])
    }
    await arrives()
    for (const occurrence of [0, 1]) {
      await goes(occurrence, occurrence === 0 ? {} : { amount: '99' })
      if (occurrence === 1) await resolve('credit')
      expect(await standing()).toEqual(['0', '0', '0'])
      for (let time = 0; time < 2; time += 1) {
        const differs = { outcome: 'quarantined', reason: 'amount_differs' }
        expect(await arrives(occurrence + 1, { amount: '50' })).toMatchObject(differs)
      }
      await resolve('dismiss')
      await arrives(occurrence + 1)
    }
    expect(await goes(2, { amount: '99' })).toMatchObject({ outcome: 'quarantined', reason: 'orphan_differs' })
    await resolve('credit')
    expect(await standing()).toEqual(['0', '0', '0'])
  })

  it('T17 of a disabled token is taken back, too', async () => {
    await arrives()
    const { admin, tokens } = bench.vault
    const enable = (enabled: boolean) => admin.patch(`/tokens/${tokens.usdt.id}`, { enabled })
    expect((await enable(false)).status).toBe(200)
    try {
      expect((await goes()).outcome).toBe('orphaned')
    } finally {
      await enable(true)
    }
    expect(await standing()).toEqual(['0', '0', '0'])
  })
})

describe('T17 the loss of a held deposit', () => {
  const hold = async (subjectId: string) => {
    const body = { subjectType: 'deposit', subjectId, reason: 'On a list' }
    const { status, body: placed } = await bench.vault.admin.post(`${base()}/holds`, body)
    expect(status).toBe(201)
    return placed.id as string
  }
  const release = async (id: string) => {
    const { body } = await bench.vault.admin.post(`${base()}/holds/${id}/release`, { reason: 'Examined' })
    await other.post(`${base()}/approval-requests/${body.request.id}/approve`, {})
  }

  it('T17 keeps the hold, and its release covers the exposure', async () => {
    const { depositId } = await arrives()
    await arrivesToo('30')
    const id = await hold(depositId)
    expect(await standing()).toEqual(['30', '100', '0'])
    await goes()
    expect(await standing()).toEqual(['0', '100', '70'])
    await release(id)
    expect(await standing()).toEqual(['30', '0', '0'])
  })

  it('T17 and its return keep the hold', async () => {
    const { depositId } = await arrives()
    await hold(depositId)
    await goes()
    await arrives(1)
    expect(await standing()).toEqual(['0', '100', '0'])
  })

  it('T17 lets a new hold reserve no other funds, and reserves the deposit when it comes back', async () => {
    const { depositId } = await arrives()
    await arrivesToo('30')
    await goes()
    const id = await hold(depositId)
    expect(await standing()).toEqual(['30', '0', '0'])
    await arrives(1)
    expect(await standing()).toEqual(['30', '100', '0'])
    await release(id)
    expect(await standing()).toEqual(['130', '0', '0'])
  })
})

describe('T17 the books and the chain', () => {
  it('T17 agree when the exposures of addresses are subtracted', async () => {
    const fresh = await createTransferBench()
    try {
      const ownAddress = await createAddress(fresh.owner, { token: 'USDT' })
      const tell = (kind: string, amount: string, hash: string) =>
        fresh.test.anonymous.post('//webhooks/wallet', {
          kind,
          tx: {
            network: 'ethereum',
            asset: usdtContract,
            amount,
            toAddress: ownAddress.address,
            txHash: fakeTxHash(hash),
          },
        })
      await tell('TOPUP', '100', 'a')
      await fresh.order(ownAddress.id, '60')
      await tell('DEPOSIT_ORPHANED', '100', 'a')
      fresh.vault.wallet.balances.set(`${ownAddress.address} ${usdtContract}`.toLowerCase(), '0')
      const { body } = await fresh.vault.admin.get(`/vaults/${fresh.vault.code}/ledger/reconciliation`)
      expect(body.differences).toEqual([])
      expect(body.tokens).toEqual([
        expect.objectContaining({ cached: '60000000', exposure: '60000000', onChain: '0', difference: '0' }),
      ])
    } finally {
      await fresh.close()
    }
  })

  it.each([1, 2, 3, 4])(
    'T17 seed %s: the newest occurrence counts, in any order of events and repetitions',
    async (seed) => {
      const random = createRandom(seed)
      const events = [0, 1, 2].flatMap((occurrence) => [
        ['TOPUP', occurrence],
        ['DEPOSIT_ORPHANED', occurrence],
      ]) as [string, number][]
      const last = random.below(events.length)
      const known = events.slice(0, last + 1)
      const sent = Array.from({ length: 12 }, () => known[random.below(known.length)]!)
      for (const [kind, occurrence] of [...sent, known[last]!]) {
        await say(kind, { occurrence })
        await bench.expectSoundLedger()
      }
      expect(await standing()).toEqual([known[last]![0] === 'TOPUP' ? '100' : '0', '0', '0'])
    },
  )
})
