import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runParts } from '../../../db/insert-rows.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Address } from '../../../testing/answer.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { assigningNamed } from '../../operations/assignments/named-category.ts'

let bench: TransferBench
let address: Address
const base = '/vaults/main-vault'
const open = { appliesTo: 'both', viewScope: 'vault_members', assignScope: 'vault_members', editScope: 'vault_members' }
const categories: Record<string, string> = {}

beforeAll(async () => {
  bench = await createTransferBench()
  address = await bench.fundedAddress({ usdt: '5000' })
  for (const [key, more] of Object.entries({
    payroll: {},
    gambling: {},
    rent: {},
    hidden: { viewScope: 'restricted' },
    closed: { assignScope: 'restricted' },
    of_deposits: { appliesTo: 'deposit' },
    voted: { approvalScope: 'assign_and_edit', approvalThreshold: 1 },
    detailed: {},
  })) {
    const made = await bench.vault.admin.post(`${base}/operation-categories`, { key, name: key, ...open, ...more })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    categories[key] = made.body.id
  }
  const field = { key: 'invoice', label: 'Invoice', type: 'text', required: true }
  expect(
    (await bench.vault.admin.post(`${base}/operation-categories/${categories.detailed}/fields`, field)).status,
  ).toBe(201)
  await bench.policy({
    code: 'no-gambling',
    effect: 'block',
    blockReason: 'No gambling',
    rules: ruleOn('require', ['gambling']),
  })
  await bench.policy({
    code: 'payroll-votes',
    effect: 'requireApproval',
    approvalThreshold: 1,
    rules: ruleOn('require', 'payroll'),
    approvers: [{ kind: 'group', groupId: bench.approversId }],
  })
})
afterAll(() => bench.close())

const ruleOn = (conditionType: string, value: unknown) => [
  { conditionType, selectors: [{ selectorType: 'category', value }] },
]
const order = (category: string | null | undefined, amount = '1') =>
  bench.order(address.id, amount, { metadata: category === undefined ? {} : { category } })
const preview = (category: string) => {
  const body = { fromAddressId: address.id, toAddress: bench.recipient, amount: '1', metadata: { category } }
  return bench.owner.post(`${base}/transfers/preview`, body)
}
const simulate = (by: typeof bench.owner, category: string) => {
  const payload = { fromAddressId: address.id, toAddress: bench.recipient, amount: '1', metadata: { category } }
  return by.post(`${base}/policies/simulate`, { actionType: 'transfer', payload, initiatorId: bench.owner.userId })
}
const setCategory = (id: string, category: string | null) =>
  bench.owner.patch(`${base}/operations/transfer/${id}/metadata`, { category })

