import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import type { Address, Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { addMember, allowAll, createVaultFixture, ensureGroup } from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { lockForPlacing, shareHoldLock } from '../../rules/holds/active.ts'
import { insertHold } from '../../rules/holds/hold-rows.ts'
import { expirePayouts } from '../payouts/payout-votes.ts'
import { expireTransfers } from '../transfers/transfer-votes.ts'

let bench: TransferBench
/** A second administrator. */
let second: Person
let address: Address
let base: `/vaults/${string}`

beforeAll(async () => {
  bench = await createTransferBench()
  second = await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
  base = `/vaults/${bench.vault.code}`
  // A user who is held in their only vault is signed out; these users have another vault.
  const other = await createVaultFixture(bench.test, { code: 'other-vault', isLocked: false })
  for (const { email } of [bench.owner, bench.firstApprover, bench.secondApprover, second])
    await addMember(bench.test, other, email)
  await allowAll(bench.vault, 'counterparty_create')
  await allowAll(bench.vault, 'counterparty_update')
})
afterAll(() => bench.close())
beforeEach(async () => {
  address = await bench.fundedAddress()
})
afterEach(async () => {
  await bench.sql(
    `update holds set released_at = now(), released_by_id = $3, release_reason = $1
      where released_at is null and subject_type <> $2`,
    ['the end of a test', 'deposit', second.userId],
  )
  await bench.expectSoundLedger()
})

const place = (subjectType: string, subjectId: string, by: Person = bench.vault.admin) =>
  by.post(`${base}/holds`, { subjectType, subjectId, reason: 'Something is wrong' })

async function held(subjectType: string, subjectId: string, by?: Person) {
  const { status, body } = await place(subjectType, subjectId, by)
  expect([status, body.message]).toEqual([201, undefined])
  return body
}

const askRelease = (id: string, by: Person = bench.vault.admin) =>
  by.post(`${base}/holds/${id}/release`, { reason: 'It was a false alarm' })
const vote = (by: Person, id: string, verb = 'approve') => by.post(`${base}/approval-requests/${id}/${verb}`)

async function release(id: string): Promise<void> {
  const response = await askRelease(id)
  expect(response.status, JSON.stringify(response.body)).toBe(202)
  const voted = await vote(second, response.body.request.id)
  expect([voted.status, voted.body.status]).toEqual([200, 'applied'])
}

const outcome = ({ status, body }: Answer<{ reason: string; status?: string }>) => [status, body.reason ?? body.status]

async function waiting(amount = '200'): Promise<string> {
  const { status, body } = await bench.order(address.id, amount)
  expect([status, body.status]).toEqual([201, 'awaiting_approval'])
  return body.id
}

async function counterparty(at = bench.recipient) {
  const { status, body } = await bench.owner.post(`${base}/counterparties`, {
    name: 'Supplier',
    kind: 'company',
    addresses: [{ network: 'ethereum', address: at }],
  })
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

describe('placing a hold', () => {
  it('returns the subject, the placer and the reason, and records and announces the hold', async () => {
    const id = await waiting()
    const hold = await held('address', address.id)
    expect(hold).toMatchObject({
      subjectType: 'address',
      subjectId: address.id,
      reason: 'Something is wrong',
      isActive: true,
      reserved: null,
      handedOverCount: 0,
      placedById: bench.vault.admin.userId,
      releasedAt: null,
    })
    expect(await bench.audited('hold.placed', hold.id)).toBe(1)
    const mailed = await bench.sql(
      `select n.user_id from notifications n join audit_records r on r.id = n.subject_id where r.target_id = $1`,
      [hold.id],
    )
    const users = mailed.map(({ user_id }) => user_id).sort()
    expect(users).toEqual([bench.vault.admin.userId, second.userId, bench.owner.userId].sort())
    expect((await bench.read(id)).status).toBe('awaiting_approval')
  })

  it('is for administrators, and for members whom a policy allows it without votes', async () => {
    expect(outcome(await place('address', address.id, bench.owner))).toEqual([403, 'no_policy_allows'])
    const guardsId = await ensureGroup(bench.vault, 'guards')
    const guard = await addMember(bench.test, bench.vault, 'guard@example.org', ['guards'])
    const policy = await bench.policy({ code: 'guards', groupId: guardsId, actionType: 'hold_place', effect: 'allow' })
    const shared = await bench.owner.post(`${base}/addresses/${address.id}/grants`, {
      subjectType: 'user',
      subjectId: guard.userId,
      canTransfer: false,
    })
    expect([201, 404]).toContain(shared.status)
    expect(outcome(await place('vault', bench.vault.id, guard))[0]).toBe(201)
    const other = await bench.fundedAddress({ usdt: '0' })
    expect(outcome(await place('address', other.id, guard))).toEqual([404, 'not_found'])
    await bench.vault.admin.patch(`/policies/${policy.id}`, { effect: 'requireApproval', approvalThreshold: 1 })
    expect(outcome(await place('user', bench.owner.userId, guard))).toEqual([403, 'no_policy_allows'])
  })

  it('happens once, and only to existing subjects', async () => {
    await held('address', address.id)
    expect(outcome(await place('address', address.id))).toEqual([409, 'already_exists'])
    for (const type of ['address', 'vault', 'deposit', 'counterparty', 'transfer', 'user'])
      expect(outcome(await place(type, 'cmi8h2k1p0a1b2c3d4e5f6g7h'))).toEqual([404, 'not_found'])
    const { body } = await bench.order((await bench.fundedAddress()).id, '10')
    await bench.act(bench.owner, body.id, 'cancel')
    expect(outcome(await place('transfer', body.id))).toEqual([409, 'wrong_state'])
  })

  it('T72 waits for decisions in progress, and later decisions respect it', async () => {
    const { db } = bench.test.deps
    let placed: ReturnType<typeof place> | undefined
    let ordered: ReturnType<typeof bench.order> | undefined
    await inTransaction(db, async (trx) => {
      await shareHoldLock(trx, bench.vault.id)
      placed = place('address', address.id)
      await untilSessionsWait(db, 1)
      ordered = bench.order(address.id, '10')
      await untilSessionsWait(db, 2)
    })
    expect((await placed!).status).toBe(201)
    expect(outcome(await ordered!)).toEqual([409, 'held'])
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })
})

describe('T72 a decision during the placing of a hold waits for it, and respects it', () => {
  /** Places a hold on the vault by SQL, and begins `work` between its lock and its commit. */
  async function meanwhile<Result>(work: () => Promise<Result>): Promise<Result> {
    const { db } = bench.test.deps
    let answer: Promise<Result> | undefined
    await inTransaction(db, async (trx) => {
      await lockForPlacing(trx, bench.vault.id)
      answer = work()
      answer.catch(() => undefined)
      await untilSessionsWait(db, 1)
      const now = bench.test.clock.now()
      await insertHold(trx, {
        vault_id: bench.vault.id,
        id: newId(now),
        subject_type: 'vault',
        subject_id: bench.vault.id,
        reason: 'Something is wrong',
        created_at: now,
      })
    })
    return answer!
  }
  const payoutBody = (amount: string) => ({
    rows: [{ externalId: `race-${address.id}`, fromAddressId: address.id, toAddress: bench.recipient, amount }],
  })

  it('an order', async () => {
    expect(outcome(await meanwhile(() => bench.order(address.id, '10')))).toEqual([409, 'held'])
  })

  it('a payout', async () => {
    const payout = await meanwhile(() => bench.owner.post(`${base}/payouts`, payoutBody('10')))
    expect(outcome(payout)).toEqual([409, 'held'])
  })

  it('a vote on a transfer', async () => {
    const id = await waiting()
    expect(outcome(await meanwhile(() => bench.act(bench.firstApprover, id, 'approve')))).toEqual([409, 'held'])
  })

  it('a vote on a payout', async () => {
    const { body } = await bench.owner.post(`${base}/payouts`, payoutBody('200'))
    const vote = () => bench.firstApprover.post(`${base}/payouts/${body.id}/approve`)
    expect(outcome(await meanwhile(vote))).toEqual([409, 'held'])
  })

  it('a hand-over', async () => {
    const { body } = await bench.order(address.id, '10')
    await meanwhile(() => bench.deliver())
    expect(bench.vault.wallet.broadcastCount(body.id)).toBe(0)
    expect((await bench.sql('select phase from transfers where id = $1', [body.id]))[0].phase).toBe('queued')
  })
})

describe('T72 a hold stops', () => {
  it('an address: orders from it and to it, the votes on its transfers, and their hand-over', async () => {
    const voted = await waiting()
    const queued = (await bench.order(address.id, '10')).body.id
    const other = await bench.fundedAddress()
    const hold = await held('address', address.id)
    const refused = await bench.order(address.id, '10')
    expect(outcome(refused)).toEqual([409, 'held'])
    expect(refused.body.details).toContain(hold.id)
    expect(outcome(await bench.order(other.id, '10', { toAddress: address.address }))).toEqual([409, 'held'])
    for (const verb of ['approve', 'reject'] as const)
      expect(outcome(await bench.act(bench.firstApprover, voted, verb))).toEqual([409, 'held'])
    await bench.deliver()
    expect((await bench.read(queued)).status).toBe('pending')
    expect(bench.vault.wallet.broadcastCount(queued)).toBe(0)
    const preview = await bench.owner.post(`${base}/transfers/preview`, {
      fromAddressId: address.id,
      toAddress: bench.recipient,
      amount: '10',
    })
    expect(preview.body.problems).toContainEqual(expect.objectContaining({ code: 'held', blocks: true }))

    await release(hold.id)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(queued)).toBe(1)
    expect((await bench.act(bench.firstApprover, voted, 'approve')).status).toBe(200)
    expect((await bench.order(address.id, '10')).status).toBe(201)
  })

  it('the vault: everything except the release', async () => {
    const voted = await waiting()
    const queued = (await bench.order(address.id, '10')).body.id
    const hold = await held('vault', bench.vault.id)
    expect(outcome(await bench.order(address.id, '10'))).toEqual([409, 'held'])
    const rows = [{ externalId: `h-${voted}`, fromAddressId: address.id, toAddress: bench.recipient, amount: '1' }]
    const payout = await bench.owner.post(`${base}/payouts`, { rows })
    expect(outcome(payout)).toEqual([409, 'held'])
    expect(payout.body.details[0]!.field).toBe('rows.0.fromAddressId')
    const preview = await bench.owner.post(`${base}/payouts/preview`, { rows })
    expect(preview.body.problems).toContainEqual(expect.objectContaining({ code: 'held', row: 1 }))
    const simulated = await bench.owner.post(`${base}/policies/simulate`, {
      actionType: 'transfer',
      payload: { fromAddressId: address.id, toAddress: bench.recipient, amount: '1' },
    })
    expect(outcome(simulated)).toEqual([409, 'held'])
    expect(outcome(await bench.act(bench.firstApprover, voted, 'approve'))).toEqual([409, 'held'])
    const adjusted = await bench.vault.admin.post(`${base}/adjustments`, {
      addressId: address.id,
      tokenId: bench.vault.tokens.usdt.id,
      amount: '5',
      reason: 'More',
    })
    expect(outcome(adjusted)).toEqual([409, 'held'])
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(queued)).toBe(0)
    await release(hold.id)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(queued)).toBe(1)
  })

  it('a waiting payout, by a hold of one of its rows', async () => {
    const rows = ['150', '160'].map((amount, i) => ({
      externalId: `row-${address.id}-${i}`,
      fromAddressId: address.id,
      toAddress: fakeAddress(`row ${i}`),
      amount,
    }))
    const { body: payout } = await bench.owner.post(`${base}/payouts`, { rows })
    expect(payout.status).toBe('awaiting_approval')
    const { body: page } = await bench.owner.get(`${base}/payouts/${payout.id}/rows`)
    const hold = await held('transfer', page.items[1]!.transferId)
    const act = (by: Person, verb: string) => by.post(`${base}/payouts/${payout.id}/${verb}`)
    const refused = await act(bench.firstApprover, 'approve')
    expect(outcome(refused)).toEqual([409, 'held'])
    expect(refused.body.message).toBe('A hold on the transfer stops row 2, and with it the payout')
    expect(outcome(await act(bench.firstApprover, 'reject'))).toEqual([409, 'held'])
    expect(outcome(await act(bench.owner, 'cancel'))).toEqual([409, 'held'])
    await bench.sql(`update payouts set expires_at = now() - interval '1 day' where id = $1`, [payout.id])
    await expirePayouts(bench.test.deps)
    expect((await bench.owner.get(`${base}/payouts/${payout.id}`)).body.status).toBe('awaiting_approval')
    await release(hold.id)
    await expirePayouts(bench.test.deps)
    expect((await bench.owner.get(`${base}/payouts/${payout.id}`)).body.status).toBe('expired')
  })

  it('T28 the rows of a payout, which are read with their holds and recipients in one statement', async () => {
    const known = fakeAddress('a row that is held')
    const supplier = await counterparty(known)
    const rows = [fakeAddress('a row that is free'), known].map((toAddress, i) => {
      return { externalId: `marked-${address.id}-${i}`, fromAddressId: address.id, toAddress, amount: '150' }
    })
    const { body: payout } = await bench.owner.post(`${base}/payouts`, { rows })
    await held('counterparty', supplier.id)
    const read = async (by: Person) => (await by.get(`${base}/payouts/${payout.id}/rows`)).body.items
    const [free, stopped] = await read(bench.firstApprover)
    expect(free).toMatchObject({ holds: [], recipient: { counterparty: null, isFirstPayment: true } })
    expect(stopped).toMatchObject({
      holds: [{ subjectType: 'counterparty', subjectName: 'Supplier', reason: 'Something is wrong' }],
      recipient: { counterparty: { name: 'Supplier' } },
    })
    // The initiator may read the hold, and learns nothing of what the vault knows of an address.
    expect((await read(bench.owner))[1]).toMatchObject({ holds: [{ subjectName: 'Supplier' }], recipient: null })
  })

  it('a transfer: it keeps its funds, and is not voted on, cancelled, expired or sent', async () => {
    const voted = await waiting()
    const hold = await held('transfer', voted)
    expect(outcome(await bench.act(bench.firstApprover, voted, 'approve'))).toEqual([409, 'held'])
    expect(outcome(await bench.act(bench.owner, voted, 'cancel'))).toEqual([409, 'held'])
    await bench.endVoting([voted])
    await expireTransfers(bench.test.deps)
    expect(await bench.balances(address.id)).toEqual({ available: '800', reserved: '200' })
    await release(hold.id)
    await expireTransfers(bench.test.deps)
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })

  it('a transfer that may have been sent: the hold says so, and the transfer is not sent again', async () => {
    const { body } = await bench.order(address.id, '10')
    await bench.sql(`update transfers set phase = 'submitting' where id = $1`, [body.id])
    const hold = await held('transfer', body.id)
    expect(hold.handedOverCount).toBe(1)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(body.id)).toBe(0)
    expect((await bench.read(body.id)).status).toBe('pending')
    expect(await bench.balances(address.id)).toEqual({ available: '990', reserved: '10' })
    await release(hold.id)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(body.id)).toBe(1)
  })

  it('a counterparty: it is not paid, and its addresses cannot be moved away from the hold', async () => {
    const at = fakeAddress(`supplier of ${address.id}`)
    const supplier = await counterparty(at)
    const queued = (await bench.order(address.id, '10', { toAddress: at })).body.id
    const hold = await held('counterparty', supplier.id)
    expect(outcome(await bench.order(address.id, '10', { toAddress: at }))).toEqual([409, 'held'])
    const removed = await bench.owner.delete(
      `${base}/counterparties/${supplier.id}/addresses/${supplier.addresses[0]!.id}`,
    )
    expect(outcome(removed)).toEqual([409, 'held'])
    expect(outcome(await bench.owner.patch(`${base}/counterparties/${supplier.id}`, { name: 'Other' }))).toEqual([
      409,
      'held',
    ])
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(queued)).toBe(0)
    expect((await bench.order(address.id, '10')).status).toBe(201)
    await release(hold.id)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(queued)).toBe(1)
  })

  it('a deposit: its available part is reserved until the release', async () => {
    const [{ id }] = await bench.sql('select id from deposits where address_id = $1', [address.id])
    expect((await bench.order(address.id, '100')).status).toBe(201)
    const hold = await held('deposit', id)
    expect(hold.reserved).toEqual({ amount: '900000000', amountDecimal: '900', asset: 'USDT' })
    expect(await bench.balances(address.id)).toEqual({ available: '0', reserved: '1000' })
    expect(outcome(await bench.order(address.id, '1'))).toEqual([409, 'insufficient_funds'])
    const adjusted = await bench.vault.admin.post(`${base}/adjustments`, {
      addressId: address.id,
      tokenId: bench.vault.tokens.usdt.id,
      amount: '900',
      reason: 'More',
    })
    expect(outcome(adjusted)).toEqual([409, 'held'])
    await bench.expectSoundLedger()
    await release(hold.id)
    expect(await bench.balances(address.id)).toEqual({ available: '900', reserved: '100' })
    const again = await held('deposit', id)
    expect(await bench.balances(address.id)).toEqual({ available: '0', reserved: '1000' })
    await release(again.id)
  })
})

