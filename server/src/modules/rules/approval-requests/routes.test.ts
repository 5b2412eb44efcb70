import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import { chainStepsMax } from '../../../lib/limits.ts'
import type { AnswerOf } from '../../../testing/answer.ts'
import {
  type ApprovalBench,
  addTo,
  type ChainStep,
  createApprovalBench,
  newCounterparty,
  newGroup,
} from '../../../testing/approval-bench.ts'
import { addMember } from '../../../testing/fixtures.ts'

let bench: ApprovalBench
const requests = '/vaults/main-vault/approval-requests'

beforeAll(async () => {
  bench = await createApprovalBench()
})
afterAll(() => bench.close())

/** Inserts a counterparty directly into the table, so that no policy decides on it. */
async function insertCounterparty(name = 'Contoso'): Promise<string> {
  const now = bench.test.clock.now()
  const id = newId(now)
  await bench.sql(
    `insert into counterparties (vault_id, id, name, kind, created_by_id, created_at, updated_at)
     values ($1, $2, $3, 'company', $4, $5, $5)`,
    [bench.vault.id, id, name, bench.maker.userId, now],
  )
  return id
}

describe('a single gated action', () => {
  it('waits with 202, shows the subject of the votes, and is carried out by the last vote', async () => {
    const body = { network: 'ethereum', segments: { purpose: 'ops' }, label: 'Waiting' }
    const response = await bench.maker.post('/vaults/main-vault/addresses', body)
    expect(response.status).toBe(202)
    const { request } = response.body
    expect(request).toMatchObject({
      action: 'create_address',
      status: 'pending',
      initiatorId: bench.maker.userId,
      targetType: 'address',
      targetId: null,
      baseVersion: null,
      payload: body,
      decisionPolicyCode: 'one-vote',
      approvalThreshold: 1,
      requirements: [{ stepIndex: 0, policyCode: 'one-vote', threshold: 1, approvalsCount: 0, bypassed: false }],
      quorumReachable: true,
      results: null,
      resolvedResultId: null,
    })
    expect(request.approvers).toHaveLength(3)
    expect(request.approvers[0]).toMatchObject({ decision: null, stepIndexesJson: [0], canVote: true, counts: false })
    expect(bench.vault.wallet.requests.filter(({ path }) => path === '/addresses')).toEqual([])

    const done = await bench.act(bench.firstApprover, request.id, 'approve', { comment: 'Needed' })
    expect([done.status, done.body.status]).toEqual([200, 'applied'])
    const address = await bench.maker.get(`/vaults/main-vault/addresses/${done.body.resolvedResultId}`)
    expect(address.body).toMatchObject({ label: 'Waiting', pathIndex: 0, owner: { id: bench.maker.userId } })
    expect(done.body.results).toEqual([
      { stepIndex: 0, action: 'create_address', resultId: done.body.resolvedResultId },
    ])
    expect(await bench.audited('approval_request.created', request.id)).toBe(1)
    expect(await bench.audited('approval_request.voted', request.id)).toBe(1)
    expect(await bench.audited('approval_request.applied', request.id)).toBe(1)
  })

  it('keeps votes and request when the wallet service fails at the last vote', async () => {
    const body = { network: 'ethereum', segments: { purpose: 'payroll' } }
    const { request } = (await bench.maker.post('/vaults/main-vault/addresses', body)).body
    bench.vault.wallet.down = 'error'
    expect((await bench.act(bench.firstApprover, request.id, 'approve')).status).toBe(502)
    bench.vault.wallet.down = false
    expect((await bench.read(request.id)).approvers.map((approver) => approver.decision)).toEqual([null, null, null])
    expect((await bench.act(bench.firstApprover, request.id, 'approve')).body.status).toBe('applied')
  })

  it('keeps votes and request while the vault is halted at the last vote', async () => {
    const body = { network: 'ethereum', segments: { purpose: 'payroll' } }
    const { request } = (await bench.maker.post('/vaults/main-vault/addresses', body)).body
    await bench.sql(`update vaults set halted_at = now(), halt_reason = 'books_behind'`)
    const vote = await bench.act(bench.firstApprover, request.id, 'approve')
    expect([vote.status, vote.body.reason]).toEqual([409, 'vault_halted'])
    await bench.sql('update vaults set halted_at = null, halt_reason = null')
    const kept = await bench.read(request.id)
    expect([kept.status, kept.requirements[0]!.approvalsCount]).toEqual(['pending', 0])
    expect((await bench.act(bench.firstApprover, request.id, 'approve')).body.status).toBe('applied')
  })

  it('gives two addresses that are approved at the same time different indexes', async () => {
    const body = { network: 'ethereum', segments: { purpose: 'payroll' } }
    const responses = await Promise.all([1, 2].map(() => bench.maker.post('/vaults/main-vault/addresses', body)))
    const votes = await Promise.all(
      responses.map(({ body: { request } }) => bench.act(bench.firstApprover, request.id, 'approve')),
    )
    expect(votes.map(({ body: { status } }) => status)).toEqual(['applied', 'applied'])
    const indexes = await Promise.all(
      votes.map(
        async ({ body: { resolvedResultId } }) =>
          (await bench.maker.get(`/vaults/main-vault/addresses/${resolvedResultId}`)).body.pathIndex,
      ),
    )
    expect(indexes.sort()).toEqual([2, 3])
  })

  it('answers 409 and keeps only the vote when the target is gone', async () => {
    const body = { network: 'ethereum', segments: { purpose: 'ops' }, token: 'USDT' }
    const { request } = (await bench.maker.post('/vaults/main-vault/addresses', body)).body
    await bench.vault.admin.patch(`/tokens/${bench.vault.tokens.usdt.id}`, { enabled: false })
    const vote = await bench.act(bench.firstApprover, request.id, 'approve')
    await bench.vault.admin.patch(`/tokens/${bench.vault.tokens.usdt.id}`, { enabled: true })
    expect([vote.status, vote.body.details]).toEqual([409, 'The token USDT is disabled'])
    const failed = await bench.read(request.id)
    expect([failed.status, failed.failureReason, failed.requirements[0]!.approvalsCount]).toEqual([
      'failed',
      'The token USDT is disabled',
      1,
    ])
  })

  it('answers 409 when too few can ever vote', async () => {
    const policy = await bench.policy({
      code: 'nine-votes',
      actionType: 'counterparty_create',
      effect: 'requireApproval',
      approvalThreshold: 9,
    })
    const answer = await bench.chain([newCounterparty()])
    expect([answer.status, answer.body.message]).toEqual([409, 'quorum unreachable'])
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })

  it('T35 records that an administrator was waived a vote', async () => {
    const policy = await bench.policy({
      code: 'waivable',
      actionType: 'counterparty_archive',
      effect: 'requireApproval',
      approvalThreshold: 2,
      adminBypass: true,
      approvers: [{ kind: 'group', groupId: bench.approversId }],
    })
    const targetId = await insertCounterparty()
    const step = { action: 'counterparty_archive', payload: {}, targetId }
    expect((await bench.chain([step], bench.vault.admin)).status).toBe(200)
    const [record] = await bench.sql(
      `select content from audit_records where action = 'action.allowed' and target_id = $1`,
      [targetId],
    )
    expect(JSON.parse(record!.content!).details.bypassed).toEqual(['waivable'])
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })
})

