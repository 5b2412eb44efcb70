import { generateKeyPairSync, sign } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { reportOnFile } from '../../../cli/verify-evidence.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { fingerprintOf, isSignedBy, type SignedVote, type Vote } from '../../../lib/signed-vote.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { Authenticator } from '../../../testing/authenticator.ts'
import { authorityAnswer } from '../../../testing/fake-authority.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { createPolicy } from '../../../testing/fixtures.ts'
import { hashInBrowser } from '../../../testing/hash-in-browser.ts'
import { addAcceptedPasskey, addPasskey, confirming } from '../../../testing/passkeys.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { newVote } from '../../../testing/votes.ts'
import { hashPayload, type Payload } from '../orders/payload.ts'
import { verifyTransfers } from './compare-order.ts'

let bench: TransferBench
let address: Address
let adminKey: Authenticator
const keys = new Map<Person, Authenticator>()
const base = () => `/vaults/${bench.vault.code}` as const

beforeAll(async () => {
  bench = await createTransferBench()
  for (const person of [bench.owner, bench.firstApprover, bench.secondApprover])
    keys.set(person, await addPasskey(person))
  adminKey = await addPasskey(bench.vault.admin)
  bench.vault.admin = confirming(bench.vault.admin, adminKey)
  expect((await bench.vault.admin.put(`${base()}/protection`, { protection: 'votes' })).body.protection).toBe('votes')
  const known = [bench.owner, bench.firstApprover, bench.secondApprover]
  const named = known.map((person) => ({ person: person.userId, key: keys.get(person)! }))
  bench.vault.wallet.authority = authorityAnswer(bench.vault.id, named, 7)
})
afterAll(() => bench.close())
beforeEach(async () => {
  bench.vault.wallet.refuseAuthorization = null
  address = await bench.fundedAddress()
})
afterEach(async () => {
  await bench.expectSoundLedger()
  expect((await verifyTransfers(bench.test.deps.db)).differences).toEqual([])
})

const orderOf = (amount: string, more: object = {}) => ({
  fromAddressId: address.id,
  toAddress: bench.recipient,
  amount,
  ...more,
})

async function previewed(amount: string, more: object = {}) {
  const { status, body } = await bench.owner.post(`${base()}/transfers/preview`, orderOf(amount, more))
  expect(status).toBe(200)
  return body as { order: { transferId: string; expiresAt: string; rulesVersion: number }; vote: Vote }
}

type Preview = Awaited<ReturnType<typeof previewed>>
const signedOf = ({ order, vote }: Preview, key = keys.get(bench.owner)!, changes: Partial<Vote> = {}) => ({
  transferId: order.transferId,
  expiresAt: order.expiresAt,
  rulesVersion: order.rulesVersion,
  vote: key.vote({ ...vote, ...changes }),
})
const send = (amount: string, signed: object | undefined, more: object = {}) =>
  bench.owner.post(`${base()}/transfers`, { ...orderOf(amount, more), ...(signed === undefined ? {} : { signed }) })

