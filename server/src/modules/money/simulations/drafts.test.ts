import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import type { Address, Answer, PolicySimulation } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let address: Address
let everyoneId: string

beforeAll(async () => {
  bench = await createTransferBench()
  address = await bench.fundedAddress()
  const { items } = (await bench.vault.admin.get('/vaults/main-vault/policy-groups?limit=100')).body
  everyoneId = items.find(({ code }) => code === 'everyone')!.id
})
afterAll(() => bench.close())

const above = (value: string) => [
  { conditionType: 'require', selectors: [{ selectorType: 'amount', value: { op: 'gt', value } }] },
]
const policy = (code: string, more: object = {}) => ({
  ...{ groupId: everyoneId, code, name: code, actionType: 'transfer', effect: 'block' },
  ...more,
})
const simulate = (amount: string, draft: object, by: Person = bench.vault.admin) =>
  by.post('/vaults/main-vault/policies/simulate', {
    actionType: 'transfer',
    payload: { fromAddressId: address.id, toAddress: bench.recipient, amount },
    draft,
  })
const effectOf = async (amount: string, mode: string, ...policies: object[]) => {
  const { status, body } = await simulate(amount, { mode, policies })
  expect(status, JSON.stringify(body)).toBe(200)
  return body.effect
}
const faultsOf = ({ status, body }: Answer) => [status, body.details?.map(({ field }) => field)]

describe('simulating policies that are not saved', () => {
  it('adds drafts to the saved policies, or decides by the drafts alone, and saves none', async () => {
    const before = [await bench.count('policies'), await bench.count('audit_records')]
    expect(await effectOf('50', 'add')).toBe('allow')
    expect(await effectOf('50', 'add', policy('cap', { rules: above('40') }))).toBe('block')
    expect(await effectOf('30', 'add', policy('cap', { rules: above('40') }))).toBe('allow')
    expect(await effectOf('50', 'replace')).toBe('deny')
    expect(await effectOf('5000000', 'replace', policy('all', { effect: 'allow' }))).toBe('allow')
    expect([await bench.count('policies'), await bench.count('audit_records')]).toEqual(before)
  })

  it('uses a draft in place of the saved policy of its code, with its id', async () => {
    expect(await effectOf('200', 'add')).toBe('approval')
    const edited = policy('large', { effect: 'requireApproval', approvalThreshold: 1, rules: above('300') })
    const { body } = await simulate('400', { mode: 'add', policies: [edited] })
    const saved = (await simulate('400', { mode: 'add', policies: [] })).body
    const idOf = ({ trace }: PolicySimulation) => trace.find(({ policyCode }) => policyCode === 'large')!.policyId
    expect(idOf(body)).toBe(idOf(saved))
    expect([saved.requirements[0]!.threshold, body.requirements[0]!.threshold]).toEqual([2, 1])
    expect(await effectOf('50', 'add', policy('small', { effect: 'allow', enabled: false }))).toBe('deny')
  })

  it('uses drafts only for their action and for the groups of the initiator', async () => {
    expect(await effectOf('50', 'add', policy('others', { groupId: bench.approversId }))).toBe('allow')
    expect(await effectOf('50', 'add', policy('addresses', { actionType: 'create_address' }))).toBe('allow')
    expect(await effectOf('50', 'add', policy('off', { enabled: false }))).toBe('allow')
  })

  it('sums the velocity of a draft', async () => {
    expect((await bench.order(address.id, '60')).status).toBe(201)
    const value = { op: 'gt', value: '100', windowSeconds: 3600, per: 'vault' }
    const limit = policy('daily', {
      rules: [{ conditionType: 'require', selectors: [{ selectorType: 'velocityAmount', value }] }],
    })
    expect([await effectOf('40', 'add', limit), await effectOf('41', 'add', limit)]).toEqual(['allow', 'block'])
  })

  it('refuses everything that createPolicy refuses, by its path, and a code that occurs twice', async () => {
    const rules = (selectorType: string, value: unknown) => ({
      rules: [{ conditionType: 'require', selectors: [{ selectorType, value }] }],
    })
    const faulty = [
      policy('a', { groupId: newId() }),
      policy('b', { effect: 'requireApproval' }),
      policy('c', rules('amount', { op: 'gt', value: 1 })),
      policy('d', rules('token', 'NONE')),
      policy('e', rules('addressGroup', 'nowhere')),
      policy('b', {}),
    ]
    expect(faultsOf(await simulate('1', { mode: 'add', policies: faulty }))).toEqual([
      400,
      [
        'draft.policies.0.groupId',
        'draft.policies.1.approvalThreshold',
        'draft.policies.2.rules.0.selectors.0.value.value',
        'draft.policies.3.rules.0.selectors.0.value',
        'draft.policies.4.rules.0.selectors.0.value',
        'draft.policies.5.code',
      ],
    ])
    expect(faultsOf(await simulate('1', { mode: 'or', policies: [] }))).toEqual([400, ['draft.mode']])
    const many = Array.from({ length: 101 }, (_, i) => policy(`p-${i}`))
    expect(faultsOf(await simulate('1', { mode: 'add', policies: many }))).toEqual([400, ['draft.policies']])
  })

  it('T39 is for administrators, because freely chosen bounds would reveal the sums of others', async () => {
    const answer = await simulate('1', { mode: 'add', policies: [] }, bench.owner)
    expect([answer.status, answer.body.reason]).toEqual([403, 'administrator_required'])
  })
})

describe('the selectors as data', () => {
  it('show every member the inputs of createPolicy', async () => {
    const { status, body } = await bench.owner.get('/vaults/main-vault/policies/selectors')
    expect(status).toBe(200)
    const ofTransfers = body.actionTypes.find(({ actionType }) => actionType === 'transfer')
    expect(ofTransfers!.selectors.find(({ selectorType }) => selectorType === 'amount')).toEqual({
      selectorType: 'amount',
      label: 'Amount',
      summary: 'amount in token units',
      names: null,
      operators: ['gt', 'gte', 'lt', 'lte', 'between'],
      valueSchema: expect.objectContaining({ anyOf: expect.any(Array) }),
    })
    const ofGroups = body.actionTypes.find(({ actionType }) => actionType === 'counterparty_group_create')
    const types = ofGroups!.selectors.map(({ selectorType }) => selectorType)
    expect(types).toEqual(['initiator', 'initiatorGroup', 'initiatorKind', 'time'])
  })
})
