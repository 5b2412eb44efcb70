import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backtestInlineMax } from '../../../lib/limits.ts'
import type { Address, Backtest, BacktestChange, BacktestOutcome } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { runDueBacktests } from './due-backtests.ts'

let bench: TransferBench
let auditor: Person
let source: Address
let everyoneId: string
const ids: Record<string, string> = {}
const from = '2020-01-01'

beforeAll(async () => {
  bench = await createTransferBench()
  auditor = await addMember(bench.test, bench.vault, 'auditor@example.org', ['auditors'])
  everyoneId = bench.vault.groups.everyone
  source = await bench.fundedAddress()
  for (const amount of ['10', '20', '30', '200']) ids[amount] = (await bench.order(source.id, amount)).body.id
  expect((await bench.order(source.id, '1000000')).status).toBe(403)
})
afterAll(() => bench.close())

const policy = (code: string, more: object = {}) => ({
  ...{ groupId: everyoneId, code, name: code, actionType: 'transfer', effect: 'block' },
  ...more,
})
const rulesOn = (selectorType: string, value: unknown) => [
  { conditionType: 'require', selectors: [{ selectorType, value }] },
]
const over = (value: string) => rulesOn('amount', { op: 'gt', value })
const url = '/vaults/main-vault/policies'
const ask = (body: object, by: Person = bench.vault.admin) => by.post(`${url}/backtest`, { from, ...body })
const draft = (mode: string, ...policies: object[]) => ({ draft: { mode, policies } })
const run = async (body: object, by?: Person) => {
  const answer = await ask(body, by)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return answer.body
}
const countsOf = ({ result }: Backtest) => {
  const { evaluated, ...sums } = result!
  return [evaluated, ...[sums.same, sums.stricter, sums.looser, sums.undecidable].map(({ count }) => count)]
}
const changesOf = async (id: string, query = 'limit=100', by: Person = bench.vault.admin) => {
  const { status, body } = await by.get(`${url}/backtests/${id}/changes?${query}`)
  expect(status).toBe(200)
  return body
}
const subjectsOf = ({ items }: { items: BacktestChange[] }) => items.map(({ subjectId }) => subjectId)