async function ordered(amount: string): Promise<string> {
  const { status, body } = await send(amount, signedOf(await previewed(amount)))
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

const voteOf = (person: Person, hash: string, changes: Partial<Vote> = {}): Vote =>
  newVote({ subject: 'transfer', hash, decision: 'approve', person: person.userId, ...changes })

async function approve(person: Person, id: string, changes: Partial<Vote> = {}) {
  const { payloadHash } = await bench.read(id, person)
  const signature = keys.get(person)!.vote(voteOf(person, payloadHash, changes))
  return bench.act(person, id, 'approve', { payloadHash, signature })
}

const lastHandOver = () =>
  bench.vault.wallet.requests.findLast(({ method, path }) => method === 'POST' && path === '/transfers')!

describe('an order in a protected vault', () => {
  it('is signed over exactly the content of the preview, which a browser hashes itself', async () => {
    const preview = await previewed('40')
    expect(await hashInBrowser(preview.order)).toBe(preview.vote.hash)
    const { status, body } = await send('40', signedOf(preview))
    expect([status, body.id, body.status]).toEqual([201, preview.order.transferId, 'pending'])
    expect((await bench.read(body.id)).payload).toEqual(preview.order)
  })

  it('is refused without a signature, and with an invalid one', async () => {
    const preview = await previewed('40')
    const stranger = new Authenticator()
    const key = keys.get(bench.owner)!
    const { vote, ...rest } = signedOf(preview)
    const refused = [
      undefined,
      signedOf(preview, stranger),
      signedOf(preview, keys.get(bench.firstApprover)),
      signedOf(preview, key, { person: bench.firstApprover.userId }),
      signedOf(preview, key, { decision: 'approve' }),
      signedOf(preview, key, { subject: 'approval_request' }),
      { ...rest, vote: { ...vote, signature: signedOf(await previewed('40')).vote.signature } },
      { ...rest, vote: key.vote(preview.vote, { isVerified: false }) },
      { ...rest, vote: key.vote(preview.vote, { origin: 'https://elsewhere.example.org' }) },
      { ...rest, vote: key.vote(preview.vote, { crossOrigin: true }) },
      { ...rest, vote: key.vote(preview.vote, { rpId: 'elsewhere.example.org' }) },
    ]
    for (const signed of refused) {
      const { status, body } = await send('40', signed)
      expect([status, body.reason], JSON.stringify(signed)).toEqual([403, 'signature_required'])
    }
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })

  it('is refused with a signature over another amount, recipient or fee', async () => {
    const signed = signedOf(await previewed('40'))
    for (const [amount, more] of [
      ['41', {}],
      ['40', { toAddress: fakeAddress('the attacker') }],
      ['40', { maxFee: '1' }],
      ['40', { feeLevel: 'high' }],
    ] as const) {
      const { status, body } = await send(amount, signed, more)
      expect([status, body.reason]).toEqual([409, 'payload_changed'])
    }
    await bench.policy({ code: `later-${Date.now()}`, effect: 'block', enabled: false })
    const stale = await send('40', signed)
    expect([stale.status, stale.body.reason]).toEqual([409, 'payload_changed'])
  })

  it('has a unique id, also when a program previews many in one millisecond', async () => {
    const clock = vi.spyOn(bench.test.deps, 'clock').mockReturnValue(bench.test.deps.clock())
    const previews = await Promise.all(Array.from({ length: 5 }, () => previewed('1')))
    clock.mockRestore()
    expect(new Set(previews.map(({ order }) => order.transferId)).size).toBe(5)
    const answers = await Promise.all(previews.map((preview) => send('1', signedOf(preview))))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
  })

  it('is placed once, with an id and an end that a preview gave to its initiator', async () => {
    const preview = await previewed('40')
    const signed = signedOf(preview)
    expect((await send('40', signed)).status).toBe(201)
    const again = await send('40', signed)
    expect([again.status, again.body.reason]).toEqual([409, 'already_exists'])
    const later = new Date(Date.parse(signed.expiresAt) + 60_000).toISOString()
    for (const changes of [{ transferId: `${signed.transferId.slice(0, -4)}0000` }, { expiresAt: later }]) {
      const { status, body } = await send('40', { ...signed, ...changes })
      expect([status, body.reason]).toEqual([400, 'validation_failed'])
    }
  })

  it('ends at most 30 days after it was signed, however long it waits for votes', async () => {
    const preview = await previewed('40')
    const atEnd = (after: number) => new Date(Date.parse(preview.order.expiresAt) - 30 * 86_400_000 + after)
    const early = await send('40', signedOf(preview, undefined, { signedAt: atEnd(-1).toISOString() }))
    expect([early.status, early.body.reason]).toEqual([403, 'signature_required'])
    const never = await send('40', { ...signedOf(preview), expiresAt: '9999-12-31T23:59:59.999Z' })
    expect([never.status, never.body.reason]).toEqual([400, 'validation_failed'])
    expect((await send('40', signedOf(preview, undefined, { signedAt: atEnd(0).toISOString() }))).status).toBe(201)
    const { config } = bench.test.deps
    const { approvalTtlHours } = config
    try {
      config.approvalTtlHours = 8_760
      const long = await previewed('40')
      const longest = bench.test.clock.now().getTime() + 30 * 86_400_000
      expect(Date.parse(long.order.expiresAt)).toBeLessThanOrEqual(longest)
      config.approvalTtlHours = approvalTtlHours
      const tooLong = await send('40', signedOf(long))
      expect([tooLong.status, tooLong.body.reason]).toEqual([400, 'validation_failed'])
    } finally {
      config.approvalTtlHours = approvalTtlHours
    }
  })

  it('expires with its signature', async () => {
    const preview = await previewed('40')
    const id = await ordered('200')
    expect((await bench.read(id)).expiresAt).toBe((await bench.read(id)).payload.expiresAt)
    bench.test.clock.advance(Date.parse(preview.order.expiresAt) - bench.test.clock.now().getTime() + 1_000)
    const late = await send('40', signedOf(preview))
    expect([late.status, late.body.reason]).toEqual([409, 'approval_expired'])
  })
})

describe('votes in a protected vault', () => {
  it('are signed for the order, each once; a veto needs no signature', async () => {
    const id = await ordered('200')
    const { payloadHash } = await bench.read(id, bench.firstApprover)
    const unsigned = await bench.act(bench.firstApprover, id, 'approve', { payloadHash })
    expect([unsigned.status, unsigned.body.reason]).toEqual([403, 'signature_required'])
    const others = [
      [{ hash: 'ab'.repeat(32) }, 409, 'payload_changed'],
      [{ decision: 'reject' }, 403, 'signature_required'],
      [{ person: bench.secondApprover.userId }, 403, 'signature_required'],
    ] as const
    for (const [changes, status, reason] of others) {
      const answer = await approve(bench.firstApprover, id, changes)
      expect([answer.status, answer.body.reason]).toEqual([status, reason])
    }
    expect((await bench.read(id, bench.vault.admin)).approvalRequirements[0]!.approvalsCount).toBe(0)
    expect((await approve(bench.firstApprover, id)).status).toBe(200)
    expect((await approve(bench.firstApprover, id)).body.reason).toBe('already_voted')
    expect((await bench.act(bench.secondApprover, id, 'reject', { payloadHash })).body.status).toBe('rejected')
  })

  it('reach the wallet service, which can verify them against the public keys of the people', async () => {
    const id = await ordered('200')
    await approve(bench.firstApprover, id)
    expect((await approve(bench.secondApprover, id)).body.status).toBe('pending')
    await bench.deliver()
    const { authorization, ...request } = lastHandOver().body
    const { payload } = await bench.read(id)
    expect(request).toMatchObject({ id, amount: payload.amount, toAddress: payload.toAddress })
    expect(authorization).toMatchObject({ order: payload, authorityVersion: 7 })
    const voters = [bench.owner, bench.firstApprover, bench.secondApprover]
    expect(authorization.votes.map(({ vote }: SignedVote) => [vote.person, vote.decision])).toEqual(
      expect.arrayContaining([
        [bench.owner.userId, 'initiate'],
        [bench.firstApprover.userId, 'approve'],
        [bench.secondApprover.userId, 'approve'],
      ]),
    )
    for (const person of voters) {
      const [passkey] = (await person.get('/users/me/passkeys')).body.items
      const publicKey = Buffer.from(passkey!.publicKey, 'base64url')
      expect(passkey!.fingerprint).toBe(fingerprintOf(publicKey))
      const signed = authorization.votes.find(({ vote }: SignedVote) => vote.person === person.userId)
      expect(signed.keyId).toBe(passkey!.credentialId)
      const key = { kind: 'passkey', publicKey, rpId: 'localhost', origins: ['http://localhost:8420'] } as const
      expect(isSignedBy(signed, key)).toBe(true)
      expect(isSignedBy({ ...signed, vote: { ...signed.vote, hash: '0'.repeat(64) } }, key)).toBe(false)
    }
  })

  it('are in the evidence, and the role of the service cannot change them', async () => {
    const id = await ordered('200')
    await approve(bench.firstApprover, id)
    const { body } = await bench.vault.admin.get(`${base()}/transfers/${id}/evidence`)
    expect(body.signedVotes).toHaveLength(2)
    for (const { signed, publicKey, rpId, origin } of body.signedVotes) {
      expect(signed.vote.hash).toBe(body.payloadHash)
      const origins = [origin!]
      const key = { kind: 'passkey', publicKey: Buffer.from(publicKey, 'base64url'), rpId: rpId!, origins } as const
      expect(isSignedBy(signed, key)).toBe(true)
    }
    const { db } = bench.test.deps
    for (const change of [db.deleteFrom('signed_votes'), db.updateTable('signed_votes').set({ decision: 'approve' })])
      await expect(change.execute()).rejects.toThrow(/permission denied/)
  })

  it('are signed one by one in the inbox', async () => {
    const ids = [await ordered('200'), await ordered('300')]
    const votes = await Promise.all(
      ids.map(async (id, i) => {
        const { payloadHash } = await bench.read(id, bench.firstApprover)
        const signature = keys.get(bench.firstApprover)!.vote(voteOf(bench.firstApprover, payloadHash))
        const vote = { vaultCode: bench.vault.code, kind: 'transfer', id, decision: 'approve', payloadHash }
        return i === 0 ? { ...vote, signature } : vote
      }),
    )
    const { body } = await bench.firstApprover.post('/inbox/votes', { votes })
    expect(body.items.map((item) => item.error?.reason ?? item.status)).toEqual([
      'awaiting_approval',
      'signature_required',
    ])
  })
})

describe('votes on approval requests in a protected vault', () => {
  it('are signed for the executed action, and verified without the service', async () => {
    await createPolicy(bench.vault, {
      code: 'new-counterparties',
      name: 'New counterparties',
      actionType: 'counterparty_create',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId: bench.approversId }],
    })
    const response = await bench.owner.post(`${base()}/counterparties`, { name: 'Northwind', kind: 'company' })
    expect(response.status, JSON.stringify(response.body)).toBe(202)
    const { id, payloadHash } = response.body.request
    const path = `${base()}/approval-requests/${id}` as const
    const unsigned = await bench.firstApprover.post(`${path}/approve`, { payloadHash })
    expect([unsigned.status, unsigned.body.reason]).toEqual([403, 'signature_required'])
    const key = keys.get(bench.firstApprover)!
    const ofTransfer = key.vote(voteOf(bench.firstApprover, payloadHash))
    expect((await bench.firstApprover.post(`${path}/approve`, { signature: ofTransfer })).body.reason).toBe(
      'signature_required',
    )
    const signature = key.vote(voteOf(bench.firstApprover, payloadHash, { subject: 'approval_request' }))
    const { body } = await bench.firstApprover.post(`${path}/approve`, { signature })
    expect(body.status).toBe('applied')
    const report = await reportOnFile(JSON.stringify((await bench.vault.admin.get(path)).body), [])
    expect(report).toEqual({ lines: ['ok   payloadHash', expect.stringMatching(/^ok {3}approve by /)], isSound: true })
  })
})

