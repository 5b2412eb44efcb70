import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Person } from '../../../testing/app.ts'
import { type ApprovalBench, createApprovalBench, newCounterparty, newGroup } from '../../../testing/approval-bench.ts'
import { addMember, ensureGroup } from '../../../testing/fixtures.ts'
import { hashInBrowser } from '../../../testing/hash-in-browser.ts'
import { verifyRequests } from './compare-request-record.ts'
import { hashPayload } from './steps.ts'
import { expireRequests } from './vote-on-request.ts'

let bench: ApprovalBench

beforeAll(async () => {
  bench = await createApprovalBench()
})
afterAll(() => bench.close())

const waiting = async () => (await bench.waiting([newCounterparty()])).id as string
const approve = (by: Person, id: string, body?: object) => bench.act(by, id, 'approve', body)
const reject = (by: Person, id: string, body?: object) => bench.act(by, id, 'reject', body)
const statusOf = async (id: string) => (await bench.read(id)).status
const countOf = async (id: string) => (await bench.read(id)).requirements[0]!.approvalsCount
const voterOf = async (id: string, { userId }: Person) =>
  (await bench.read(id)).approvers.find((approver) => approver.userId === userId)

describe('T27 a vote on what the voter was shown', () => {
  it('names its hash, which a browser computes from boundPayload of the answer', async () => {
    const id = (await bench.waiting([newGroup('bound'), newCounterparty()])).id
    const { boundPayload, payloadHash, payload } = await bench.read(id, bench.firstApprover)
    expect(await hashInBrowser(boundPayload)).toBe(payloadHash)
    expect(payload).toEqual({ steps: boundPayload.steps.map((bound) => (bound as { step: object }).step) })
    expect((await approve(bench.firstApprover, id, { payloadHash })).status).toBe(200)
    const changed = await hashInBrowser({ ...boundPayload, steps: [] })
    for (const vote of [approve, reject]) {
      const { status, body } = await vote(bench.secondApprover, id, { payloadHash: changed })
      expect([status, body.reason]).toEqual([409, 'payload_changed'])
    }
    expect([await statusOf(id), await countOf(id)]).toEqual(['pending', 1])
    expect((await approve(bench.secondApprover, id, { payloadHash })).body.status).toBe('applied')
  })
})

describe('a request that waits', () => {
  it('is rejected by one vote, regardless of earlier approvals', async () => {
    const before = await bench.traces()
    const id = await waiting()
    await approve(bench.firstApprover, id)
    const { status, body } = await reject(bench.secondApprover, id, { comment: 'Unknown to us' })
    expect([status, body.status, body.results, body.resolvedAt === null]).toEqual([200, 'rejected', null, false])
    expect(await voterOf(id, bench.secondApprover)).toMatchObject({
      decision: 'reject',
      comment: 'Unknown to us',
      counts: true,
    })
    expect(await bench.traces()).toBe(before)
    expect(await bench.audited('approval_request.rejected', id)).toBe(1)
  })

  it('is cancelled by its initiator or an administrator, but not by an approver', async () => {
    for (const person of [bench.maker, bench.vault.admin]) {
      const id = await waiting()
      expect((await bench.act(bench.firstApprover, id, 'cancel')).status).toBe(403)
      expect((await bench.act(person, id, 'cancel')).body.status).toBe('cancelled')
      expect(await bench.audited('approval_request.cancelled', id)).toBe(1)
    }
  })

  it('expires after 72 hours; later votes are refused, also before the expiry is stored', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    await expireRequests(bench.test.deps)
    expect(await statusOf(id)).toBe('pending')
    await bench.sql('update approval_requests set expires_at = $2 where id = $1', [id, bench.test.clock.now()])
    const late = await approve(bench.secondApprover, id)
    expect([late.status, late.body.message]).toEqual([409, 'The time to vote on this request has expired'])
    expect((await bench.read(id)).approvers.some((approver) => approver.canVote)).toBe(false)
    await expireRequests(bench.test.deps)
    expect(await statusOf(id)).toBe('expired')
    expect(await bench.audited('approval_request.expired', id)).toBe(1)
  })

  it('does not change after it is resolved', async () => {
    for (const verb of ['reject', 'cancel'] as const) {
      const id = await waiting()
      await bench.act(verb === 'reject' ? bench.firstApprover : bench.maker, id, verb)
      const resolved = await statusOf(id)
      for (const [person, again] of [
        [bench.secondApprover, 'approve'],
        [bench.secondApprover, 'reject'],
        [bench.maker, 'cancel'],
      ] as const)
        expect((await bench.act(person, id, again)).status).toBe(409)
      expect(await statusOf(id)).toBe(resolved)
    }
  })

  it('T38 is stale when its target is no longer the version it was asked for: 409, and the vote stays', async () => {
    const [counterparty] = (await bench.chain([newGroup('target')])).body.results
    const policy = await bench.policy({
      code: 'watched-groups',
      actionType: 'counterparty_group_update',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId: bench.approversId }],
    })
    const update = (name: string) => [
      { action: 'counterparty_group_update', targetId: counterparty!.resultId, payload: { name } },
    ]
    const [first, second] = [await bench.waiting(update('First')), await bench.waiting(update('Second'))]
    expect((await approve(bench.firstApprover, first.id)).body.status).toBe('applied')
    const late = await approve(bench.firstApprover, second.id)
    expect([late.status, late.body.details]).toEqual([409, 'The target was changed after the request was created'])
    expect([await statusOf(second.id), await countOf(second.id)]).toEqual(['stale', 1])
    const [row] = await bench.sql('select name from counterparty_groups where id = $1', [counterparty!.resultId])
    expect(row!.name).toBe('First')
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })

  it('fails when its target was archived meanwhile', async () => {
    const [group] = (await bench.chain([newGroup()])).body.results
    const request = await bench.waiting([
      newCounterparty(),
      { action: 'counterparty_group_add', targetId: group!.resultId, payload: { counterpartyId: '$step:0' } },
    ])
    await bench.sql('update counterparty_groups set archived_at = now() where id = $1', [group!.resultId])
    const before = await bench.traces()
    await approve(bench.firstApprover, request.id)
    expect((await approve(bench.secondApprover, request.id)).status).toBe(409)
    expect((await bench.read(request.id)).failureReason).toBe('steps.1: The counterparty group is archived')
    expect(await bench.traces()).toBe(before)
  })
})