describe('a single action that is allowed', () => {
  const groups = '/vaults/main-vault/counterparty-groups'

  it('rejects a reference to a step, because no step comes before it', async () => {
    const answer = await bench.maker.post(groups, { code: 'own-name', name: '$step:0' })
    expect([answer.status, answer.body.details[0]!.field]).toEqual([400, 'name'])
  })

  it('T38 answers 409 when its target changes at the same moment, and never 500', async () => {
    const targetId = await insertCounterparty()
    const path = `/vaults/main-vault/counterparties/${targetId}` as const
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => bench.maker.patch(path, { name: `Name ${i}` })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([])
    const [row] = await bench.sql('select version from counterparties where id = $1', [targetId])
    expect(Number(row!.version)).toBe(1 + statuses.filter((status) => status === 200).length)
  })
})

describe('a chain', () => {
  it('is done at once when every step is allowed, each with the results of those before', async () => {
    const counterpartyId = await insertCounterparty()
    const answer = await bench.chain([newGroup('at-once'), addTo('$step:0', counterpartyId)])
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      applied: true,
      results: [
        { stepIndex: 0, action: 'counterparty_group_create' },
        { stepIndex: 1, action: 'counterparty_group_add' },
      ],
    })
    const [row] = await bench.sql('select group_id from counterparty_group_memberships where counterparty_id = $1', [
      counterpartyId,
    ])
    expect(row!.group_id).toBe(answer.body.results[0]!.resultId)
    expect((await bench.maker.get(requests)).body.items.every((request) => request.action !== 'composite')).toBe(true)
  })

  it('waits for votes when only one of its steps needs them', async () => {
    const steps = [newGroup(), newCounterparty('Fabrikam'), addTo('$step:0', '$step:1')]
    const before = await bench.traces()
    const request = await bench.waiting(steps)
    expect(request).toMatchObject({
      action: 'composite',
      targetType: 'composite',
      targetId: null,
      payload: { steps },
      requirements: [{ stepIndex: 1, policyCode: 'two-votes', threshold: 2, approvalsCount: 0 }],
    })
    expect(request.approvers[0]!.stepIndexesJson).toEqual([1])
    expect(await bench.traces()).toBe(before)
    await bench.act(bench.firstApprover, request.id, 'approve')
    const { body } = await bench.act(bench.secondApprover, request.id, 'approve')
    expect(body.status).toBe('applied')
    expect(body.resolvedResultId).toBe(body.results![2]!.resultId)
    expect(await bench.traces()).toBe(before + 3)
  })

  it('lets several steps change a target, and compares its version at the first of them', async () => {
    const targetId = await insertCounterparty()
    const update = (name: string) => ({ action: 'counterparty_update', targetId, payload: { name } })
    expect((await bench.chain([update('First'), update('Second')])).status).toBe(200)
    const request = await bench.waiting([update('Third'), newCounterparty(), update('Fourth')])
    for (const approver of [bench.firstApprover, bench.secondApprover]) await bench.act(approver, request.id, 'approve')
    expect((await bench.read(request.id)).status).toBe('applied')
    expect((await bench.sql('select name from counterparties where id = $1', [targetId]))[0]!.name).toBe('Fourth')
  })

  it('is refused as a whole when a step is blocked or denied, and the refusal is recorded', async () => {
    const before = await bench.traces()
    const groupId = (await bench.chain([newGroup('to-keep')])).body.results[0]!.resultId
    const archive = { action: 'counterparty_group_archive', payload: {}, targetId: groupId }
    const blocked = await bench.chain([newGroup(), newCounterparty(), archive])
    expect([blocked.status, blocked.body.message]).toEqual([403, 'Groups stay'])
    const denied = await bench.chain([
      newGroup(),
      { action: 'counterparty_archive', payload: {}, targetId: await insertCounterparty() },
    ])
    expect([denied.status, denied.body.message]).toEqual([403, 'No policy allows this'])
    expect(await bench.traces()).toBe(before + 2)
    const records = await bench.sql(`select 1 from audit_records where action = 'action.refused' and actor_id = $1`, [
      bench.maker.userId,
    ])
    expect(records).toHaveLength(2)
  })

  it('uses the kind that earlier steps give a counterparty, but no other fact of it', async () => {
    const groupId = (await bench.chain([newGroup()])).body.results[0]!.resultId
    const blocks = [
      ['no-exchanges', 'counterpartyKind', 'exchange'],
      ['no-kindred', 'counterpartyKind', 'service'],
    ]
    for (const [code, selectorType, value] of blocks) {
      await bench.policy({
        code,
        actionType: 'counterparty_group_add',
        effect: 'block',
        blockReason: `Not ${value}`,
        rules: [{ conditionType: 'require', selectors: [{ selectorType, value }] }],
      })
    }
    const made = (kind: string) => ({ action: 'counterparty_create', payload: { name: `A ${kind}`, kind } })
    const turned = (targetId: string, kind: string) => ({ action: 'counterparty_update', targetId, payload: { kind } })
    const renamed = (targetId: string) => ({ action: 'counterparty_update', targetId, payload: { name: 'Renamed' } })
    const outcome = async (steps: ChainStep[]) => {
      const { status, body } = await bench.chain(steps)
      return status === 403 ? body.message : status
    }
    const existing = await insertCounterparty()
    expect(await outcome([made('company'), addTo(groupId, '$step:0')])).toBe(202)
    expect(await outcome([made('exchange'), addTo(groupId, '$step:0')])).toBe('Not exchange')
    expect(await outcome([made('company'), turned('$step:0', 'service'), addTo(groupId, '$step:0')])).toBe(
      'Not service',
    )
    expect(await outcome([made('service'), turned('$step:0', 'company'), addTo(groupId, '$step:1')])).toBe(202)
    expect(await outcome([made('exchange'), renamed('$step:0'), addTo(groupId, '$step:1')])).toBe('Not exchange')
    expect(await outcome([turned(existing, 'exchange'), addTo(groupId, existing)])).toBe('Not exchange')
    expect(await outcome([turned(existing, 'exchange'), addTo(groupId, '$step:0')])).toBe('Not exchange')
    expect(await outcome([renamed(existing), addTo(groupId, '$step:0')])).toBe(200)

    const age = await bench.policy({
      code: 'no-newcomers',
      actionType: 'counterparty_group_add',
      effect: 'block',
      blockReason: 'Too new',
      rules: [
        {
          conditionType: 'require',
          selectors: [{ selectorType: 'counterpartyAgeHours', value: { op: 'lt', value: '24' } }],
        },
      ],
    })
    expect(await outcome([made('company'), addTo(groupId, '$step:0')])).toBe('Too new')
    await bench.vault.admin.delete(`/policies/${age.id}`)
    await bench.sql(`update policies set enabled = false where code in ('no-exchanges', 'no-kindred')`)
  })

  it(`T37 takes ${chainStepsMax} steps and refuses one more`, async () => {
    const before = await bench.traces()
    const steps = Array.from({ length: chainStepsMax }, () => newGroup())
    const answer = await bench.chain(steps)
    expect([answer.status, answer.body.results.length]).toEqual([200, chainStepsMax])
    const tooMany = await bench.chain([...steps, newGroup()])
    expect([tooMany.status, tooMany.body.details[0]!.field]).toEqual([400, 'steps'])
    expect((await bench.chain([])).body.details[0]!.field).toBe('steps')
    expect(await bench.traces()).toBe(before + chainStepsMax)
  })

  it('T37 changes nothing when a step fails, at once or after its votes', async () => {
    const before = await bench.traces()
    const atOnce = await bench.chain([newGroup('twice'), newGroup('twice')])
    expect([atOnce.status, atOnce.body.message.slice(0, 8)]).toEqual([409, 'steps.1:'])
    expect(await bench.traces()).toBe(before)

    const request = await bench.waiting([newGroup(), newCounterparty(), newGroup('thrice'), newGroup('thrice')])
    await bench.act(bench.firstApprover, request.id, 'approve')
    const last = await bench.act(bench.secondApprover, request.id, 'approve')
    expect(last.status).toBe(409)
    const failed = await bench.read(request.id)
    expect([failed.status, failed.results, failed.requirements[0]!.approvalsCount]).toEqual(['failed', null, 2])
    expect(failed.failureReason).toContain('steps.3')
    expect(await bench.traces()).toBe(before)
    expect(await bench.audited('approval_request.failed', request.id)).toBe(1)
    expect((await bench.act(bench.thirdApprover, request.id, 'approve')).status).toBe(409)
  })

  it.each([
    ['itself', [addTo('$step:0', 'x')], 'steps.0.targetId'],
    ['a later step', [addTo('$step:1', 'x'), newGroup()], 'steps.0.targetId'],
    ['a step that is not there', [newGroup(), addTo('$step:7', 'x')], 'steps.1.targetId'],
    ['a text that is not a number', [newGroup(), addTo('$step:0', '$step:x')], 'steps.1.payload.counterpartyId'],
    ['a leading zero', [newGroup(), addTo('$step:00', 'x')], 'steps.1.targetId'],
    [
      'a result of another type',
      [newGroup(), newGroup(), addTo('$step:0', '$step:1')],
      'steps.2.payload.counterpartyId',
    ],
    ['a result of another type as target', [newCounterparty(), addTo('$step:0', '$step:0')], 'steps.1.targetId'],
    [
      'a step by a nested field',
      [{ ...newGroup(), payload: { code: 'a', name: { deep: ['$step:0'] } } }],
      'steps.0.payload.name.deep.0',
    ],
  ])('T37 answers 400 for a reference to %s', async (_what, steps, field) => {
    const answer = await bench.chain(steps as never)
    expect([answer.status, answer.body.details?.[0]?.field]).toEqual([400, field])
  })

  it.each(['constructor', 'prototype', 'toString', '__proto__', 'archivedAt'])(
    'T37 answers 400 for the payload key %s',
    async (key) => {
      const text = `{"steps":[{"action":"counterparty_create","payload":{"name":"A","kind":"company","${key}":{}}}]}`
      const answer = await bench.maker.post(`${requests}/composite`, text)
      expect(answer.status).toBe(400)
      if (key !== '__proto__') expect(answer.body.details[0]!.field).toBe(`steps.0.payload.${key}`)
    },
  )

  it.each([
    ['an action on no counterparty', { action: 'create_address', payload: {} }, 'steps.0.action'],
    ['a transfer', { action: 'transfer', payload: {} }, 'steps.0.action'],
    ['an unknown field', { ...newGroup(), extra: 1 }, 'steps.0.extra'],
    ['a payload that does not fit', { action: 'counterparty_create', payload: { name: 'A' } }, 'steps.0.payload.kind'],
    ['a creation with a target', { ...newGroup(), targetId: 'x' }, 'steps.0.targetId'],
    ['a change without target', { action: 'counterparty_update', payload: {} }, 'steps.0.targetId'],
    ['a payload that is not an object', { action: 'counterparty_create', payload: 'x' }, 'steps.0.payload'],
  ])('answers 400 for %s', async (_what, step, field) => {
    const answer = await bench.chain([step as never])
    expect([answer.status, answer.body.details[0]!.field]).toEqual([400, field])
  })

  it.each([
    ['a NUL', '\\u0000'],
    ['half a surrogate pair', '\\ud800'],
  ])('T51 answers 400 for %s in a payload', async (_what, character) => {
    const text = `{"steps":[{"action":"counterparty_create","payload":{"name":"A${character}","kind":"company"}}]}`
    expect((await bench.maker.post(`${requests}/composite`, text)).status).toBe(400)
  })

  it('answers 404 for a target that the vault does not have', async () => {
    const answer = await bench.chain([newGroup(), addTo(newId(), 'x')])
    expect([answer.status, answer.body.message]).toEqual([404, 'steps.1: Counterparty group not found'])
  })

  it('gives the same answer for the same Idempotency-Key', async () => {
    const before = await bench.traces()
    const send = () =>
      bench.maker.post(`${requests}/composite`, { steps: [newGroup('only-once')] }, { 'idempotency-key': 'chain-1' })
    const [first, again] = [await send(), await send()]
    expect(again.body).toEqual(first.body)
    expect(await bench.traces()).toBe(before + 1)
  })
})

