import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, ensureGroup } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyTransfers } from './compare-order.ts'

let bench: TransferBench
let treasury: string
let compliance: string
let both: Person
let officer: Person
let source: Address
let policyId: string

/** Two of the approvers and one user of compliance; one user is in both groups. */
beforeAll(async () => {
  bench = await createTransferBench()
  treasury = bench.approversId
  both = await addMember(bench.test, bench.vault, 'both@example.org', ['approvers', 'compliance'])
  officer = await addMember(bench.test, bench.vault, 'officer@example.org', ['compliance'])
  compliance = await ensureGroup(bench.vault, 'compliance')
  source = await bench.fundedAddress({ usdt: '100000' })
  const rules = [
    { conditionType: 'require', selectors: [{ selectorType: 'amount', value: { op: 'gt', value: '500' } }] },
  ]
  const policy = await bench.policy({ code: 'two-and-one', effect: 'requireApproval', ...ofGroups(3, 2, 1), rules })
  policyId = policy.id
  expect(policy.approvers.map(({ threshold }) => threshold)).toEqual([2, 1])
})
afterAll(() => bench.close())

const ofGroups = (approvalThreshold: number, ofTreasury?: number, ofCompliance?: number) => ({
  approvalThreshold,
  approvers: [
    { kind: 'group', groupId: treasury, ...(ofTreasury === undefined ? {} : { threshold: ofTreasury }) },
    { kind: 'group', groupId: compliance, ...(ofCompliance === undefined ? {} : { threshold: ofCompliance }) },
  ],
})
const order = async (): Promise<string> => {
  const { status, body } = await bench.order(source.id, '501')
  expect([status, body.status]).toEqual([201, 'awaiting_approval'])
  return body.id
}
const approve = async (id: string, ...voters: Person[]) => {
  for (const voter of voters) expect((await bench.act(voter, id, 'approve')).status).toBe(200)
  const transfer = await bench.read(id)
  const requirement = transfer.approvalRequirements.find(({ policyId: of }) => of === policyId)
  return {
    status: transfer.status,
    missing: requirement!.votesMissing,
    given: requirement!.groups.map(countOf),
    isReachable: transfer.quorumReachable,
  }
}
const countOf = ({ approvalsCount }: { approvalsCount: number }) => approvalsCount

it('T34 two votes of one group and one of another need three people', async () => {
  const id = await order()
  expect(await approve(id, bench.firstApprover, bench.secondApprover)).toMatchObject({ missing: 1, given: [2, 0] })
  // A third vote of one group does not count for the other group.
  expect(await approve(id, bench.thirdApprover)).toMatchObject({
    status: 'awaiting_approval',
    missing: 1,
    given: [2, 0],
  })
  const waiting = (await officer.get('/inbox')).body.items.find((item) => item.id === id)
  expect(waiting!.votes).toEqual({ given: 3, needed: 4 })
  expect(await approve(id, officer)).toMatchObject({ status: 'pending', missing: 0, given: [2, 1] })
})

it('T34 the vote of a member of both groups counts for one of them', async () => {
  const id = await order()
  expect(await approve(id, bench.firstApprover, both)).toMatchObject({
    status: 'awaiting_approval',
    missing: 1,
    given: [2, 1],
  })
  expect(await approve(id, officer)).toMatchObject({ status: 'pending' })
  const other = await order()
  // The vote counts for the group that needs it.
  expect(await approve(other, both, bench.firstApprover)).toMatchObject({ missing: 1 })
  expect(await approve(other, bench.secondApprover)).toMatchObject({ status: 'pending', missing: 0 })
})

it('T34 the groups of each voter are compared with the record', async () => {
  const id = await order()
  await approve(id, bench.firstApprover, bench.secondApprover)
  await bench.sql('update approval_requirements set group_thresholds = null where subject_id = $1', [id])
  const voted = await bench.act(bench.thirdApprover, id, 'approve')
  expect([voted.status, voted.body.reason]).toEqual([409, 'transfer_halted'])
  const { differences } = await verifyTransfers(bench.test.deps.db)
  expect(differences.map(({ targetId }) => targetId)).toEqual([id])
})

it('T34 an order that its groups could never approve is refused', async () => {
  await bench.vault.admin.patch(`/policies/${policyId}`, ofGroups(5, 2, 3))
  const refused = await bench.order(source.id, '501')
  expect([refused.status, refused.body.reason]).toEqual([409, 'quorum_unreachable'])
  const preview = await bench.owner.post('/vaults/main-vault/transfers/preview', {
    ...{ fromAddressId: source.id, toAddress: bench.recipient, amount: '501' },
  })
  const codes = preview.body.problems.map(({ code }) => code)
  expect(codes).toContain('quorum_unreachable')
  const ofPolicy = preview.body.decision.requirements.find((requirement) => requirement.policyId === policyId)
  expect(ofPolicy!.groups).toEqual([
    { groupId: treasury, threshold: 2 },
    { groupId: compliance, threshold: 3 },
  ])
  await bench.vault.admin.patch(`/policies/${policyId}`, ofGroups(3, 2, 1))
})

it('T34 a user who leaves the group no longer counts for it', async () => {
  const id = await order()
  await approve(id, bench.firstApprover, both)
  expect((await bench.vault.admin.delete(`/policy-groups/${compliance}/members/${officer.userId}`)).status).toBe(204)
  expect(await approve(id)).toMatchObject({ missing: 1, isReachable: true })
  expect((await bench.vault.admin.delete(`/policy-groups/${compliance}/members/${both.userId}`)).status).toBe(204)
  expect(await approve(id)).toMatchObject({ isReachable: false, given: [2, 0] })
  for (const person of [officer, both])
    await bench.vault.admin.post(`/policy-groups/${compliance}/members`, { userId: person.userId })
})

it('refuses thresholds that a policy cannot have', async () => {
  const fieldsOf = async (body: object) => {
    const { status, body: answer } = await bench.vault.admin.patch(`/policies/${policyId}`, body)
    expect(status).toBe(400)
    return answer.details.map(({ field }) => field)
  }
  expect(await fieldsOf(ofGroups(2, 2, 1))).toEqual(['approvalThreshold'])
  expect(await fieldsOf(ofGroups(3, 0))).toEqual(['approvers.0.threshold'])
  const named = { kind: 'user', userId: officer.userId, threshold: 1 }
  expect(await fieldsOf({ approvalThreshold: 1, approvers: [named] })).toEqual(['approvers.0.threshold'])
})

it('thresholds are announced, and records without them stay as they were', async () => {
  const contentsOf = async (action: string) =>
    (await bench.sql('select content from audit_records where action = $1', [action])).map(({ content }) => content)
  expect((await contentsOf('policy.updated')).join()).toContain('"threshold":3')
  const requested = (await contentsOf('transfer.requested')).map((content) => JSON.parse(content).details.requirements)
  const large = requested.flat().find(({ policyCode }: { policyCode: string }) => policyCode === 'large')
  expect(Object.keys(large).sort()).toEqual(['bypassed', 'policyCode', 'policyId', 'stepIndex', 'threshold', 'voters'])
})