/** Returns the differences that `strongroom audit verify` reports about a request. */
async function named(id: string): Promise<string[]> {
  const { differences } = await verifyRequests(bench.test.deps.db)
  return differences.filter(({ targetId }) => targetId === id).map(({ detail }) => detail)
}

const payloadDifference = 'its payload was changed'
const ofRequest = (assignment: string) => (id: string) =>
  bench.sql(`update approval_requests set ${assignment} where id = $1`, [id])

/** Rewrites the steps as somebody would who knows how they are bound. */
async function forge(id: string): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: the test knows what the row holds.
  const [row]: any[] = await bench.sql('select * from approval_requests where id = $1', [id])
  const { action, steps, vault_id: vaultId, initiator_id: initiatorId } = row
  steps[0].step.payload.name = 'Somebody else'
  const hash = hashPayload({ requestId: id, vaultId, initiatorId, action, steps })
  await bench.sql('update approval_requests set steps = $2, payload_hash = $3 where id = $1', [
    id,
    JSON.stringify(steps),
    hash,
  ])
}

describe('T27 T56 votes are bound to the record', () => {
  it.each<[what: string, difference: string, change: (id: string) => Promise<unknown>]>([
    ['payload', payloadDifference, ofRequest(`steps = jsonb_set(steps, '{0,step,payload,name}', '"Somebody else"')`)],
    ['payload with its hash', payloadDifference, forge],
    [
      'action',
      payloadDifference,
      ofRequest(`steps = jsonb_set(steps, '{0,step,action}', '"counterparty_group_create"')`),
    ],
    ['base version', payloadDifference, ofRequest(`steps = jsonb_set(steps, '{0,baseVersion}', '"2"')`)],
    ['number of steps', payloadDifference, ofRequest('steps = steps || steps')],
    [
      'initiator',
      payloadDifference,
      ofRequest(`initiator_id = (select id from users where email = 'first.approver@example.org')`),
    ],
    ['hash', payloadDifference, ofRequest(`payload_hash = sha256('x')`)],
    [
      'threshold',
      'its requirements or their voters were changed',
      (id) => bench.sql('update approval_requirements set threshold = 1 where subject_id = $1', [id]),
    ],
    [
      'vote, which nobody cast,',
      'its votes were changed',
      (id) =>
        bench.sql(
          `update approval_voters set decision = 'approve', voted_at = now() where subject_id = $1 and user_id = $2`,
          [id, bench.thirdApprover.userId],
        ),
    ],
  ])('T27 T56 another %s takes no more votes, nothing happens, and it is named', async (_what, difference, change) => {
    const before = await bench.traces()
    const id = await waiting()
    await approve(bench.firstApprover, id)
    expect(await named(id)).toEqual([])
    await change(id)
    expect(await named(id)).toEqual([difference])
    for (const [vote, message] of [
      [approve, 'The request failed because it differs from its audit record'],
      [reject, 'The request is already failed'],
    ] as const) {
      const { status, body } = await vote(bench.secondApprover, id)
      expect([status, body.message]).toEqual([409, message])
    }
    expect(await statusOf(id)).toBe('failed')
    expect(await bench.traces()).toBe(before)
    const notified = await bench.sql(`select user_id from notifications where subject_id = $1 and kind = 'stopped'`, [
      id,
    ])
    expect(notified).toEqual([{ user_id: bench.vault.admin.userId }])
  })

  it('T57 a status that was written as a row is named', async () => {
    const id = await waiting()
    await ofRequest(`status = 'rejected', resolved_at = now()`)(id)
    expect(await named(id)).toEqual(['it is rejected, and according to its audit records pending'])
  })

  it('T28 the API shows the hashed document: it reads the stored steps', async () => {
    const id = await waiting()
    await bench.sql(
      `update approval_requests set steps = jsonb_set(steps, '{0,step,payload,name}', '"Somebody else"') where id = $1`,
      [id],
    )
    expect((await bench.read(id)).payload).toHaveProperty('steps[0].payload.name', 'Somebody else')
    await bench.act(bench.maker, id, 'cancel')
  })
})

