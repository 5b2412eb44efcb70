import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { WalletServiceError } from '../../registry/wallet-service/call.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'
import { verifyTransfers } from '../transfers/compare-order.ts'

let bench: TransferBench
let stranger: Person
let address: Address
/** The limit of the orders. A replacement costs more. */
const ordered = '1000000000000000'
const needed = '3000000000000000'

beforeAll(async () => {
  bench = await createTransferBench()
  stranger = await addMember(bench.test, bench.vault, 'stranger@example.org')
  await bench.policy({
    code: 'dear',
    effect: 'requireApproval',
    approvalThreshold: 1,
    rules: [
      { conditionType: 'require', selectors: [{ selectorType: 'maxFee', value: { op: 'gt', value: '0.001' } }] },
      { conditionType: 'exclude', selectors: [{ selectorType: 'maxFee', value: { op: 'gt', value: '0.1' } }] },
    ],
    approvers: [{ kind: 'group', groupId: bench.approversId }],
  })
  await bench.policy({
    code: 'too-dear',
    effect: 'block',
    blockReason: 'Nobody pays a tenth of a coin',
    rules: [{ conditionType: 'require', selectors: [{ selectorType: 'maxFee', value: { op: 'gt', value: '0.1' } }] }],
  })
})
afterAll(() => bench.close())
beforeEach(async () => {
  Object.assign(bench.vault.wallet, { refuseReplacement: null, replacementCost: needed, down: false })
  address = await bench.fundedAddress({ eth: '1' })
})
afterEach(async () => {
  await bench.expectSoundLedger()
  expect((await verifyTransfers(bench.test.deps.db)).differences).toEqual([])
})

/** Returns a transfer whose transaction waits because it needs more than its limit. */
async function waiting(maxFee: string | undefined = ordered) {
  const { status, body } = await bench.order(address.id, '40', { maxFee })
  expect([status, body.status]).toEqual([201, 'pending'])
  await bench.deliver()
  bench.vault.wallet.broadcast(body.id)
  await bench.deliver()
  return { id: body.id as string, txHash: fakeTxHash(body.id), newHash: fakeTxHash(`${fakeTxHash(body.id)} replaced`) }
}

type Action = 'speed-up' | 'cancel-on-chain' | 'replacement-preview'
const ask = (by: Person, id: string, body?: object, action: Action = 'speed-up') =>
  by.post(`/vaults/${bench.vault.code}/transfers/${id}/${action}`, body)
const vote = (requestId: string, verb = 'approve', by = bench.firstApprover) =>
  by.post(`/vaults/${bench.vault.code}/approval-requests/${requestId}/${verb}`, {})
const sent = (id: string, action: Action = 'speed-up') =>
  bench.vault.wallet.requests.filter(({ path }) => path.endsWith(`/${id}/${action}`)).map(({ body }) => body)

/** Returns the request that a replacement above the limit opened. */
async function asked(id: string, body: object, action: Action = 'speed-up'): Promise<string> {
  const answer = await ask(bench.owner, id, body, action)
  expect([answer.status, answer.body.details]).toEqual([202, undefined])
  expect(sent(id, action)).toEqual([])
  return answer.body.request.id
}

describe.each(['speed-up', 'cancel-on-chain'] as const)('%s above the limit of the order', (action) => {
  it('needs votes, and is handed over after them without a further request', async () => {
    const { id, txHash, newHash } = await waiting()
    expect((await ask(bench.owner, id, { txHash }, action)).body.reason).toBe('above_max_fee')
    bench.vault.wallet.requests.length = 0
    const answer = await ask(bench.owner, id, { txHash, maxFee: needed }, action)
    expect(answer).toMatchObject({
      status: 202,
      body: {
        request: {
          action: 'transfer_replace',
          targetType: 'transfer',
          targetId: id,
          decisionPolicyCode: 'dear',
          payload: {
            replacement: action,
            txHash,
            maxFee: { amount: needed, amountDecimal: '0.003', asset: 'ETH' },
            permitted: { amount: ordered, amountDecimal: '0.001', asset: 'ETH' },
            order: {
              fromAddress: address.address,
              toAddress: bench.recipient,
              network: 'ethereum',
              amountDecimal: '40',
              asset: 'USDT',
            },
          },
        },
      },
    })
    const inbox = await bench.firstApprover.get('/inbox')
    expect(inbox.body.items[0]!.approvalRequest).toMatchObject({ subject: '40 USDT, 0.003 ETH' })
    await bench.deliver()
    expect(sent(id, action)).toEqual([])
    const voted = await vote(answer.body.request.id)
    expect([voted.status, voted.body.status, voted.body.resolvedResultId]).toEqual([200, 'applied', id])
    await bench.deliver()
    await bench.deliver()
    expect(sent(id, action)).toEqual([{ txHash, maxFee: needed }])
    expect(await bench.read(id)).toMatchObject({ txHash: newHash, txHashes: [txHash, newHash], status: 'pending' })
    expect(await bench.audited('transfer.max_fee_raised', id)).toBe(1)
    bench.vault.wallet.confirm(id, { fee: needed })
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed', fee: needed })
    // The fee was permitted, so there is no alarm.
    expect(await bench.audited('transfer.fee_above_limit', id)).toBe(0)
  })
})

