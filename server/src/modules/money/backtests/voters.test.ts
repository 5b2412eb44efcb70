import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backtestInlineMax } from '../../../lib/limits.ts'
import type { Address, Answer, ApprovalRequest, BacktestChange } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { runDueBacktests } from './due-backtests.ts'

/** A vault whose rules need the votes of the approvers, who are not administrators. */
let bench: TransferBench
let voter: Person
let source: Address
const ids: Record<string, string> = {}
const url = '/vaults/main-vault'
const dayMilliseconds = 86_400_000

beforeAll(async () => {
  bench = await createTransferBench()
  voter = bench.firstApprover
  source = await bench.fundedAddress()
  const rate = { usdRate: '0.5', asOf: bench.test.clock.now().toISOString(), source: 'manual' }
  expect((await bench.vault.admin.post(`/tokens/${bench.vault.tokens.usdt.id}/rates`, rate)).status).toBe(201)
  // The voter votes on the last order, and does not see the others.
  for (const amount of ['10', '20', '30', '200']) ids[amount] = (await bench.order(source.id, amount)).body.id
  const settings = { threshold: 1, approverGroupId: bench.approversId, looseningDelayHours: 0, tighteningDelayHours: 0 }
  expect((await bench.vault.admin.put(`${url}/governance`, settings)).status).toBe(200)
})
afterAll(() => bench.close())

/** Blocks orders of more than 25 and of any part of a balance. */
const cap = {
  ...{ code: 'cap', name: 'Cap', actionType: 'transfer', effect: 'block' },
  rules: [
    {
      conditionType: 'require',
      selectors: [
        { selectorType: 'amount', value: { op: 'gt', value: '25' } },
        { selectorType: 'percentOfBalance', value: { op: 'gt', value: '0' } },
      ],
    },
  ],
}