describe('T29 the last vote repeats the checks', () => {
  it('T29 of policies that block now', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    const policy = await bench.policy({
      code: 'freeze',
      actionType: 'counterparty_create',
      effect: 'block',
      blockReason: 'Audit week',
    })
    const refused = await approve(bench.secondApprover, id)
    await bench.vault.admin.delete(`/policies/${policy.id}`)
    expect([refused.status, refused.body.message, refused.body.details]).toEqual([
      409,
      'A policy blocks this now',
      'Audit week',
    ])
    expect([await statusOf(id), await countOf(id)]).toEqual(['pending', 1])
    expect((await approve(bench.secondApprover, id)).body.status).toBe('applied')
  })

  it('T29 of the membership and the account of the initiator', async () => {
    const leaver = await addMember(bench.test, bench.vault, 'leaver@example.org', ['makers'])
    const ids = [await bench.waiting([newCounterparty()], leaver), await bench.waiting([newCounterparty()], leaver)]
    for (const { id } of ids) await approve(bench.firstApprover, id)
    await bench.sql('update users set disabled_at = now() where id = $1', [leaver.userId])
    expect((await approve(bench.secondApprover, ids[0]!.id)).status).toBe(409)
    await bench.sql('update users set disabled_at = null where id = $1', [leaver.userId])
    await bench.leave(leaver, bench.makersId)
    expect((await approve(bench.secondApprover, ids[1]!.id)).status).toBe(409)
    expect(await statusOf(ids[0]!.id)).toBe('pending')
  })

  it('T35 of the administrator for whom votes were waived', async () => {
    const policy = await bench.policy({
      code: 'waived',
      actionType: 'counterparty_group_archive',
      effect: 'requireApproval',
      approvalThreshold: 1,
      adminBypass: true,
      approvers: [{ kind: 'group', groupId: bench.approversId }],
    })
    await bench.sql(`update policies set enabled = false where code = 'keep-groups'`)
    const deputy = await addMember(bench.test, bench.vault, 'deputy@example.org', ['makers', 'administrators'])
    const request = await bench.waiting(
      [newGroup(), newCounterparty(), { action: 'counterparty_group_archive', targetId: '$step:0', payload: {} }],
      deputy,
    )
    expect(request.requirements).toMatchObject([
      { stepIndex: 1, policyCode: 'two-votes', bypassed: false },
      { stepIndex: 2, policyCode: 'waived', bypassed: true },
    ])
    expect(request.decisionPolicyCode).toBe('two-votes')
    // The version of the rules that decided.
    expect(request.rulesVersion).toBeGreaterThan(0)
    await approve(bench.firstApprover, request.id)
    await bench.leave(deputy, bench.vault.groups.administrators)
    expect((await approve(bench.secondApprover, request.id)).status).toBe(409)
    await bench.join(deputy, bench.vault.groups.administrators)
    expect((await approve(bench.secondApprover, request.id)).body.status).toBe('applied')
    await bench.vault.admin.delete(`/policies/${policy.id}`)
    await bench.sql(`update policies set enabled = true where code = 'keep-groups'`)
  })
})