describe('a raised limit', () => {
  it('applies to later replacements: no vote is needed up to it, and a vote above it', async () => {
    const { id, txHash, newHash } = await waiting()
    await vote(await asked(id, { txHash, maxFee: needed }))
    await bench.deliver()
    bench.vault.wallet.replacementCost = '2500000000000000'
    const preview = await ask(bench.owner, id, undefined, 'replacement-preview')
    expect(preview.body.speedUp).toEqual({
      maxFee: { amount: '2500000000000000', amountDecimal: '0.0025', asset: 'ETH' },
      refusal: null,
      needsApproval: false,
    })
    expect((await ask(bench.owner, id, { txHash: newHash })).status).toBe(200)
    expect(sent(id).at(-1)).toEqual({ txHash: newHash, maxFee: needed })
    const hash = (await bench.read(id)).txHash
    expect((await ask(bench.owner, id, { txHash: hash, maxFee: '3000000000000001' })).status).toBe(202)
  })

  it('is shown with its cost before the request, and that it needs a decision', async () => {
    const { id } = await waiting()
    const preview = await ask(bench.owner, id, undefined, 'replacement-preview')
    const cost = {
      maxFee: { amount: needed, amountDecimal: '0.003', asset: 'ETH' },
      refusal: null,
      needsApproval: true,
    }
    expect(preview.body).toMatchObject({ speedUp: cost, cancelOnChain: cost })
  })

  it('needs no vote where the policies allow it to the initiator of the transfer', async () => {
    const { id, txHash, newHash } = await waiting('500000000000000')
    bench.vault.wallet.replacementCost = '900000000000000'
    const { status, body } = await ask(bench.owner, id, { txHash, maxFee: '900000000000000' })
    expect([status, body.id]).toEqual([200, id])
    await bench.deliver()
    expect((await bench.read(id)).txHash).toBe(newHash)
  })

  it('is decided by the policies for the initiator of the transfer, not for the requester', async () => {
    const { id, txHash } = await waiting()
    const answer = await ask(bench.vault.admin, id, { txHash, maxFee: needed })
    expect([answer.status, answer.body.request.decisionPolicyCode]).toEqual([202, 'dear'])
    expect(answer.body.request.initiatorId).toBe(bench.vault.admin.userId)
  })

  it('T30 T63 takes no vote of the initiator of the transfer, nor of its requester', async () => {
    const members = `/policy-groups/${bench.approversId}/members` as const
    const both = [bench.owner, bench.vault.admin]
    for (const { userId } of both) expect((await bench.vault.admin.post(members, { userId })).status).toBe(201)
    try {
      const { id, txHash } = await waiting()
      const answer = await ask(bench.vault.admin, id, { txHash, maxFee: needed })
      expect(answer.status).toBe(202)
      const requestId = answer.body.request.id
      for (const verb of ['approve', 'reject']) {
        expect((await vote(requestId, verb, bench.owner)).status).toBe(404)
        expect((await vote(requestId, verb, bench.vault.admin)).body.reason).toBe('not_an_approver')
      }
      expect((await vote(requestId)).body.status).toBe('applied')
    } finally {
      for (const { userId } of both) await bench.vault.admin.delete(`${members}/${userId}`)
    }
  })

  it('T30 T63 is refused where only the initiator of the transfer could vote on it', async () => {
    const { id: policyId } = await bench.policy({
      code: 'own-vote',
      effect: 'requireApproval',
      approvalThreshold: 1,
      rules: [
        { conditionType: 'require', selectors: [{ selectorType: 'maxFee', value: { op: 'gt', value: '0.002' } }] },
      ],
      approvers: [{ kind: 'user', userId: bench.owner.userId }],
    })
    const { id, txHash } = await waiting()
    const refused = await ask(bench.vault.admin, id, { txHash, maxFee: needed })
    expect([refused.status, refused.body.reason]).toEqual([409, 'quorum_unreachable'])
    const path = `/policies/${policyId}` as const
    expect((await bench.vault.admin.patch(path, { allowInitiatorApproval: true })).status).toBe(200)
    const response = await ask(bench.vault.admin, id, { txHash, maxFee: needed })
    expect((await vote(response.body.request.id)).body.status).toBe('pending')
    expect((await vote(response.body.request.id, 'approve', bench.owner)).body.status).toBe('applied')
    await bench.vault.admin.delete(path)
  })

  it('is refused where a policy blocks an order with such a limit', async () => {
    const { id, txHash } = await waiting()
    expect(await ask(bench.owner, id, { txHash, maxFee: '100000000000000001' })).toMatchObject({
      status: 403,
      body: { reason: 'blocked_by_policy', message: 'Nobody pays a tenth of a coin' },
    })
    expect(sent(id)).toEqual([])
  })

  it('is only for members who may replace the transaction', async () => {
    const { id, txHash } = await waiting()
    expect((await ask(stranger, id, { txHash, maxFee: needed })).status).toBe(404)
    expect((await ask(bench.firstApprover, id, { txHash, maxFee: needed })).status).toBe(404)
    const grant = { subjectType: 'user', subjectId: stranger.userId, canTransfer: true }
    await bench.owner.post(`/vaults/${bench.vault.code}/addresses/${address.id}/grants`, grant)
    expect((await ask(stranger, id, { txHash, maxFee: needed })).body.reason).toBe('not_permitted')
    expect(await bench.count(`approval_requests where steps::text like '%${id}%'`)).toBe(0)
  })

  it('does not change after a veto, or with an outdated request', async () => {
    const { id, txHash } = await waiting()
    expect((await vote(await asked(id, { txHash, maxFee: needed }), 'reject')).body.status).toBe('rejected')
    const late = await asked(id, { txHash, maxFee: needed })
    bench.vault.wallet.broadcast(id, { txHash: fakeTxHash(`by hand ${id}`) })
    await bench.deliver()
    expect((await vote(late)).body.reason).toBe('not_applied')
    await bench.deliver()
    expect(sent(id)).toEqual([])
    expect(await bench.audited('transfer.max_fee_raised', id)).toBe(0)
  })

  it('is raised by only one of two requests', async () => {
    const { id, txHash } = await waiting()
    const first = await asked(id, { txHash, maxFee: needed })
    const second = await asked(id, { txHash, maxFee: '4000000000000000' })
    const votes = await Promise.all([vote(first), vote(second)])
    expect(votes.map(({ status }) => status).toSorted()).toEqual([200, 409])
    await bench.deliver()
    expect(sent(id)).toHaveLength(1)
  })

  it.each([
    ['without a transaction', async (id: string) => ({ id, body: { txHash: null } }), 'not_replaceable'],
    [
      'of another transaction',
      async (id: string) => ({ id, body: { txHash: fakeTxHash('x') } }),
      'changed_concurrently',
    ],
  ])('%s is a 409', async (_what, of, reason) => {
    const { id } = await waiting()
    const { body } = await of(id)
    expect((await ask(bench.owner, id, { ...body, maxFee: needed })).body.reason).toBe(reason)
  })

  it('is not an amount above 2^256-1', async () => {
    const { id, txHash } = await waiting()
    const { status, body } = await ask(bench.owner, id, { txHash, maxFee: (2n ** 256n).toString() })
    expect([status, body.details[0]!.field]).toEqual([400, 'maxFee'])
  })
})