describe('the verification of evidence', () => {
  it('finds every change, and keys that the reader does not trust', async () => {
    const id = await ordered('200')
    await approve(bench.firstApprover, id)
    const { body } = await bench.vault.admin.get(`${base()}/transfers/${id}/evidence`)
    const soundness = async (evidence: object, trusted: string[] = []) =>
      (await reportOnFile(JSON.stringify({ ...body, ...evidence }), trusted))?.isSound
    const all = body.signedVotes.map(({ publicKey }) => fingerprintOf(Buffer.from(publicKey, 'base64url')))
    expect(await Promise.all([soundness({}), soundness({}, all), soundness({}, all.slice(1))])).toEqual([
      true,
      true,
      false,
    ])
    const [first, second] = body.signedVotes
    const payload = { ...body.payload, toAddress: fakeAddress('the attacker') }
    const forged = { ...second, signed: { ...second!.signed, vote: { ...second!.signed.vote, decision: 'reject' } } }
    for (const evidence of [
      { payload },
      { payload, payloadHash: hashPayload(payload as Payload).toString('hex') },
      { signedVotes: [first] },
      { signedVotes: [] },
      { signedVotes: [first, forged] },
      { signedVotes: [first, { ...second, publicKey: first!.publicKey }] },
    ])
      expect(await soundness(evidence), JSON.stringify(evidence)).toBe(false)
  })
})