describe('reading', () => {
  it('shows requests only to initiators, approvers and administrators', async () => {
    const request = await bench.waiting([newCounterparty()])
    const other = await addMember(bench.test, bench.vault, 'other@example.org', ['makers'])
    for (const person of [bench.maker, bench.firstApprover, bench.vault.admin]) {
      expect((await person.get(`${requests}/${request.id}`)).body.id).toBe(request.id)
      const { body } = await person.get(`${requests}?limit=1`)
      expect(body.items[0]!.id).toBe(request.id)
    }
    expect((await other.get(`${requests}/${request.id}`)).status).toBe(404)
    expect((await other.get(requests)).body.items).toEqual([])
    for (const verb of ['approve', 'reject', 'cancel'] as const)
      expect((await bench.act(other, request.id, verb)).status).toBe(404)
    await bench.act(bench.maker, request.id, 'cancel')
  })

  it('filters by status, action and whose vote is awaited', async () => {
    const request = await bench.waiting([newCounterparty()])
    const idsFor = async (person: ApprovalBench['maker'], query: string) =>
      (await person.get(`${requests}?limit=100&${query}`)).body.items.map(({ id }) => id)
    expect(await idsFor(bench.firstApprover, 'awaitingMyApproval=true')).toContain(request.id)
    expect(await idsFor(bench.maker, 'awaitingMyApproval=true')).toEqual([])
    expect(await idsFor(bench.vault.admin, 'awaitingMyApproval=true')).toEqual([])
    await bench.act(bench.firstApprover, request.id, 'approve')
    expect(await idsFor(bench.firstApprover, 'awaitingMyApproval=true')).not.toContain(request.id)
    await bench.leave(bench.secondApprover, bench.approversId)
    await bench.join(bench.secondApprover, bench.makersId)
    expect(await idsFor(bench.secondApprover, 'awaitingMyApproval=true')).not.toContain(request.id)
    await bench.join(bench.secondApprover, bench.approversId)
    expect(await idsFor(bench.secondApprover, 'awaitingMyApproval=true')).toContain(request.id)
    await bench.leave(bench.secondApprover, bench.makersId)
    expect(await idsFor(bench.vault.admin, 'status=pending')).toContain(request.id)
    expect(await idsFor(bench.vault.admin, 'status=applied')).not.toContain(request.id)
    expect(await idsFor(bench.vault.admin, 'action=composite&status=pending')).toContain(request.id)
    expect(await idsFor(bench.vault.admin, 'action=create_address')).not.toContain(request.id)
    await bench.act(bench.maker, request.id, 'cancel')
    expect(await idsFor(bench.thirdApprover, 'awaitingMyApproval=true')).not.toContain(request.id)
  })

  it('pages through all, newest first, without gap or repetition', async () => {
    const all = (await bench.vault.admin.get(`${requests}?limit=100`)).body.items.map(({ id }) => id)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const { body }: AnswerOf<'get', typeof requests> = await bench.vault.admin.get(
        `${requests}?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
      )
      seen.push(...body.items.map(({ id }) => id))
      cursor = body.nextCursor
    } while (cursor !== null)
    expect(all.length).toBeGreaterThan(2)
    expect(seen).toEqual(all)
  })

  it.each(['status=open', 'action=transfer', 'awaitingMyApproval=maybe', 'mine=true', 'limit=0'])(
    'answers 400 for ?%s',
    async (query) => {
      expect((await bench.maker.get(`${requests}?${query}`)).status).toBe(400)
    },
  )
})