describe('after the vote', () => {
  it('the wallet service is asked again after an unknown outcome, and a refusal is recorded and ends the replacement', async () => {
    const { id, txHash } = await waiting()
    await vote(await asked(id, { txHash, maxFee: needed }))
    bench.vault.wallet.down = 'error'
    await bench.deliver()
    bench.vault.wallet.down = false
    bench.vault.wallet.refuseReplacement = 'ALREADY_MINED: in block 5'
    await bench.deliver()
    const attempts = sent(id).length
    expect(attempts).toBeGreaterThan(1)
    await bench.deliver()
    expect(sent(id)).toHaveLength(attempts)
    expect(await bench.audited('transfer.replacement_refused', id)).toBe(1)
    expect(await bench.read(id)).toMatchObject({ status: 'pending', txHash, haltReason: null })
  })

  it('the transfer is asked about also while the wallet service answers no replacement', async () => {
    const { id, txHash } = await waiting()
    await vote(await asked(id, { txHash, maxFee: needed }))
    bench.vault.wallet.confirm(id)
    await bench.deliver(async (deps, vaultId) => ({
      ...(await walletOfVault(deps, vaultId)),
      replaceTransaction: () => Promise.reject(new WalletServiceError('failed', 'Answered 500', { status: 500 })),
    }))
    expect((await bench.read(id)).status).toBe('confirmed')
  })

  it('a later raise is handed over also when it is decided on while the wallet service refuses the one before', async () => {
    const { id, txHash } = await waiting()
    await vote(await asked(id, { txHash, maxFee: needed }))
    const later = '4000000000000000'
    await bench.deliver(async (deps, vaultId) => ({
      ...(await walletOfVault(deps, vaultId)),
      async replaceTransaction() {
        expect((await vote(await asked(id, { txHash, maxFee: later }))).body.status).toBe('applied')
        throw new WalletServiceError('conflict', 'Answered 409', { status: 409, code: 'ABOVE_MAX_FEE' })
      },
    }))
    expect(await bench.audited('transfer.replacement_refused', id)).toBe(1)
    await bench.deliver()
    expect(sent(id)).toEqual([{ txHash, maxFee: later }])
  })

  it('a hold delays the speed-up until its release, and does not prevent the cancellation', async () => {
    const { id, txHash } = await waiting()
    await vote(await asked(id, { txHash, maxFee: needed }))
    const hold = { subjectType: 'transfer', subjectId: id, reason: 'Ask them first' }
    const placed = await bench.vault.admin.post(`/vaults/${bench.vault.code}/holds`, hold)
    expect(placed.status).toBe(201)
    await bench.deliver()
    expect(sent(id)).toEqual([])
    expect((await ask(bench.owner, id, { txHash })).body.reason).toBe('held')
    expect((await ask(bench.owner, id, { txHash, maxFee: '4000000000000000' })).body.reason).toBe('held')
    expect((await ask(bench.owner, id, { txHash, maxFee: needed }, 'cancel-on-chain')).status).toBe(200)
  })

  it('T59 the transfer is not sped up while the authority of the vault is not in force', async () => {
    const { id, txHash } = await waiting()
    await vote(await asked(id, { txHash, maxFee: needed }))
    await bench.sql(
      `insert into authority_marks (vault_id, version, hash, seen_at, shown_version, alarm_since)
       values ($1, 2, repeat('b', 64), now(), 0, now())`,
      [bench.vault.id],
    )
    await bench.deliver()
    expect(sent(id)).toEqual([])
    await bench.sql('delete from authority_marks')
    await bench.deliver()
    expect(sent(id)).toHaveLength(1)
  })

  it('T27 a replacement that only a forged row demands is not handed over', async () => {
    const { id } = await waiting()
    await bench.sql('update transfers set replacement_due = true where id = $1', [id])
    await bench.deliver()
    expect(sent(id)).toEqual([])
    expect((await bench.sql('select replacement_due from transfers where id = $1', [id]))[0].replacement_due).toBe(
      false,
    )
  })
})