describe('T72 a person who is held', () => {
  it('reads who placed the hold, and nothing else; their orders wait', async () => {
    const queued = (await bench.order(address.id, '10')).body.id
    const voted = await waiting()
    const hold = await held('user', bench.owner.userId)
    const other = await held('address', address.id)
    for (const path of ['', '/transfers', `/addresses/${address.id}`, '/policies', '/members', '/changes'])
      if (path !== '/changes') expect(outcome(await bench.owner.get(`${base}${path}`))).toEqual([403, 'caller_held'])
    expect(outcome(await bench.order(address.id, '10'))).toEqual([403, 'caller_held'])
    expect(outcome(await place('vault', bench.vault.id, bench.owner))).toEqual([403, 'caller_held'])
    const { body } = await bench.owner.get(`${base}/holds`)
    expect(body.items.map(({ id }) => id)).toEqual([hold.id])
    expect(body.items[0]!.placedBy!.userId).toBe(bench.vault.admin.userId)
    expect((await bench.owner.get(`${base}/holds/${other.id}`)).status).toBe(404)
    expect(outcome(await askRelease(hold.id, bench.owner))).toEqual([403, 'caller_held'])
    expect(outcome(await bench.act(bench.firstApprover, voted, 'approve'))).toEqual([409, 'held'])
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(queued)).toBe(0)
    expect((await bench.owner.get('/inbox?state=mine')).body.items ?? []).toEqual([])
  })

  it('does not vote, and their earlier vote no longer counts', async () => {
    const id = await waiting()
    expect((await bench.act(bench.firstApprover, id, 'approve')).status).toBe(200)
    const hold = await held('user', bench.firstApprover.userId)
    expect(outcome(await bench.act(bench.firstApprover, id, 'approve'))).toEqual([403, 'caller_held'])
    const votes = [
      { vaultCode: bench.vault.code, kind: 'transfer', id, decision: 'approve', payloadHash: 'a'.repeat(64) },
    ]
    const bulk = await bench.firstApprover.post('/inbox/votes', { votes })
    expect(bulk.body.items[0]!.error!.reason).toBe('caller_held')
    const second = await bench.act(bench.secondApprover, id, 'approve')
    expect(second.body.status).toBe('awaiting_approval')
    expect(second.body.approvalRequirements[0]!.approvalsCount).toBe(1)
    await release(hold.id)
    expect((await bench.read(id)).approvalRequirements[0]!.approvalsCount).toBe(2)
  })

  it('is not among the voters of new requests', async () => {
    await held('user', bench.firstApprover.userId)
    await held('user', bench.secondApprover.userId)
    expect(outcome(await bench.order(address.id, '200'))).toEqual([409, 'quorum_unreachable'])
  })

  it('changes no policy and no group, and invites nobody', async () => {
    const policy = await bench.policy({ code: `mine-${address.id}`, effect: 'block', enabled: false })
    await held('user', second.userId)
    expect(outcome(await second.patch(`/policies/${policy.id}`, { name: 'Mine' }))).toEqual([403, 'caller_held'])
    expect(outcome(await second.get(`/policy-groups/${bench.approversId}`))).toEqual([403, 'caller_held'])
    const invited = await second.post('/invitations', {
      email: 'accomplice@example.org',
      groupIds: [bench.vault.groups.administrators],
    })
    expect([403, 404]).toContain(invited.status)
  })

  it('is signed out when every vault of theirs holds them, and cannot get a link', async () => {
    const { userId } = bench.thirdApprover
    const hold = await held('user', userId)
    expect(outcome(await bench.thirdApprover.get('/auth/session'))).toEqual([401, 'invalid_token'])
    expect(await bench.sql('select 1 from sessions where user_id = $1', [userId])).toEqual([])
    const response = await bench.test.anonymous.post('/auth/magic-link', { email: bench.thirdApprover.email })
    const stranger = await bench.test.anonymous.post('/auth/magic-link', { email: 'nobody@example.org' })
    expect([response.status, response.body]).toEqual([stranger.status, stranger.body])
    await bench.test.sendMails()
    expect(await bench.sql('select 1 from magic_links where email = $1', [bench.thirdApprover.email])).toEqual([])
    await release(hold.id)
    await bench.test.anonymous.post('/auth/magic-link', { email: bench.thirdApprover.email })
    await bench.test.sendMails()
    expect(await bench.sql('select 1 from magic_links where email = $1', [bench.thirdApprover.email])).toHaveLength(1)
  })

  it('is not the last administrator who can act', async () => {
    await bench.sql(
      `insert into holds (vault_id, id, subject_type, subject_id, reason, placed_by_id, created_at)
        values ($1, 'c' || repeat('7', 24), 'user', $2, 'Stop', $3, now())`,
      [bench.vault.id, second.userId, bench.vault.admin.userId],
    )
    expect(outcome(await place('user', bench.vault.admin.userId))).toEqual([409, 'last_administrator'])
  })
})