describe('T30 the initiator', () => {
  it('T30 has no vote without allowInitiatorApproval, not even by a second group', async () => {
    const both = await addMember(bench.test, bench.vault, 'both@example.org', ['makers', 'approvers'])
    const request = await bench.waiting([newCounterparty()], both)
    expect(request.approvers.map((approver) => approver.userId)).not.toContain(both.userId)
    for (const vote of [approve, reject]) expect((await vote(both, request.id)).status).toBe(403)
    await bench.leave(both, bench.approversId)
    await bench.act(both, request.id, 'cancel')
  })

  it('T30 votes only for the steps whose policy allows it', async () => {
    const policy = await bench.policy({
      code: 'own-vote',
      actionType: 'counterparty_group_archive',
      effect: 'requireApproval',
      approvalThreshold: 1,
      allowInitiatorApproval: true,
      approvers: [{ kind: 'user', userId: bench.maker.userId }],
    })
    await bench.sql(`update policies set enabled = false where code = 'keep-groups'`)
    const archive = { action: 'counterparty_group_archive', targetId: '$step:0', payload: {} }
    const request = await bench.waiting([newGroup(), newCounterparty(), archive])
    const initiatorVote = await approve(bench.maker, request.id)
    expect(initiatorVote.body.status).toBe('pending')
    expect(initiatorVote.body.requirements.map((requirement) => requirement.approvalsCount)).toEqual([0, 1])
    await approve(bench.firstApprover, request.id)
    expect((await approve(bench.secondApprover, request.id)).body.status).toBe('applied')
    await bench.vault.admin.delete(`/policies/${policy.id}`)
    await bench.sql(`update policies set enabled = true where code = 'keep-groups'`)
  })
})

describe('T31 one person is one vote', () => {
  it('T31 answers 409 to a second vote, and refuses a user who is not a voter', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    for (const vote of [approve, reject]) expect((await vote(bench.firstApprover, id)).status).toBe(409)
    expect((await approve(bench.vault.admin, id)).status).toBe(403)
    expect((await approve(bench.maker, id)).status).toBe(403)
    expect(await countOf(id)).toBe(1)
    await bench.act(bench.maker, id, 'cancel')
  })

  it('T31 of 15 votes at once one counts', async () => {
    const id = await waiting()
    const answers = await Promise.all(Array.from({ length: 15 }, () => approve(bench.firstApprover, id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(14).fill(409)])
    expect([await statusOf(id), await countOf(id)]).toEqual(['pending', 1])
    await bench.act(bench.maker, id, 'cancel')
  })

  it('T37 covers only the steps of the voter: partial coverage never executes', async () => {
    const second = await ensureGroup(bench.vault, 'second-approvers')
    const fourthApprover = await addMember(bench.test, bench.vault, 'fourth.approver@example.org', ['second-approvers'])
    const policy = await bench.policy({
      code: 'updates',
      actionType: 'counterparty_update',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId: second }],
    })
    const steps = [
      newCounterparty(),
      { action: 'counterparty_update', targetId: '$step:0', payload: { name: 'Renamed' } },
    ]
    const before = await bench.traces()
    const request = await bench.waiting(steps)
    await approve(bench.firstApprover, request.id)
    const enoughForOne = await approve(bench.secondApprover, request.id)
    expect(enoughForOne.body.status).toBe('pending')
    expect(enoughForOne.body.requirements).toMatchObject([
      { stepIndex: 0, threshold: 2, approvalsCount: 2 },
      { stepIndex: 1, threshold: 1, approvalsCount: 0 },
    ])
    expect(await bench.traces()).toBe(before)
    expect((await voterOf(request.id, fourthApprover))!.stepIndexesJson).toEqual([1])
    expect((await approve(fourthApprover, request.id)).body.status).toBe('applied')

    const vetoed = await bench.waiting(steps)
    expect((await reject(fourthApprover, vetoed.id)).body.status).toBe('rejected')
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })
})