async function drafted(): Promise<string> {
  const changes = [{ action: 'policy_create', targetId: bench.vault.groups.everyone, payload: cap }]
  const { status, body } = await bench.vault.admin.post(`${url}/change-sets`, { title: 'A cap', changes })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

async function submitted(): Promise<{ changeSetId: string; request: ApprovalRequest }> {
  const changeSetId = await drafted()
  const { status, body } = await bench.vault.admin.post(`${url}/change-sets/${changeSetId}/submit`)
  expect(status, JSON.stringify(body)).toBe(202)
  return { changeSetId, request: body.request }
}

const now = () => bench.test.clock.now().toISOString()
const ask = (changeSetId: string, by = voter, more: object = {}) =>
  by.post(`${url}/policies/backtest`, { changeSetId, from: now(), ...more })
const orderBacktest = async (...order: Parameters<typeof ask>) => {
  const { status, body } = await ask(...order)
  expect(status, JSON.stringify(body)).toBe(202)
  return body
}
const read = (id: string, by = voter) => by.get(`${url}/policies/backtests/${id}`)
const list = (id: string, by = voter) => by.get(`${url}/policies/backtests/${id}/changes?limit=100`)
const rowsOf = async (id: string, by = voter) => {
  const { status, body } = await list(id, by)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items
}
const subjectsOf = (rows: BacktestChange[]) => rows.map(({ subjectId }) => subjectId)
const refused = [403, 'administrator_required']
const answered = ({ status, body }: Answer) => [status, body.reason]
const observed = (rows: BacktestChange[]) =>
  rows.flatMap(({ after }) =>
    after.trace
      .filter(({ policyCode }) => policyCode === 'cap')
      .flatMap(({ rules }) => rules.flatMap((rule) => rule.selectors))
      .filter(({ selectorType }) => selectorType === 'percentOfBalance')
      .map((selector) => selector.observed),
  )

describe('a backtest by a voter on a change set', () => {
  it('T40 shows the number of changes, and details only of visible decisions', async () => {
    const { changeSetId, request } = await submitted()
    const ofVoter = await orderBacktest(changeSetId)
    const { stricter } = ofVoter.result!
    expect(stricter).toEqual({ count: 2, hiddenCount: 1, usdValue: '100.00', unratedCount: 0 })
    const rows = await rowsOf(ofVoter.id)
    expect(subjectsOf(rows)).toEqual([ids['200']])
    expect(rows[0]).toMatchObject({ usdValue: '100.00', before: { effect: 'approval' }, after: { effect: 'block' } })
    // The evidence of the transfer hides it from them, too.
    expect(observed(rows)).toEqual([null])
    for (const text of [JSON.stringify(ofVoter), JSON.stringify(rows)]) expect(text).not.toContain(ids['30'])

    const all = await orderBacktest(changeSetId, bench.vault.admin, { from: '2020-01-01' })
    expect(all.result!.stricter).toEqual({ count: 2, hiddenCount: 0, usdValue: '115.00', unratedCount: 0 })
    expect(subjectsOf(await rowsOf(all.id, bench.vault.admin))).toEqual([ids['200'], ids['30']])
    expect(observed(await rowsOf(all.id, bench.vault.admin))).not.toContain(null)
    expect(all.result!.evaluated).toBe(ofVoter.result!.evaluated)
    expect([ofVoter.from, ofVoter.to]).toEqual([
      new Date(Date.parse(request.createdAt) - 30 * dayMilliseconds).toISOString(),
      request.createdAt,
    ])
    expect(await bench.audited('policies.backtested', ofVoter.id)).toBe(1)
    await bench.vault.admin.post(`${url}/change-sets/${changeSetId}/cancel`)
  })

  it('T40 has the same result after later actions of others', async () => {
    const { changeSetId, request } = await submitted()
    const first = await orderBacktest(changeSetId)
    bench.test.clock.advance(60_000)
    ids.later = (await bench.order(source.id, '40')).body.id
    const again = await orderBacktest(changeSetId)
    expect(again).toEqual(first)
    expect((await list(again.id)).body).toEqual((await list(first.id)).body)
    // Another voter gets the same result, although their backtest runs anew.
    const other = await orderBacktest(changeSetId, bench.secondApprover)
    expect(other.id).not.toBe(first.id)
    expect([other.result, other.decisionsCount]).toEqual([first.result, first.decisionsCount])
    // The result covers one of three intervals, whichever interval the voter requests.
    const daysOf = async (days: number) => {
      const from = new Date(Date.parse(request.createdAt) - days * dayMilliseconds + 1).toISOString()
      const { from: begins, to } = await orderBacktest(changeSetId, voter, { from })
      return (Date.parse(to) - Date.parse(begins)) / dayMilliseconds
    }
    expect([await daysOf(1), await daysOf(30), await daysOf(31), await daysOf(91)]).toEqual([30, 30, 90, 365])
    const tooEarly = await ask(changeSetId, voter, { from: '2020-01-01' })
    expect([tooEarly.status, tooEarly.body.details[0]!.field]).toEqual([400, 'from'])
    const withEnd = await ask(changeSetId, voter, { from: request.createdAt, to: now() })
    expect([withEnd.status, withEnd.body.details[0]!.field]).toEqual([400, 'to'])
    await bench.vault.admin.post(`${url}/change-sets/${changeSetId}/cancel`)
  })

  it('T40 shows a row only while its subject is visible', async () => {
    const { changeSetId } = await submitted()
    const grants = `${url}/addresses/${source.id}/grants` as const
    const granted = await bench.owner.post(grants, { subjectType: 'user', subjectId: voter.userId })
    expect(granted.status, JSON.stringify(granted.body)).toBe(201)
    const { id, result } = await orderBacktest(changeSetId)
    expect(result!.stricter.hiddenCount).toBe(0)
    expect(subjectsOf(await rowsOf(id))).toEqual([ids.later, ids['200'], ids['30']])
    expect((await bench.owner.delete(`${grants}/${granted.body.id}`)).status).toBe(204)
    expect(subjectsOf(await rowsOf(id))).toEqual([ids['200']])
    await bench.vault.admin.post(`${url}/change-sets/${changeSetId}/cancel`)
  })

  it('T39 is refused to other members, and for other rules', async () => {
    const { changeSetId } = await submitted()
    const ofVoter = await orderBacktest(changeSetId)
    const ofAdministrator = await orderBacktest(changeSetId, bench.vault.admin, { from: '2020-01-01' })
    const draftId = await drafted()
    const policies = [{ groupId: bench.vault.groups.everyone, ...cap }]
    const answers = await Promise.all([
      ask(changeSetId, bench.owner),
      ask(draftId),
      ask(ids['30']!),
      ask(changeSetId, voter, { policies }),
      voter.post(`${url}/policies/backtest`, { policies, from: now() }),
      voter.post(`${url}/policies/backtest`, { draft: { mode: 'add', policies: [] }, from: now() }),
      ...[ofAdministrator.id, ids['30']!, 'none'].flatMap((id) => [read(id), list(id)]),
      ...[bench.owner, bench.secondApprover].flatMap((by) => [read(ofVoter.id, by), list(ofVoter.id, by)]),
    ])
    expect(answers.map(answered)).toEqual(answers.map(() => refused))
    // Administrators read the same result.
    expect((await read(ofVoter.id, bench.vault.admin)).body).toEqual(ofVoter)
    for (const id of [changeSetId, draftId]) await bench.vault.admin.post(`${url}/change-sets/${id}/cancel`)
  })

  it('T39 ends with the votes', async () => {
    const { changeSetId, request } = await submitted()
    const { id } = await orderBacktest(changeSetId)
    const rejected = await bench.secondApprover.post(`${url}/approval-requests/${request.id}/reject`)
    expect(rejected.status).toBe(200)
    expect([await read(id), await list(id), await ask(changeSetId)].map(answered)).toEqual([refused, refused, refused])
  })

  it('T39 ends when the voter leaves the group that votes', async () => {
    const { changeSetId } = await submitted()
    const { id } = await orderBacktest(changeSetId)
    const leave = (verb: string) =>
      bench.sql(`alter table policy_group_memberships disable trigger user; ${verb};
        alter table policy_group_memberships enable trigger user`)
    await leave(`create table left_group as select * from policy_group_memberships where user_id = '${voter.userId}'
      and group_id = '${bench.approversId}'; delete from policy_group_memberships m using left_group l
      where m.user_id = l.user_id and m.group_id = l.group_id`)
    const answers = [await read(id), await list(id), await ask(changeSetId)]
    await leave('insert into policy_group_memberships select * from left_group; drop table left_group')
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
    expect((await read(id)).status).toBe(200)
    await bench.vault.admin.post(`${url}/change-sets/${changeSetId}/cancel`)
  })
})

describe('a long backtest of a voter', () => {
  beforeAll(() =>
    bench.sql(
      `insert into decisions (vault_id, id, action, initiator_id, decisions, created_at)
       select d.vault_id, 'cold' || lpad(i::text, 21, '0'), d.action, d.initiator_id, d.decisions, d.created_at
       from (select * from decisions order by created_at desc limit 1) d, generate_series(1, $1) i`,
      [backtestInlineMax],
    ),
  )
  const run = () => runDueBacktests(bench.test.deps, new AbortController().signal)

  it('T40 is made with the access of the voter, and is not made twice', async () => {
    const { changeSetId } = await submitted()
    const queued = await orderBacktest(changeSetId)
    expect(queued.status).toBe('queued')
    expect((await orderBacktest(changeSetId)).id).toBe(queued.id)
    await run()
    const { body } = await read(queued.id)
    expect(body).toMatchObject({ status: 'done', result: { stricter: { count: 3, hiddenCount: 2 } } })
    expect(body.result!.same.hiddenCount).toBeGreaterThanOrEqual(backtestInlineMax)
    expect(subjectsOf(await rowsOf(queued.id))).toEqual([ids['200']])
    await bench.vault.admin.post(`${url}/change-sets/${changeSetId}/cancel`)
  })

  it('T39 is not made after the votes are decided', async () => {
    const { changeSetId } = await submitted()
    const { id } = await orderBacktest(changeSetId)
    await bench.vault.admin.post(`${url}/change-sets/${changeSetId}/cancel`)
    await run()
    expect((await read(id, bench.vault.admin)).body).toMatchObject({
      ...{ status: 'failed', result: null, failure: 'The requester may no longer run it' },
    })
  })
})