describe('T63 a fee above the permitted one', () => {
  const mailed = async (id: string) =>
    await bench.sql(
      `select n.user_id from notifications n join audit_records r on r.id = n.subject_id
       where r.target_id = $1 and r.action = 'transfer.fee_above_limit'`,
      [id],
    )

  it.each(['confirm', 'fail'] as const)('is booked as it is, and the administrators are notified: %s', async (end) => {
    const { id } = await waiting()
    const fee = '1000000000000001'
    if (end === 'confirm') bench.vault.wallet.confirm(id, { fee })
    else bench.vault.wallet.fail(id, 'REVERTED: so it is', fee)
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: end === 'confirm' ? 'confirmed' : 'failed', fee })
    expect((await bench.balances(address.id, 'ETH')).available).toBe('0.998999999999999999')
    expect(await bench.audited('transfer.fee_above_limit', id)).toBe(1)
    expect((await mailed(id)).map(({ user_id }) => user_id)).toEqual([bench.vault.admin.userId])
    const [{ content }] = await bench.sql(
      'select a.content from announcements a join audit_records r on r.id = a.audit_record_id where r.target_id = $1',
      [id],
    )
    expect(content).toContain('0.001 ETH')
    expect(content).toContain('0.001000000000000001 ETH')
  })

  it('is not reported when the fee equals the limit', async () => {
    const { id } = await waiting()
    bench.vault.wallet.confirm(id, { fee: ordered })
    await bench.deliver()
    expect(await bench.audited('transfer.fee_above_limit', id)).toBe(0)
  })
})