describe('the hand-over of a signed order', () => {
  it('leaves out the votes by keys that the wallet service does not know', async () => {
    const by = { admin: bench.vault.admin, key: adminKey, url: base() }
    keys.set(bench.thirdApprover, await addAcceptedPasskey(bench.thirdApprover, by))
    const id = await ordered('200')
    for (const person of [bench.firstApprover, bench.thirdApprover]) await approve(person, id)
    await bench.deliver()
    const persons = lastHandOver().body.authorization.votes.map(({ vote }: SignedVote) => vote.person)
    expect(persons.sort()).toEqual([bench.owner.userId, bench.firstApprover.userId].sort())
  })

  it('that the wallet service finally refuses fails, and releases the funds', async () => {
    const id = await ordered('40')
    bench.vault.wallet.refuseAuthorization = 'VOTES_MISSING: 2 of treasurers'
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: 'failed', failureReason: 'VOTES_MISSING: not authorized' })
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })

  it('waits, and can be cancelled, while the wallet service names no authority', async () => {
    const id = await ordered('40')
    const { authority } = bench.vault.wallet
    bench.vault.wallet.authority = null
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(0)
    expect((await bench.act(bench.owner, id, 'cancel')).body.status).toBe('cancelled')
    bench.vault.wallet.authority = authority
  })

  it('does not happen after its end', async () => {
    const id = await ordered('40')
    const { expiresAt } = (await bench.read(id)).payload
    bench.test.clock.advance(Date.parse(expiresAt!) - bench.test.clock.now().getTime())
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(0)
    expect((await bench.read(id)).failureReason).toMatch(/signed order has expired/)
  })
})

