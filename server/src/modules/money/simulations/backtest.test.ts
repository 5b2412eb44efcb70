import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer, Person } from '../../../testing/app.ts'
import { addMember } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { changeOf } from './backtest.ts'

let bench: TransferBench
let auditor: Person
let everyoneId: string
const ids: Record<string, string> = {}
const from = '2020-01-01'

beforeAll(async () => {
  bench = await createTransferBench()
  auditor = await addMember(bench.test, bench.vault, 'auditor@example.org', ['auditors'])
  everyoneId = bench.vault.groups.everyone
  const address = await bench.fundedAddress()
  for (const amount of ['10', '20', '30', '200']) ids[amount] = (await bench.order(address.id, amount)).body.id
})
afterAll(() => bench.close())

const policy = (code: string, more: object = {}) => ({
  ...{ groupId: everyoneId, code, name: code, actionType: 'transfer', effect: 'block' },
  ...more,
})
const over = (value: string) => [
  { conditionType: 'require', selectors: [{ selectorType: 'amount', value: { op: 'gt', value } }] },
]
const ask = (mode: string, policies: object[], more: object = {}, by: Person = bench.vault.admin) =>
  by.post('/vaults/main-vault/policies/backtest', { draft: { mode, policies }, from, ...more })
const run = async (mode: string, policies: object[], more: object = {}, by?: Person) => {
  const { status, body } = await ask(mode, policies, more, by)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const changed = (body: Answer['body']) => body.items.map(({ transferId }: { transferId: string }) => transferId)

describe('a backtest of policies', () => {
  it('decides past transfers again, and changes nothing', async () => {
    const before = [await bench.count('policies'), await bench.count('audit_records')]
    expect(await run('add', [])).toEqual({
      ...{ evaluated: 4, same: 4, stricter: 0, looser: 0, inDoubt: 0 },
      ...{ items: [], nextCursor: null },
    })
    const capped = await run('add', [policy('cap', { rules: over('25') })])
    expect(capped).toMatchObject({ evaluated: 4, same: 2, stricter: 2, looser: 0 })
    expect(changed(capped)).toEqual([ids['200'], ids['30']])
    expect(capped.items[1]).toMatchObject({
      before: { effect: 'allow', decisionPolicy: { code: 'small' }, votesNeeded: 0 },
      after: { effect: 'block', decisionPolicy: { code: 'cap' }, votesNeeded: 0 },
      inDoubt: false,
    })
    expect(capped.items[1].trace.map(({ policyCode }: { policyCode: string }) => policyCode)).toContain('cap')
    const open = await run('replace', [policy('all', { effect: 'allow' })])
    expect([open.looser, changed(open)]).toEqual([1, [ids['200']]])
    expect(open.items[0]).toMatchObject({ before: { effect: 'approval', votesNeeded: 2 }, after: { effect: 'allow' } })
    expect([await bench.count('policies'), await bench.count('audit_records')]).toEqual(before)
  })

  it('counts fewer and more votes, and takes a draft for the saved policy of its code', async () => {
    const large = (approvalThreshold: number) =>
      policy('large', { effect: 'requireApproval', approvalThreshold, rules: over('100') })
    expect(await run('add', [large(1)])).toMatchObject({ same: 3, looser: 1, stricter: 0 })
    expect(await run('add', [large(3)])).toMatchObject({ same: 3, looser: 0, stricter: 1 })
  })

  it('is in doubt about sums that nothing asked for at the time', async () => {
    const value = { op: 'gt', value: '1000000', windowSeconds: 3600, per: 'vault' }
    const limit = policy('hourly', {
      rules: [{ conditionType: 'require', selectors: [{ selectorType: 'velocityAmount', value }] }],
    })
    expect(await run('add', [limit])).toMatchObject({ evaluated: 4, stricter: 4, inDoubt: 4 })
  })

  it('goes on by a cursor that fits this question alone', async () => {
    const cap = [policy('cap', { rules: over('15') })]
    const found: string[] = []
    let evaluated = 0
    let cursor: string | null = null
    do {
      const body: Answer['body'] = await run('add', cap, { limit: 1, ...(cursor === null ? {} : { cursor }) })
      expect(body.evaluated).toBe(1)
      found.push(...changed(body))
      evaluated += body.evaluated
      cursor = body.nextCursor
      if (cursor !== null) expect((await ask('add', [], { limit: 1, cursor })).body.reason).toBe('invalid_cursor')
    } while (cursor !== null)
    expect([evaluated, found]).toEqual([4, [ids['200'], ids['30'], ids['20']]])
  })

  it('evaluates an interval', async () => {
    expect(await run('add', [], { to: '2020-01-02' })).toMatchObject({ evaluated: 0, nextCursor: null })
    for (const more of [{ limit: 0 }, { limit: 5_001 }, { from: 'then' }, { to: '2019-12-31' }])
      expect([more, (await ask('add', [], more)).status]).toEqual([more, 400])
    expect((await ask('add', [policy('x', { groupId: 'none' })])).status).toBe(400)
  })

  it('T39 is for administrators and auditors', async () => {
    expect((await run('add', [], {}, auditor)).evaluated).toBe(4)
    expect((await ask('add', [], {}, bench.owner)).body.reason).toBe('administrator_required')
    expect((await ask('add', [], {}, bench.firstApprover)).status).toBe(403)
  })
})

describe('the change of an outcome', () => {
  const outcome = (effect: 'allow' | 'approval' | 'deny' | 'block', ...thresholds: number[]) => {
    const requirements = thresholds.map((threshold) => ({
      ...{ policyId: 'p', policyCode: 'p', policyName: 'p', threshold, bypassed: false },
      ...{ allowInitiator: false, approvers: null, groupId: 'g' },
    }))
    return { effect, decisionPolicy: null, requirements }
  }
  it.each([
    [outcome('allow'), outcome('allow'), 'same'],
    [outcome('allow'), outcome('approval', 1), 'stricter'],
    [outcome('approval', 1), outcome('block'), 'stricter'],
    [outcome('approval', 3), outcome('deny'), 'stricter'],
    [outcome('approval', 2), outcome('approval', 1), 'looser'],
    [outcome('approval', 2), outcome('approval', 2, 2), 'stricter'],
    [outcome('approval', 2), outcome('allow'), 'looser'],
  ])('%j to %j', (before, after, change) => {
    expect(changeOf(before, after)).toBe(change)
  })
})
