import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reportOnFile } from '../../../cli/verify-evidence.ts'
import type { Vote } from '../../../lib/signed-vote.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { Authenticator } from '../../../testing/authenticator.ts'
import { authorityAnswer } from '../../../testing/fake-authority.ts'
import { createPolicy } from '../../../testing/fixtures.ts'
import { addPasskey, confirming } from '../../../testing/passkeys.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { newVote } from '../../../testing/votes.ts'

const page = 'https://sign.example.org'
/** The origin at which `createTransferBench` has people use the service. */
const ownOrigin = 'http://localhost:8420'

let bench: TransferBench
let address: Address
/** Passkeys of the service's pages. */
const here = new Map<Person, Authenticator>()
/** Passkeys that only the authority knows. */
const there = { owner: new Authenticator(page), first: new Authenticator(page) }
/** A passkey that is in the authority for the pages of the service and is not registered there. */
const removed = new Authenticator(ownOrigin)
const base = () => `/vaults/${bench.vault.code}` as const

beforeAll(async () => {
  bench = await createTransferBench()
  for (const person of [bench.owner, bench.secondApprover]) here.set(person, await addPasskey(person))
  bench.vault.admin = confirming(bench.vault.admin, await addPasskey(bench.vault.admin))
  expect((await bench.vault.admin.put(`${base()}/protection`, { protection: 'votes' })).body.protection).toBe('votes')
})
afterAll(() => bench.close())
beforeEach(async () => {
  const { owner, firstApprover, secondApprover } = bench
  bench.vault.wallet.down = false
  bench.vault.wallet.authority = authorityAnswer(bench.vault.id, [
    { person: owner.userId, key: there.owner },
    { person: firstApprover.userId, key: there.first },
    { person: firstApprover.userId, key: removed },
    { person: secondApprover.userId, key: here.get(secondApprover)! },
  ])
  address = await bench.fundedAddress()
})

const order = (amount: string) => ({ fromAddressId: address.id, toAddress: bench.recipient, amount })

async function send(amount: string, key: Authenticator, claims = {}) {
  const preview = (await bench.owner.post(`${base()}/transfers/preview`, order(amount))).body
  const { transferId, expiresAt, rulesVersion } = preview.order
  const signed = { transferId, expiresAt, rulesVersion, vote: key.vote(preview.vote as Vote, claims) }
  return bench.owner.post(`${base()}/transfers`, { ...order(amount), signed })
}

async function approve(person: Person, id: string, key: Authenticator, claims = {}) {
  const { payloadHash } = await bench.read(id, person)
  const vote = newVote({ subject: 'transfer', hash: payloadHash, decision: 'approve', person: person.userId })
  return bench.act(person, id, 'approve', { signature: key.vote(vote, claims) })
}

const pagesOf = async (person: Person) => (await person.get(`${base()}/authority/signing-pages`)).body