describe('T32 races', () => {
  it('T32 a last vote and a veto at the same time: exactly one of them counts', async () => {
    for (let round = 0; round < 6; round += 1) {
      const before = await bench.traces()
      const id = await waiting()
      await approve(bench.firstApprover, id)
      const [yes, no] = await Promise.all([approve(bench.secondApprover, id), reject(bench.thirdApprover, id)])
      expect([yes.status, no.status].sort()).toEqual([200, 409])
      expect(await statusOf(id)).toBe(yes.status === 200 ? 'applied' : 'rejected')
      expect(await bench.traces()).toBe(before + (yes.status === 200 ? 1 : 0))
    }
  })

  it('T33 two last votes at the same time see each other, and the action is carried out once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const before = await bench.traces()
      const id = await waiting()
      const answers = await Promise.all([approve(bench.firstApprover, id), approve(bench.secondApprover, id)])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect([await statusOf(id), await bench.traces()]).toEqual(['applied', before + 1])
    }
  })

  it('T32 last vote, veto, cancellation and expiry at once: one resolution', async () => {
    for (let round = 0; round < 4; round += 1) {
      const id = await waiting()
      await approve(bench.firstApprover, id)
      await bench.sql('update approval_requests set expires_at = $2 where id = $1', [
        id,
        new Date(bench.test.clock.now().getTime() + 5),
      ])
      await Promise.all([
        approve(bench.secondApprover, id),
        reject(bench.thirdApprover, id),
        bench.act(bench.maker, id, 'cancel'),
        bench.act(bench.vault.admin, id, 'cancel'),
        expireRequests(bench.test.deps),
      ])
      await expireRequests(bench.test.deps)
      const status = await statusOf(id)
      expect(['applied', 'rejected', 'cancelled', 'expired']).toContain(status)
      const resolutions = await bench.sql(
        `select action from audit_records where target_id = $1 and action <> 'approval_request.created'
           and action <> 'approval_request.voted'`,
        [id],
      )
      expect(resolutions.map(({ action }) => action)).toEqual([`approval_request.${status}`])
    }
  })
})

describe('T33 a voter who lost the entitlement', () => {
  it('T33 has no vote, an earlier vote is shown as void, and the quorum may be unreachable', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    expect(await voterOf(id, bench.firstApprover)).toMatchObject({ counts: true, voidReason: null, canVote: false })
    for (const person of [bench.firstApprover, bench.thirdApprover]) {
      await bench.leave(person, bench.approversId)
      await bench.join(person, bench.makersId)
    }
    expect(await voterOf(id, bench.firstApprover)).toMatchObject({
      decision: 'approve',
      counts: false,
      voidReason: 'not_entitled',
    })
    expect(await voterOf(id, bench.thirdApprover)).toMatchObject({ decision: null, canVote: false, voidReason: null })
    const stuck = await bench.read(id)
    expect([stuck.requirements[0]!.approvalsCount, stuck.quorumReachable]).toEqual([0, false])
    for (const vote of [approve, reject]) expect((await vote(bench.thirdApprover, id)).status).toBe(403)
    expect((await approve(bench.secondApprover, id)).body).toMatchObject({ status: 'pending', quorumReachable: false })

    for (const person of [bench.firstApprover, bench.thirdApprover]) {
      await bench.join(person, bench.approversId)
      await bench.leave(person, bench.makersId)
    }
    expect((await bench.read(id)).quorumReachable).toBe(true)
    expect((await approve(bench.thirdApprover, id)).body.status).toBe('applied')
  })

  it('T33 keeps the votes that counted at the resolution, when a voter leaves later', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    await approve(bench.secondApprover, id)
    await bench.sql('update users set disabled_at = now() where id = $1', [bench.firstApprover.userId])
    expect(await voterOf(id, bench.firstApprover)).toMatchObject({ counts: true, voidReason: null })
    expect(await countOf(id)).toBe(2)
    await bench.sql('update users set disabled_at = null where id = $1', [bench.firstApprover.userId])
  })
})

describe('notifications', () => {
  it('ask the approvers and notify the initiator', async () => {
    const id = await waiting()
    const of = async () =>
      (await bench.sql('select kind from notifications where subject_id = $1 order by kind', [id])).map(
        ({ kind }) => kind,
      )
    expect(await of()).toEqual(Array<string>(3).fill('approval_needed'))
    await reject(bench.firstApprover, id)
    expect(await of()).toEqual([...Array<string>(3).fill('approval_needed'), 'decided'])
  })
})
