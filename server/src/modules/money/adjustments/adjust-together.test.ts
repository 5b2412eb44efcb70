import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import type { Address, Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import type { Authenticator } from '../../../testing/authenticator.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, deposit, usdtContract } from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { acceptRequest, addPasskey, confirmationOf, confirmed, type Write } from '../../../testing/passkeys.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { lockForPlacing } from '../../rules/holds/active.ts'

/** A policy blocks orders of more than half of a balance, and an administrator tries to evade it by raising balances. */
let bench: TransferBench
let alone: Person
let second: Person
let address: Address
const base = () => `/vaults/${bench.vault.code}` as const
const outcome = ({ status, body }: Answer<{ reason: string }>) => [status, body?.reason]

const bodyOf = (of: Address, amount: string) => {
  return { addressId: of.id, tokenId: bench.vault.tokens.usdt.id, amount, reason: 'Found in a drawer' }
}
const adjust = (by: Person, of: Address, amount: string) => by.post(`${base()}/adjustments`, bodyOf(of, amount))
const approve = (by: Person, id: string) => by.post(`${base()}/approval-requests/${id}/approve`)

/** Makes two attempts to pay 60: by a transfer, and by a payout. */
const attemptsFrom = (from: Address) => {
  const order = { fromAddressId: from.id, toAddress: bench.recipient, amount: '60' }
  return [
    bench.order(from.id, '60'),
    bench.owner.post(`${base()}/payouts`, { rows: [{ ...order, externalId: `row-${from.id}` }] }),
  ]
}
const open = async () => {
  bench = await createTransferBench()
  alone = bench.vault.admin
  second = await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
  await bench.policy({
    code: 'no-more-than-half',
    effect: 'block',
    rules: [
      {
        conditionType: 'require',
        selectors: [{ selectorType: 'percentOfBalance', value: { op: 'gt', value: '50' } }],
      },
    ],
  })
  await bench.policy({ code: 'allow-all', effect: 'allow' })
  address = await bench.fundedAddress({ usdt: '100' })
}
const govern = async () => {
  const settings = { threshold: 1, looseningDelayHours: 0, tighteningDelayHours: 0 }
  expect((await alone.put(`${base()}/governance`, settings)).status).toBe(200)
}

describe('T82 an adjustment in a vault with governance', () => {
  beforeAll(async () => {
    await open()
    await govern()
  })
  afterAll(() => bench.close())

  it('T82 by one administrator does not turn a block into an allow', async () => {
    expect(outcome(await bench.order(address.id, '60'))).toEqual([403, 'blocked_by_policy'])
    const response = await adjust(alone, address, '1000000')
    expect([response.status, response.body.request.action]).toEqual([202, 'balance_adjust'])
    expect((await bench.balances(address.id)).available).toBe('100')
    expect(outcome(await bench.order(address.id, '60'))).toEqual([403, 'blocked_by_policy'])
    expect(outcome(await approve(alone, response.body.request.id))).toEqual([403, 'not_an_approver'])
    expect((await bench.balances(address.id)).available).toBe('100')
  })

  it('is made by the vote of a second administrator, and counts for policies', async () => {
    const response = await adjust(alone, address, '100')
    expect(response.body.request.payload).toEqual({
      ...bodyOf(address, '100'),
      address: address.address,
      asset: 'USDT',
    })
    expect((await approve(second, response.body.request.id)).body.status).toBe('applied')
    expect((await bench.balances(address.id)).available).toBe('200')
    expect((await bench.order(address.id, '60')).status).toBe(201)
    const { body } = await alone.get(`${base()}/adjustments?isAgreed=true`)
    expect(body.items).toMatchObject([{ amountDecimal: '100', isAgreed: true, createdById: alone.userId }])
  })

  it('needs two people: services and members cannot request it', async () => {
    expect((await adjust(bench.owner, address, '1')).status).toBe(403)
    const groupIds = [bench.vault.groups.administrators]
    const token = await alone.post(`${base()}/service-tokens`, { name: 'Robot', groupIds })
    expect((await approve(second, token.body.request.id)).body.status).toBe('applied')
    const robot = bench.test.client({ authorization: `Bearer ${token.body.token}` })
    expect(outcome(await adjust(robot as Person, address, '1'))).toEqual([403, 'person_required'])
  })

  it('is refused while the address is held, at the request and at the last vote', async () => {
    const before = await adjust(alone, address, '7')
    const hold = { subjectType: 'address', subjectId: address.id, reason: 'Stop' }
    expect((await second.post(`${base()}/holds`, hold)).status).toBe(201)
    expect(outcome(await adjust(alone, address, '7'))).toEqual([409, 'held'])
    expect(outcome(await approve(second, before.body.request.id))).toEqual([409, 'not_applied'])
    await bench.sql('delete from holds')
  })
})

describe('T82 adjustments by single people from before the vault had governance', () => {
  beforeAll(open)
  afterAll(() => bench.close())

  it('count until the vault has governance, and again after two people agree on them', async () => {
    const made = await adjust(alone, address, '900')
    expect(made.body).toMatchObject({ amountDecimal: '900', isAgreed: false })
    const less = await bench.fundedAddress({ usdt: '1000' })
    expect((await adjust(alone, less, '-900')).status).toBe(201)
    expect((await bench.order(address.id, '60')).status).toBe(201)
    await govern()
    for (const attempt of attemptsFrom(address)) expect(outcome(await attempt)).toEqual([403, 'blocked_by_policy'])
    const order = { fromAddressId: address.id, toAddress: bench.recipient, amount: '60' }
    const simulated = await bench.owner.post(`${base()}/policies/simulate`, { actionType: 'transfer', payload: order })
    expect(simulated.body.effect).toBe('block')
    expect((await bench.owner.post(`${base()}/transfers/preview`, order)).body.decision.effect).toBe('block')
    // The amount that one person took away makes no order a larger part of the balance either.
    expect((await bench.order(less.id, '60')).status).toBe(201)

    const agreeing = `${base()}/adjustments/${made.body.id}/agree` as const
    expect((await bench.owner.post(agreeing)).status).toBe(403)
    const response = await alone.post(agreeing)
    expect(response.body.request).toMatchObject({
      action: 'balance_adjust',
      targetId: made.body.id,
      targetType: 'adjustment',
      payload: { amount: '900', createdById: alone.userId },
    })
    expect(outcome(await approve(alone, response.body.request.id))).toEqual([403, 'not_an_approver'])
    expect(outcome(await bench.order(address.id, '60'))).toEqual([403, 'blocked_by_policy'])
    expect((await approve(second, response.body.request.id)).body.status).toBe('applied')
    expect((await bench.order(address.id, '60')).status).toBe(201)
    expect(outcome(await alone.post(agreeing))).toEqual([409, 'wrong_state'])
    expect((await alone.post(`${base()}/adjustments/${address.id}/agree`)).status).toBe(404)
    await bench.expectSoundLedger()
  })
})

describe('T82 an adjustment by one person that began before the vault had governance', () => {
  beforeAll(open)
  afterAll(() => bench.close())

  it('T82 does not count for an order that was read before its end', async () => {
    const { db } = bench.test.deps
    let adjusting: ReturnType<typeof adjust> | undefined
    let attempts: ReturnType<typeof attemptsFrom> = []
    // Everybody waits for this lock; the adjustment has that of its account by then.
    await inTransaction(db, async (trx) => {
      await lockForPlacing(trx, bench.vault.id)
      adjusting = adjust(alone, address, '900')
      await untilSessionsWait(db, 1)
      await govern()
      attempts = attemptsFrom(address)
      await untilSessionsWait(db, 3)
    })
    const [ordered, paidOut] = await Promise.all(attempts)
    expect((await adjusting)?.status).toBe(201)
    expect([outcome(ordered!), outcome(paidOut!)]).toEqual([
      [403, 'blocked_by_policy'],
      [403, 'blocked_by_policy'],
    ])
    expect((await bench.balances(address.id)).available).toBe('1000')
  })
})

describe('T82 in a vault without governance one administrator', () => {
  beforeAll(open)
  afterAll(() => bench.close())
  beforeEach(async () => {
    address = await bench.fundedAddress({ usdt: '0' })
  })

  it('cannot credit a quarantined event by an adjustment', async () => {
    const of = { address: address.address, asset: usdtContract, txHash: fakeTxHash(`twice ${address.id}`) }
    await deposit(bench.test, { ...of, amount: '100' })
    await deposit(bench.test, { ...of, amount: '150' })
    expect((await adjust(alone, address, '50')).status).toBe(202)
    expect((await adjust(alone, address, '-50')).status).toBe(201)
    expect((await bench.balances(address.id)).available).toBe('50')
  })

  it('cannot remove an exposure by an adjustment', async () => {
    await deposit(bench.test, { address: address.address, asset: usdtContract, amount: '10' })
    await bench.sql('update ledger_accounts set exposure = 5 where address_id = $1', [address.id])
    const response = await adjust(alone, address, '5')
    expect(response.status).toBe(202)
    const exposed = 'select max(exposure)::int as exposure from ledger_accounts where address_id = $1'
    expect(await bench.sql(exposed, [address.id])).toEqual([{ exposure: 5 }])
  })
})

describe('T82 in a protected vault', () => {
  let key: Authenticator
  let secondKey: Authenticator
  let third: Person

  beforeAll(async () => {
    await open()
    third = await addMember(bench.test, bench.vault, 'third.admin@example.org', ['administrators'])
    key = await addPasskey(alone)
    secondKey = await addPasskey(second)
    const write: Write = { method: 'put', url: `${base()}/protection`, body: { protection: 'votes' } }
    expect((await confirmed(alone, key, write)).status).toBe(200)
  })
  afterAll(() => bench.close())

  it('a mail link adjusts no balance: the request needs a passkey, and the vote a signature', async () => {
    const write: Write = { method: 'post', url: `${base()}/adjustments`, body: bodyOf(address, '5') }
    expect(outcome(await adjust(alone, address, '5'))).toEqual([403, 'passkey_required'])
    const stolen = await confirmationOf(second, secondKey, write)
    expect(outcome(await alone.post(`${base()}/adjustments`, bodyOf(address, '5'), stolen))).toEqual([
      403,
      'passkey_required',
    ])
    const response = await alone.post(
      `${base()}/adjustments`,
      bodyOf(address, '5'),
      await confirmationOf(alone, key, write),
    )
    expect(response.status).toBe(202)
    expect(outcome(await approve(second, response.body.request.id))).toEqual([403, 'signature_required'])
    const voted = await acceptRequest({ admin: second, key: secondKey, url: base() }, response.body.request)
    expect([voted.status, voted.body.status]).toEqual([200, 'applied'])
    expect((await bench.balances(address.id)).available).toBe('105')
  })

  it('an administrator without a passkey cannot request an adjustment', async () => {
    expect(outcome(await adjust(third, address, '5'))).toEqual([403, 'passkey_required'])
  })

  it('a mail link cannot agree to an adjustment', async () => {
    const [made] = await bench.sql(
      `insert into adjustments (vault_id, id, address_id, token_id, amount, reason, created_by_id, created_at)
        values ($1, 'c' || repeat('1', 24), $2, $3, 1, 'Before', $4, now()) returning id`,
      [bench.vault.id, address.id, bench.vault.tokens.usdt.id, alone.userId],
    )
    expect(outcome(await alone.post(`${base()}/adjustments/${made.id}/agree`))).toEqual([403, 'passkey_required'])
  })
})