describe('a backtest of policies', () => {
  it('decides recorded decisions again and changes none of them', async () => {
    const before = [await bench.count('policies'), await bench.count('transfers')]
    const unchanged = await run(draft('add'))
    expect(unchanged).toMatchObject({ status: 'done', progress: 100, decisionsCount: 6, failure: null })
    // The refused order, the order from the address, and the four transfers.
    expect(countsOf(unchanged)).toEqual([6, 6, 0, 0, 0])
    expect((await changesOf(unchanged.id)).items).toEqual([])
    const capped = await run(draft('add', policy('cap', { rules: over('25') })))
    expect(countsOf(capped)).toEqual([6, 4, 2, 0, 0])
    const { items } = await changesOf(capped.id)
    expect(subjectsOf({ items })).toEqual([ids['200'], ids['30']])
    expect(items[1]).toMatchObject({
      ...{ subjectType: 'transfer', actionType: 'transfer', change: 'stricter', lacking: [] },
      before: { effect: 'allow', decisionPolicy: { code: 'small' }, votesNeeded: 0 },
      after: { effect: 'block', decisionPolicy: { code: 'cap' }, votesNeeded: 0 },
    })
    const codesOf = ({ trace }: BacktestOutcome) => trace.map(({ policyCode }) => policyCode)
    expect([codesOf(items[1]!.before), codesOf(items[1]!.after)].map((codes) => codes.includes('cap'))).toEqual([
      false,
      true,
    ])
    expect([await bench.count('policies'), await bench.count('transfers')]).toEqual(before)
    expect(await bench.audited('policies.backtested', capped.id)).toBe(1)
  })

  it('shows refused transfers that would be allowed', async () => {
    const open = await run({ policies: [policy('all', { effect: 'allow' }), allowed('create_address')] })
    expect(countsOf(open)).toEqual([6, 4, 0, 2, 0])
    const { items } = await changesOf(open.id, 'change=looser')
    expect(items.map(({ subjectType, before, after }) => [subjectType, before.effect, after.effect])).toEqual([
      ['decision', 'block', 'allow'],
      ['transfer', 'approval', 'allow'],
    ])
    expect((await changesOf(open.id, 'change=stricter')).items).toEqual([])
  })

  it('counts decisions that need fewer or more votes, and uses a draft in place of the saved policy with its code', async () => {
    const large = (approvalThreshold: number) =>
      policy('large', { effect: 'requireApproval', approvalThreshold, rules: over('100') })
    expect(countsOf(await run(draft('add', large(1))))).toEqual([6, 5, 0, 1, 0])
    expect(countsOf(await run(draft('add', large(3))))).toEqual([6, 5, 1, 0, 0])
  })

  it('sums the value of the orders in USD, by the rate of their day', async () => {
    const { usdt } = bench.vault.tokens
    const rate = { usdRate: '0.5', asOf: bench.test.clock.now().toISOString(), source: 'manual' }
    expect((await bench.vault.admin.post(`/tokens/${usdt.id}/rates`, rate)).status).toBe(201)
    ids.rated = (await bench.order(source.id, '50')).body.id
    const { result, id } = await run(draft('add', policy('cap', { rules: over('25') })))
    expect(result!.stricter).toEqual({ count: 3, hiddenCount: 0, usdValue: '25.00', unratedCount: 2 })
    const [first] = (await changesOf(id)).items
    expect([first!.subjectId, first!.usdValue]).toEqual([ids.rated, '25.00'])
  })

  it('T34 guesses no fact that was not recorded', async () => {
    const value = { op: 'gt', value: '1000000', windowSeconds: 3600, per: 'vault' }
    const limit = await run(draft('add', policy('hourly', { rules: rulesOn('velocityAmount', value) })))
    // A transfer that is blocked in any case needs no sum.
    expect(countsOf(limit)).toEqual([7, 2, 0, 0, 5])
    const [first] = (await changesOf(limit.id)).items
    expect([first!.change, first!.lacking]).toEqual(['undecidable', ['velocity per vault in 3600 seconds']])
    await bench.sql(`update transfers set decision = decision #- '{facts,isFirstPayment}' where id = $1`, [ids['10']])
    const unrecorded = await run(draft('add', policy('first', { rules: rulesOn('firstPaymentToDestination', false) })))
    expect(subjectsOf(await changesOf(unrecorded.id))).toEqual([ids['10']])
    const [{ decision: kept }] = await bench.sql('select decision from transfers where id = $1', [ids['20']])
    await bench.sql(`update transfers set decision = decision - 'facts' where id = $1`, [ids['20']])
    const [bare] = (await changesOf((await run(draft('add'))).id)).items
    expect([bare!.subjectId, bare!.lacking]).toEqual([ids['20'], ['facts']])
    await bench.sql('update transfers set decision = $2 where id = $1', [ids['20'], kept])
  })

  it('goes through its changes page by page', async () => {
    const { id } = await run(draft('add', policy('cap', { rules: over('5') })))
    const found: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const body: Awaited<ReturnType<typeof changesOf>> = await changesOf(
        id,
        `limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      expect(body.items.length).toBeLessThanOrEqual(2)
      found.push(...subjectsOf(body))
      cursor = body.nextCursor
    }
    expect(found).toEqual(subjectsOf(await changesOf(id)))
    expect(found).toHaveLength(5)
  })

  it('T35 tries the policies, groups and members that a change set would publish', async () => {
    const drafted = async (...changes: object[]) => {
      const { status, body } = await bench.vault.admin.post('/vaults/main-vault/change-sets', {
        title: 'Tried',
        changes,
      })
      expect(status, JSON.stringify(body)).toBe(201)
      return { changeSetId: body.id as string }
    }
    const capped = (targetId: string) => {
      const { groupId: _, ...payload } = policy('cap', { rules: over('25') })
      return { action: 'policy_create', targetId, payload }
    }
    const joining = (userId: string) => ({
      action: 'policy_group_member_add',
      targetId: '$change:0',
      payload: { userId },
    })
    const newGroup = { action: 'policy_group_create', payload: { code: 'night', name: 'Night shift' } }
    const before = await bench.count('policies')
    const set = await drafted(newGroup, joining(bench.owner.userId), capped('$change:0'))
    const found = await run(set)
    expect(countsOf(found)).toEqual([7, 4, 3, 0, 0])
    const { items } = await changesOf(found.id)
    expect(subjectsOf({ items })).toEqual([ids.rated, ids['200'], ids['30']])
    expect(items[2]).toMatchObject({ before: { effect: 'allow' }, after: { effect: 'block' } })
    const others = await drafted(newGroup, joining(bench.firstApprover.userId), capped('$change:0'))
    expect(countsOf(await run(others))).toEqual([7, 7, 0, 0, 0])
    expect(await bench.count('policies')).toBe(before)
    const [record] = await bench.sql('select content from audit_records where target_id = $1', [found.id])
    expect(JSON.parse(String(record!.content)).details).toMatchObject(set)
    expect((await ask({ ...set, ...draft('add') })).body.details[0]!.field).toBe('changeSetId')
    expect((await ask({ changeSetId: ids['10'] })).body.reason).toBe('not_found')
    expect((await ask(set, bench.owner)).status).toBe(403)
  })

  it('denies the actions of a user whom a change set removes', async () => {
    const changes = [{ action: 'member_remove', targetId: bench.owner.userId, payload: {} }]
    const { body } = await bench.vault.admin.post('/vaults/main-vault/change-sets', { title: 'Leaves', changes })
    const found = await run({ changeSetId: body.id })
    // The only reason of each refusal is that the initiator is not a member.
    expect(countsOf(found)).toEqual([7, 0, 6, 1, 0])
    const { items } = await changesOf(found.id)
    expect(items.every(({ after }) => after.effect === 'deny')).toBe(true)
  })

  it('evaluates an interval, and refuses an invalid one', async () => {
    expect(countsOf(await run({ ...draft('add'), to: '2020-01-02' }))).toEqual([0, 0, 0, 0, 0])
    for (const more of [{ from: 'then' }, { to: '2019-12-31' }, { limit: 5 }])
      expect([more, (await ask({ ...draft('add'), ...more })).status]).toEqual([more, 400])
    const fieldOf = async (body: object) => {
      const { status, body: answer } = await ask(body)
      expect(status).toBe(400)
      return answer.details[0]!.field
    }
    expect(await fieldOf(draft('add', policy('x', { groupId: 'none' })))).toMatch(/^draft\.policies\.0/)
    expect(await fieldOf({ policies: [policy('x', { effect: 'requireApproval' })] })).toBe(
      'policies.0.approvalThreshold',
    )
    expect(await fieldOf({})).toBe('policies')
    expect(await fieldOf({ policies: [], ...draft('add') })).toBe('policies')
  })

  it('T39 is for administrators and auditors', async () => {
    const mine = await run(draft('add'), auditor)
    expect(mine.result!.evaluated).toBe(7)
    for (const by of [bench.owner, bench.firstApprover]) {
      const answers = [
        await ask({ policies: [policy('x', { effect: 'requireApproval' })] }, by),
        await by.get(`${url}/backtests/${mine.id}`),
        await by.get(`${url}/backtests/${mine.id}/changes`),
      ]
      // Permission is checked before everything else.
      expect(answers.map(({ status, body }) => [status, body.reason])).toEqual(
        answers.map(() => [403, 'administrator_required']),
      )
    }
    expect((await bench.vault.admin.get(`${url}/backtests/${ids['10']}`)).status).toBe(404)
  })
})

describe('a long backtest', () => {
  const pretendManyDecisions = () =>
    bench.sql(
      `insert into decisions (vault_id, id, action, initiator_id, decisions, created_at)
       select d.vault_id, 'cold' || lpad(i::text, 21, '0'), d.action, d.initiator_id, d.decisions, d.created_at
       from (select * from decisions order by created_at desc limit 1) d, generate_series(1, $1) i`,
      [backtestInlineMax],
    )

  it('runs in the background, one at a time, and reports its progress', async () => {
    await pretendManyDecisions()
    const queued = await ask(draft('add', policy('cap', { rules: over('25') })))
    expect([queued.status, queued.body.status, queued.body.progress]).toEqual([202, 'queued', 0])
    const { id } = queued.body
    expect((await bench.vault.admin.get(`${url}/backtests/${id}/changes`)).body.reason).toBe('wrong_state')
    const second = await ask(draft('add'))
    expect([second.status, second.body.reason]).toEqual([429, 'too_many_at_once'])
    await runDueBacktests(bench.test.deps, new AbortController().signal)
    const { body } = await bench.vault.admin.get(`${url}/backtests/${id}`)
    expect(body).toMatchObject({ status: 'done', progress: 100 })
    expect(body.result!.evaluated).toBe(body.decisionsCount)
    expect(body.result!.stricter.count).toBe(3)
    expect(subjectsOf(await changesOf(id)).length).toBe(body.result!.stricter.count)
  })

  it('is started again by another node when a node stops or dies', async () => {
    const { id } = (await ask(draft('add', policy('cap', { rules: over('25') })))).body
    const stopped = new AbortController()
    stopped.abort()
    await runDueBacktests(bench.test.deps, stopped.signal)
    expect((await bench.vault.admin.get(`${url}/backtests/${id}`)).body.status).toBe('queued')
    await bench.sql(
      `update backtests set state = 'running', attempt = 1, leased_until = now() - interval '1 minute' where id = $1`,
      [id],
    )
    await bench.sql(
      `insert into backtest_changes (vault_id, backtest_id, subject_type, subject_id, change, created_at)
       values ($1, $2, 'transfer', $3, 'looser', now())`,
      [bench.vault.id, id, ids['10']],
    )
    await runDueBacktests(bench.test.deps, new AbortController().signal)
    const { result } = (await bench.vault.admin.get(`${url}/backtests/${id}`)).body
    expect([result!.stricter.count, result!.looser.count]).toEqual([3, 0])
    expect((await changesOf(id, 'change=looser')).items).toEqual([])
  })

  it('T39 ends when its requester may no longer read the vault', async () => {
    const { id } = (await ask(draft('add'), auditor)).body
    const { body } = await bench.vault.admin.get('/vaults/main-vault/policy-groups?limit=100')
    const auditors = body.items.find(({ code }) => code === 'auditors')!.id
    await bench.vault.admin.delete(`/policy-groups/${auditors}/members/${auditor.userId}`)
    await runDueBacktests(bench.test.deps, new AbortController().signal)
    expect((await bench.vault.admin.get(`${url}/backtests/${id}`)).body).toMatchObject({
      ...{ status: 'failed', result: null, failure: 'The requester may no longer run it' },
    })
  })
})

it('simulations take policies in the same form as a backtest', async () => {
  const order = { fromAddressId: source.id, toAddress: bench.recipient, amount: '1' }
  const simulate = (more: object, by = bench.vault.admin) =>
    by.post(`${url}/simulate`, { actionType: 'transfer', payload: order, ...more })
  expect((await simulate({ policies: [] })).body.effect).toBe('deny')
  expect((await simulate({ policies: [policy('halt')] })).body).toMatchObject({
    ...{ effect: 'block', decisionPolicy: { code: 'halt' } },
  })
  expect((await simulate({ policies: [], ...draft('add') })).status).toBe(400)
  expect((await simulate({ policies: [] }, bench.owner)).body.reason).toBe('administrator_required')
})

function allowed(actionType: string) {
  return policy(`allow-all-${actionType.replaceAll('_', '-')}`, { actionType, effect: 'allow' })
}