describe('a service in a protected vault', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64url')

  it('signs with a key that a person registered: neither the service nor the holder of its token can register one', async () => {
    const { admin, groups } = bench.vault
    const made = await admin.post(`${base()}/service-tokens`, { name: 'Bot', groupIds: [groups.administrators] })
    const service = bench.test.client({ authorization: `Bearer ${made.body.token}` }) as Person
    const path = `${base()}/service-tokens/${made.body.id}/keys` as const
    const byService = await service.post(path, { name: 'Own', publicKey: spki })
    expect([byService.status, byService.body.reason]).toEqual([403, 'person_required'])
    expect(
      (await admin.post(path, { name: 'EC', publicKey: Buffer.from('nonsense').toString('base64url') })).status,
    ).toBe(400)
    const added = await admin.post(path, { name: 'Key', publicKey: spki })
    expect([added.status, added.body.fingerprint]).toEqual([201, fingerprintOf(Buffer.from(spki, 'base64url'))])
    expect((await admin.post(path, { name: 'Key', publicKey: spki })).body.reason).toBe('already_exists')
    expect((await admin.get(path)).body.items).toEqual([added.body])

    address = await bench.fundedAddress({}, service)
    const place = async () => {
      const preview = await service.post(`${base()}/transfers/preview`, orderOf('40'))
      const { order, vote } = preview.body as Preview
      const signature = sign(null, Buffer.from(canonicalJson(vote)), privateKey).toString('base64url')
      const { transferId, expiresAt, rulesVersion } = order
      const signed = { transferId, expiresAt, rulesVersion, vote: { vote, keyId: added.body.id, signature } }
      return service.post(`${base()}/transfers`, { ...orderOf('40'), signed })
    }
    expect((await place()).body.status).toBe('pending')
    expect((await admin.delete(`${path}/${added.body.id}`)).status).toBe(204)
    expect((await place()).body.reason).toBe('signature_required')
    expect((await admin.get(path)).body.items[0]!.revokedAt).not.toBeNull()
  })
})