describe('T72 the release of a hold', () => {
  it('waits for the vote of another administrator, who sees the subject and the reason', async () => {
    const hold = await held('address', address.id)
    const response = await askRelease(hold.id)
    expect(response.status).toBe(202)
    const { request } = response.body
    expect(request).toMatchObject({
      action: 'hold_release',
      targetType: 'hold',
      targetId: hold.id,
      approvalThreshold: 1,
    })
    expect(request.payload).toMatchObject({
      reason: 'It was a false alarm',
      hold: { subjectType: 'address', subjectId: address.id, reason: 'Something is wrong' },
    })
    expect(outcome(await vote(bench.vault.admin, request.id))).toEqual([403, 'not_an_approver'])
    expect((await bench.vault.admin.get(`${base}/holds/${hold.id}`)).body.isActive).toBe(true)
    expect((await vote(second, request.id)).body.status).toBe('applied')
    expect((await bench.vault.admin.get(`${base}/holds/${hold.id}`)).body).toMatchObject({
      isActive: false,
      releasedById: bench.vault.admin.userId,
      releaseReason: 'It was a false alarm',
    })
    expect(await bench.audited('hold.released', hold.id)).toBe(1)
    expect(outcome(await askRelease(hold.id))).toEqual([409, 'wrong_state'])
  })

  it('is not waived by a policy, and not possible for services and other members', async () => {
    const policy = await bench.policy({ code: `free-${address.id}`, actionType: 'hold_release', effect: 'allow' })
    const hold = await held('address', address.id)
    expect((await askRelease(hold.id)).status).toBe(202)
    expect((await askRelease(hold.id, bench.owner)).status).toBe(202)
    await bench.vault.admin.delete(`/policies/${policy.id}`)
    expect(outcome(await askRelease(hold.id, bench.owner))).toEqual([403, 'no_policy_allows'])
    expect(outcome(await askRelease(hold.id, bench.firstApprover))).toEqual([404, 'not_found'])
    const token = await bench.vault.admin.post(`${base}/service-tokens`, {
      name: 'Robot',
      groupIds: [bench.vault.groups.administrators],
    })
    const robot = bench.test.client({ authorization: `Bearer ${token.body.token}` }) as Person
    expect(outcome(await askRelease(hold.id, robot))).toEqual([403, 'person_required'])
  })

  it('happens once, however many people request it', async () => {
    const hold = await held('address', address.id)
    const [first, next] = [await askRelease(hold.id), await askRelease(hold.id)]
    expect((await vote(second, first.body.request.id)).body.status).toBe('applied')
    expect(outcome(await vote(second, next.body.request.id))).toEqual([409, 'not_applied'])
  })
})