describe('T78 keys of the page of the wallet service', () => {
  it('order and approve, and are in the evidence with their RP ID and origin', async () => {
    const { body: ordered } = await send('200', there.owner)
    expect(ordered.status, JSON.stringify(ordered)).toBe('awaiting_approval')
    expect((await approve(bench.firstApprover, ordered.id, there.first)).status).toBe(200)
    expect((await approve(bench.secondApprover, ordered.id, here.get(bench.secondApprover)!)).body.status).toBe(
      'pending',
    )
    const { body } = await bench.vault.admin.get(`${base()}/transfers/${ordered.id}/evidence`)
    const places = body.signedVotes.map(({ rpId, origin }) => [rpId, origin])
    expect(places.sort()).toEqual([
      ['localhost', ownOrigin],
      ['sign.example.org', page],
      ['sign.example.org', page],
    ])
    expect((await reportOnFile(JSON.stringify(body), []))?.isSound).toBe(true)
    const [first, ...others] = body.signedVotes
    const moved = { ...body, signedVotes: [{ ...first!, rpId: 'evil.example.org' }, ...others] }
    const report = await reportOnFile(JSON.stringify(moved), [])
    expect(report?.lines).toContainEqual(expect.stringMatching(/^FAIL .*; the signature is not valid$/))
    await bench.deliver()
    const { authorization } = bench.vault.wallet.requests.findLast(({ path }) => path === '/transfers')!.body
    expect(authorization.votes).toHaveLength(3)
  })

  it('vote on several orders at once', async () => {
    const ids = [(await send('200', there.owner)).body.id, (await send('200', there.owner)).body.id]
    const votes = await Promise.all(
      ids.map(async (id) => {
        const { payloadHash } = await bench.read(id, bench.firstApprover)
        const person = bench.firstApprover.userId
        const vote = newVote({ subject: 'transfer', hash: payloadHash, decision: 'approve', person })
        const key = id === ids[0] ? there.first : there.owner
        const signature = key.vote(vote)
        return { vaultCode: bench.vault.code, kind: 'transfer', id, decision: 'approve', payloadHash, signature }
      }),
    )
    const { status, body } = await bench.firstApprover.post('/inbox/votes', { votes })
    const outcomes = body.items.map((item) => item.error?.reason ?? item.status)
    expect([status, ...outcomes]).toEqual([200, 'awaiting_approval', 'signature_required'])
  })

  it('count only with their own RP ID and origin', async () => {
    const { body } = await send('200', here.get(bench.owner)!)
    for (const claims of [
      { origin: ownOrigin },
      { rpId: 'localhost' },
      { origin: ownOrigin, rpId: 'localhost' },
      { origin: 'https://evil.sign.example.org' },
      { crossOrigin: true },
      { isVerified: false },
    ]) {
      const refused = await approve(bench.firstApprover, body.id, there.first, claims)
      expect([refused.status, refused.body.reason], JSON.stringify(claims)).toEqual([403, 'signature_required'])
    }
    const ofPage = await approve(bench.secondApprover, body.id, here.get(bench.secondApprover)!, {
      origin: page,
      rpId: 'sign.example.org',
    })
    expect([ofPage.status, ofPage.body.reason]).toEqual([403, 'signature_required'])
    expect((await send('40', there.owner, { origin: ownOrigin })).body.reason).toBe('signature_required')
  })

  it('are those that the authority has of the person, without those of the own pages of the service', async () => {
    const { body } = await send('200', here.get(bench.owner)!)
    for (const key of [there.owner, removed, new Authenticator(page)]) {
      const refused = await approve(bench.firstApprover, body.id, key)
      expect([refused.status, refused.body.reason]).toEqual([403, 'signature_required'])
    }
    bench.vault.wallet.authority = { ...bench.vault.wallet.authority!, hash: '0'.repeat(64) }
    expect((await approve(bench.firstApprover, body.id, there.first)).body.reason).toBe('wallet_service_failed')
    bench.vault.wallet.authority = null
    expect((await approve(bench.firstApprover, body.id, there.first)).body.reason).toBe('signature_required')
  })

  it('are not needed for others while the wallet service is silent', async () => {
    const { body } = await send('200', here.get(bench.owner)!)
    bench.vault.wallet.down = 'error'
    const response = await approve(bench.firstApprover, body.id, there.first)
    expect([response.status, response.body.reason]).toEqual([502, 'wallet_service_failed'])
    expect((await approve(bench.secondApprover, body.id, here.get(bench.secondApprover)!)).status).toBe(200)
  })

  it('order, approve and reject payouts', async () => {
    const toAddress = bench.recipient
    const payouts = `${base()}/payouts` as const
    const ordered = async (externalId: string, key: Authenticator) => {
      const rows = [{ externalId, fromAddressId: address.id, toAddress, amount: '200' }]
      const { payoutId, orders, vote } = (await bench.owner.post(`${payouts}/preview`, { rows })).body.toSign
      const { expiresAt = '', rulesVersion = 0 } = orders[0]!
      const signed = { payoutId, expiresAt, rulesVersion, vote: key.vote(vote) }
      return bench.owner.post(payouts, { rows, signed })
    }
    const voted = async (id: string, decision: 'approve' | 'reject', key: Authenticator) => {
      const { payloadHash: hash } = (await bench.firstApprover.get(`${payouts}/${id}`)).body
      const vote = newVote({ subject: 'payout', hash, decision, person: bench.firstApprover.userId })
      const ballot = { payloadHash: hash, signature: key.vote(vote) }
      return bench.firstApprover.post(`${payouts}/${id}/${decision}`, ballot)
    }
    const { status, body } = await ordered('elsewhere-1', there.owner)
    expect([status, body.status], JSON.stringify(body)).toEqual([201, 'awaiting_approval'])
    for (const key of [there.owner, removed, new Authenticator(page)])
      expect((await voted(body.id, 'approve', key)).body.reason).toBe('signature_required')
    bench.vault.wallet.down = 'error'
    expect((await voted(body.id, 'approve', there.first)).body.reason).toBe('wallet_service_failed')
    bench.vault.wallet.down = false
    expect((await voted(body.id, 'approve', there.first)).status).toBe(200)
    const { body: second } = await ordered('elsewhere-2', there.owner)
    expect((await voted(second.id, 'reject', there.first)).body.status).toBe('rejected')
    expect((await ordered('elsewhere-3', there.first)).body.reason).toBe('signature_required')
  })

  it('T58 cancel orders and payouts, so that the wallet service is notified', async () => {
    const rows = [{ externalId: 'ended', fromAddressId: address.id, toAddress: bench.recipient, amount: '200' }]
    const { payoutId, orders, vote } = (await bench.owner.post(`${base()}/payouts/preview`, { rows })).body.toSign
    const { expiresAt = '', rulesVersion = 0 } = orders[0]!
    const signed = { payoutId, expiresAt, rulesVersion, vote: there.owner.vote(vote) }
    expect((await bench.owner.post(`${base()}/payouts`, { rows, signed })).status).toBe(201)
    const { body: ordered } = await send('200', there.owner)
    const subjects = [
      { subject: 'payout', path: `${base()}/payouts/${payoutId}`, hash: vote.hash },
      { subject: 'transfer', path: `${base()}/transfers/${ordered.id}`, hash: ordered.payloadHash },
    ] as const
    for (const { subject, path, hash } of subjects) {
      const end = newVote({ subject, hash, decision: 'cancel', person: bench.owner.userId })
      const forged = await bench.owner.post(`${path}/cancel`, { signature: new Authenticator(page).vote(end) })
      expect([forged.status, forged.body.reason]).toEqual([403, 'signature_required'])
      const { status, body } = await bench.owner.post(`${path}/cancel`, { signature: there.owner.vote(end) })
      expect([status, body.status], JSON.stringify(body)).toEqual([200, 'cancelled'])
    }
    const due = await bench.test.deps.db.selectFrom('stops_due').select(['subject_id', 'decision']).execute()
    for (const id of [payoutId, ordered.id]) expect(due).toContainEqual({ subject_id: id, decision: 'cancel' })
  })

  it('cannot vote on rules, which needs a passkey that its person registered here', async () => {
    await createPolicy(bench.vault, {
      code: 'new-counterparties',
      name: 'New counterparties',
      actionType: 'counterparty_create',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId: bench.approversId }],
    })
    const { id, payloadHash } = (
      await bench.owner.post(`${base()}/counterparties`, { name: 'Northwind', kind: 'company' })
    ).body.request
    const person = bench.firstApprover.userId
    const vote = newVote({ subject: 'approval_request', hash: payloadHash, decision: 'approve', person })
    const signature = there.first.vote(vote)
    const refused = await bench.firstApprover.post(`${base()}/approval-requests/${id}/approve`, { signature })
    expect([refused.status, refused.body.reason]).toEqual([403, 'signature_required'])
  })
})

describe('GET /vaults/{code}/authority/signing-pages', () => {
  it('names the pages of the own keys of the caller, and no page of this service', async () => {
    expect(await pagesOf(bench.owner)).toEqual({ origins: [page] })
    expect(await pagesOf(bench.firstApprover)).toEqual({ origins: [page] })
    expect(await pagesOf(bench.secondApprover)).toEqual({ origins: [] })
    bench.vault.wallet.authority = authorityAnswer(bench.vault.id, [
      { person: bench.owner.userId, key: new Authenticator('javascript://sign.example.org/%0aalert(1)') },
    ])
    expect(await pagesOf(bench.owner)).toEqual({ origins: [] })
    bench.vault.wallet.authority = null
    expect(await pagesOf(bench.owner)).toEqual({ origins: [] })
    bench.vault.wallet.down = 'error'
    expect(await pagesOf(bench.owner)).toMatchObject({ reason: 'wallet_service_failed' })
  })
})