describe('a transfer that declares a category', () => {
  it('is not assigned to a category that has changed since it was read', async () => {
    const { id } = (await order(undefined)).body
    const [category] = await bench.sql('select * from operation_categories where id = $1', [categories.rent])
    const operation = { vault_id: bench.vault.id, id, type: 'transfer', created_at: bench.test.clock.now() } as const
    const by = { actorId: bench.owner.userId, now: bench.test.clock.now() }
    const assign = (version: number) =>
      inTransaction(bench.test.deps.db, async (trx) => {
        const named = { category: { ...category, version }, values: {} }
        await runParts(trx, assigningNamed(trx, operation, named, by).parts)
      })
    await expect(assign(category.version + 1)).rejects.toMatchObject({ reason: 'changed_concurrently' })
    expect((await bench.read(id)).metadata.category).toBeNull()
    await assign(category.version)
    expect((await bench.read(id)).metadata.category).toBe('rent')
  })

  it('is assigned to it, and decided with it', async () => {
    const plain = await order('rent')
    expect([plain.status, plain.body.status, plain.body.metadata.category]).toEqual([201, 'pending', 'rent'])
    const { items } = (await bench.owner.get(`${base}/operations/transfer/${plain.body.id}/categories`)).body
    expect(items).toMatchObject([{ key: 'rent', values: {}, version: 1, assignedById: bench.owner.userId }])

    const asking = await order('payroll')
    expect(asking.body).toMatchObject({
      status: 'awaiting_approval',
      decisionPolicyCode: 'payroll-votes',
      metadata: { category: 'payroll' },
    })
    const evidence = await bench.vault.admin.get(`${base}/transfers/${asking.body.id}/evidence`)
    expect(evidence.body.decision).toHaveProperty('facts.category', 'payroll')
  })

  it('T34 with a blocked category is refused, and leaves neither transfer nor assignment', async () => {
    const before = await Promise.all(['operations', 'category_assignments'].map(bench.count))
    const refused = await order('gambling')
    expect([refused.status, refused.body.message]).toEqual([403, 'No gambling'])
    expect(await Promise.all(['operations', 'category_assignments'].map(bench.count))).toEqual(before)
  })

  it('has the category in preview and simulation', async () => {
    expect((await preview('gambling')).body.decision).toMatchObject({ effect: 'block', blockReason: 'No gambling' })
    expect((await preview('payroll')).body.decision.effect).toBe('approval')
    expect((await simulate(bench.owner, 'gambling')).body.effect).toBe('block')
    const before = await bench.count('category_assignments')
    expect((await simulate(bench.vault.admin, 'rent')).body.effect).toBe('allow')
    expect(await bench.count('category_assignments')).toBe(before)
  })

  it('matches no set of categories when the category is absent or null', async () => {
    for (const none of [undefined, null]) {
      const answer = await order(none)
      expect([answer.status, answer.body.status, answer.body.metadata.category]).toEqual([201, 'pending', null])
      const { trace } = (await bench.read(answer.body.id)).decision
      const blocking = trace.find(({ policyCode }) => policyCode === 'no-gambling')!
      expect(blocking.rules[0]!.selectors[0]).toMatchObject({ matched: false, observed: null })
    }
  })

  it('T34 without a category is refused by a block with exclude', async () => {
    const policy = await bench.policy({
      code: 'declare',
      effect: 'block',
      rules: ruleOn('exclude', ['rent', 'payroll']),
    })
    expect((await order(undefined)).status).toBe(403)
    expect((await order('rent')).status).toBe(201)
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })

  it.each([
    ['nothing', 400, 'metadata.category: is not an active category of this vault'],
    ['hidden', 400, 'metadata.category: is not an active category of this vault'],
    ['of_deposits', 400, 'metadata.category: is a category for operations of type deposit'],
    ['detailed', 400, 'metadata.category: needs values: assign it by PUT …/categories/{categoryId}'],
    ['voted', 400, 'metadata.category: needs approval: assign it by PUT …/categories/{categoryId}'],
    ['closed', 403, 'You may not assign this category'],
  ])('with %s: %s, in the preview and the simulation too', async (key, status, message) => {
    const before = await bench.count('operations')
    for (const answer of [await order(key), await preview(key)]) {
      expect([answer.status, answer.body.message]).toEqual([status, message])
    }
    const simulated = await simulate(bench.vault.admin, key)
    expect(simulated.status).toBe(status)
    if (status === 400) expect(simulated.body.details[0]!.field).toBe('payload.metadata.category')
    expect(await bench.count('operations')).toBe(before)
  })

  it('T29 is checked with the present category at the last vote', async () => {
    const waiting = (await order('payroll')).body
    expect((await setCategory(waiting.id, 'gambling')).status).toBe(200)
    const vote = await bench.act(bench.firstApprover, waiting.id, 'approve')
    expect([vote.status, vote.body.details]).toEqual([409, 'No gambling'])
    expect((await bench.read(waiting.id)).status).toBe('awaiting_approval')
    expect((await setCategory(waiting.id, 'rent')).status).toBe(200)
    expect((await bench.act(bench.firstApprover, waiting.id, 'approve')).status).toBe(200)
    expect(await bench.read(waiting.id)).toMatchObject({ status: 'pending', metadata: { category: 'rent' } })
    const evidence = await bench.vault.admin.get(`${base}/transfers/${waiting.id}/evidence`)
    expect(evidence.body.decision).toHaveProperty('facts.category', 'payroll')
  })

  it('T29 is checked at the last vote also with a category that only administrators see', async () => {
    const waiting = (await order(null, '200')).body
    const policy = await bench.policy({ code: 'no-hidden', effect: 'block', rules: ruleOn('require', 'hidden') })
    const path = `${base}/operations/transfer/${waiting.id}/categories/${categories.hidden}` as const
    expect((await bench.vault.admin.put(path, { values: {} })).status).toBe(201)
    expect((await bench.act(bench.firstApprover, waiting.id, 'approve')).status).toBe(200)
    expect((await bench.act(bench.secondApprover, waiting.id, 'approve')).status).toBe(409)
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })

  it('T39 reveals no category to a voter by the trace', async () => {
    const { id } = (await order('rent', '200')).body
    const observed = async (by: typeof bench.owner) => {
      const { trace } = (await bench.read(id, by)).decision
      return trace.find(({ policyCode }) => policyCode === 'no-gambling')!.rules[0]!.selectors[0]!.observed
    }
    expect(await observed(bench.owner)).toBe('rent')
    expect(await observed(bench.vault.admin)).toBe('rent')
    expect(await observed(bench.firstApprover)).toBeNull()
  })

  it('is evaluated by policies that name categories of the vault', async () => {
    const post = (value: unknown) =>
      bench.vault.admin.post(`/policy-groups/${bench.vault.groups.everyone}/policies`, {
        code: 'misspelt',
        name: 'Misspelt',
        actionType: 'transfer',
        effect: 'block',
        rules: ruleOn('require', value),
      })
    const answer = await post(['payroll', 'pay_roll'])
    expect([answer.status, answer.body.details[0]]).toEqual([
      400,
      { field: 'rules.0.selectors.0.value.1', message: 'is not an operation category of the vault' },
    ])
  })

  it('is paid like any other, and the ledger is sound', async () => {
    await bench.deliver()
    await bench.expectSoundLedger()
  })
})