describe('reading holds', () => {
  it('is for members who see the subject', async () => {
    const hold = await held('address', address.id)
    const ids = async (by: Person, query = '') =>
      (await by.get(`${base}/holds?active=true${query}`)).body.items.map(({ id }) => id)
    expect(await ids(bench.owner)).toEqual([hold.id])
    expect(await ids(bench.firstApprover)).toEqual([])
    expect(await ids(second, '&subjectType=address')).toEqual([hold.id])
    expect(await ids(second, '&subjectType=user')).toEqual([])
    expect(await ids(second, `&subjectId=${address.id}`)).toEqual([hold.id])
    expect((await bench.firstApprover.get(`${base}/holds/${hold.id}`)).status).toBe(404)
    const ofVault = await held('vault', bench.vault.id)
    expect(await ids(bench.firstApprover)).toEqual([ofVault.id])
    const person = await held('user', bench.secondApprover.userId)
    expect((await bench.firstApprover.get(`${base}/holds/${person.id}`)).status).toBe(404)
  })
})

it('T72 the role of the service cannot rewrite a hold', async () => {
  const hold = await held('address', address.id)
  const { db } = bench.test.deps
  const refused = (work: Promise<unknown>) => expect(work).rejects.toMatchObject({ code: '42501' })
  await refused(db.updateTable('holds').set({ subject_id: 'another' }).where('id', '=', hold.id).execute())
  await refused(db.updateTable('holds').set({ reason: 'another' }).where('id', '=', hold.id).execute())
  await refused(db.deleteFrom('holds').where('id', '=', hold.id).execute())
})