describe('a protected vault', () => {
  it('refuses a higher limit of the fee than the signed one', async () => {
    const signed = await previewed('40', { maxFee: '1000' })
    const { body } = await send('40', signedOf(signed), { maxFee: '1000' })
    await bench.deliver()
    bench.vault.wallet.broadcast(body.id)
    await bench.deliver()
    const { txHash } = await bench.read(body.id)
    const ask = (action: string, more?: object) =>
      bench.owner.post(`${base()}/transfers/${body.id}/${action}`, more && { txHash, ...more })
    const raised = await ask('speed-up', { maxFee: '2000' })
    expect([raised.status, raised.body.reason]).toEqual([409, 'above_signed_fee'])
    bench.vault.wallet.replacementCost = '2000'
    const preview = await ask('replacement-preview')
    expect(preview.body.speedUp).toEqual({ maxFee: null, refusal: raised.body.message, needsApproval: false })
    expect(preview.body.cancelOnChain).toMatchObject({ maxFee: { amount: '2000' }, needsApproval: true })
    // A cancellation pays nothing, so it is decided on as in other vaults and then handed over.
    const response = await ask('cancel-on-chain', { maxFee: '2000' })
    expect(response.status).toBe(200)
    await bench.deliver()
    const request = bench.vault.wallet.requests.find(({ path }) => path.endsWith(`/${body.id}/cancel-on-chain`))
    expect(request?.body).toEqual({ txHash, maxFee: '2000' })
  })

  it('refuses unsigned orders and waiting requests from before its protection', async () => {
    const off = () => bench.vault.admin.put(`${base()}/protection`, { protection: 'off' })
    const on = () => bench.vault.admin.put(`${base()}/protection`, { protection: 'votes' })
    const signedBefore = await ordered('200')
    expect((await off()).status).toBe(200)
    const early = (await send('40', undefined)).body.id
    const waiting = (await send('200', undefined)).body.id
    expect((await send('40', signedOf({ ...(await previewedAnyhow()) }))).status).toBe(400)
    // A signed order is voted on with signatures, even after protection was switched.
    expect((await bench.act(bench.firstApprover, signedBefore, 'approve')).body.reason).toBe('signature_required')
    expect((await on()).status).toBe(200)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(early)).toBe(0)
    expect(await bench.read(early)).toMatchObject({ status: 'failed' })
    const { status, body } = await approve(bench.firstApprover, waiting)
    expect([status, body.reason]).toEqual([409, 'not_in_protected_vault'])
    expect((await bench.act(bench.firstApprover, waiting, 'reject')).body.status).toBe('rejected')
  })

  it('keeps a held order from before its protection with its funds', async () => {
    expect((await bench.vault.admin.put(`${base()}/protection`, { protection: 'off' })).status).toBe(200)
    const early = (await send('40', undefined)).body.id
    expect((await bench.vault.admin.put(`${base()}/protection`, { protection: 'votes' })).status).toBe(200)
    const hold = { subjectType: 'address', subjectId: address.id, reason: 'Its key is known' }
    expect((await bench.vault.admin.post(`${base()}/holds`, hold)).status).toBe(201)
    await bench.deliver()
    expect(await bench.read(early)).toMatchObject({ status: 'pending' })
    await bench.sql(`update holds set released_at = now(), released_by_id = $1, release_reason = 'a test'`, [
      bench.vault.admin.userId,
    ])
    await bench.deliver()
    expect(await bench.read(early)).toMatchObject({ status: 'failed' })
  })
})

/** Returns the preview of a protected vault with a vote to sign, although a preview of an unprotected vault has none. */
async function previewedAnyhow(): Promise<Preview> {
  const { body } = await bench.owner.post(`${base()}/transfers/preview`, orderOf('40'))
  expect([body.order, body.vote]).toEqual([undefined, undefined])
  const vote = voteOf(bench.owner, 'ab'.repeat(32), { decision: 'initiate' })
  const now = bench.test.clock.now().toISOString()
  return { order: { transferId: address.id, expiresAt: now, rulesVersion: 1 }, vote }
}
