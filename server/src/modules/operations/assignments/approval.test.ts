import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address, Answer, ApprovalRequest } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, ensureGroup } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let admin: Person
let address: Address
const base = '/vaults/main-vault'

beforeAll(async () => {
  bench = await createTransferBench()
  admin = bench.vault.admin
  address = await bench.fundedAddress()
})
afterAll(() => bench.close())

let counter = 0
const invoice = { key: 'invoice', label: 'Invoice', type: 'text', required: true }
const salary = { key: 'salary', label: 'Salary', type: 'number', scale: 0, sensitive: true }

/** By default any change needs two votes of the group `approvers`. */
async function category(more: object = {}, approvers?: object[]) {
  counter += 1
  const scopes = { viewScope: 'vault_members', assignScope: 'owner_only', editScope: 'owner_only' }
  const approval = { approvalScope: 'assign_and_edit', approvalThreshold: 2 }
  const body = {
    key: `category_${counter}`,
    name: `Category ${counter}`,
    appliesTo: 'both',
    ...scopes,
    ...approval,
    ...more,
  }
  const { id } = expectStatus(await admin.post(`${base}/operation-categories`, body), 201)
  for (const field of [invoice, salary]) {
    expectStatus(await admin.post(`${base}/operation-categories/${id}/fields`, field), 201)
  }
  const voters = approvers ?? [{ kind: 'group', groupId: bench.approversId }]
  expectStatus(await admin.put(`${base}/operation-categories/${id}/approvers`, { approvers: voters }), 200)
  return expectStatus(await admin.get(`${base}/operation-categories/${id}`), 200)
}

function expectStatus<Body>(answer: Answer<Body>, status: number): Body {
  expect(answer.status, JSON.stringify(answer.body)).toBe(status)
  return answer.body
}

const order = async (by = bench.owner, from = address) => {
  const body = { fromAddressId: from.id, toAddress: bench.recipient, amount: '1' }
  return expectStatus(await by.post(`${base}/transfers`, body), 201).id as string
}
const pathOf = (id: string) => `${base}/operations/transfer/${id}/categories` as const
const put = (by: Person, id: string, category: { id: string }, values: object = { invoice: '4711' }) =>
  by.put(`${pathOf(id)}/${category.id}`, { values })
const remove = (by: Person, id: string, category: { id: string }) => by.delete(`${pathOf(id)}/${category.id}`)
const items = async (id: string) => (await admin.get(pathOf(id))).body.items
const waiting = (answer: Answer<{ request: ApprovalRequest }>) => expectStatus(answer, 202).request
const vote = (by: Person, { id }: { id: string }, verb: 'approve' | 'reject' | 'cancel' = 'approve') =>
  by.post(`${base}/approval-requests/${id}/${verb}`)
const read = async ({ id }: { id: string }) => (await admin.get(`${base}/approval-requests/${id}`)).body
const approveBoth = async (request: { id: string }) => {
  expectStatus(await vote(bench.firstApprover, request), 200)
  return vote(bench.secondApprover, request)
}

describe('a category that demands approval', () => {
  it('assigns with the last vote, exactly as voted on', async () => {
    const newCategory = await category()
    const id = await order()
    const request = waiting(await put(bench.owner, id, newCategory, { invoice: '4711', salary: '9000' }))
    expect(request).toMatchObject({
      action: 'category_assign',
      status: 'pending',
      initiatorId: bench.owner.userId,
      targetType: 'category_assignment',
      targetId: null,
      baseVersion: String(newCategory.version),
      payload: {
        operationType: 'transfer',
        operationId: id,
        categoryId: newCategory.id,
        values: { invoice: '4711', salary: '9000' },
      },
      decisionPolicyId: newCategory.id,
      decisionPolicyCode: newCategory.key,
      approvalThreshold: 2,
      requirements: [
        {
          stepIndex: 0,
          policyId: newCategory.id,
          policyCode: newCategory.key,
          threshold: 2,
          approvalsCount: 0,
          bypassed: false,
        },
      ],
      quorumReachable: true,
    })
    expect(await items(id)).toEqual([])
    expectStatus(await vote(bench.firstApprover, request), 200)
    expect(await items(id)).toEqual([])
    const applied = expectStatus(await vote(bench.secondApprover, request), 200)
    const [assignment] = await items(id)
    expect(assignment).toMatchObject({
      categoryId: newCategory.id,
      values: { invoice: '4711', salary: '9000' },
      version: 1,
      assignedById: bench.owner.userId,
    })
    expect([applied.status, applied.resolvedResultId]).toEqual(['applied', assignment!.id])
    expect(await bench.audited('category_assignment.assigned', id)).toBe(1)
    const mails = await bench.sql(
      'select kind, user_id from notifications where subject_id = $1 order by kind, user_id',
      [request.id],
    )
    const voters = [bench.firstApprover, bench.secondApprover, bench.thirdApprover].map(({ userId }) => userId).sort()
    expect(mails).toEqual([
      ...voters.map((user_id) => ({ kind: 'approval_needed', user_id })),
      { kind: 'decided', user_id: bench.owner.userId },
    ])
  })

  it('edits and unassigns with the last vote', async () => {
    const newCategory = await category({ approvalScope: 'edit' })
    const id = await order()
    const { id: assignmentId } = expectStatus(await put(bench.owner, id, newCategory), 201)
    const edit = waiting(await put(bench.owner, id, newCategory, { salary: '1' }))
    expect(edit).toMatchObject({
      action: 'category_edit',
      targetId: assignmentId,
      baseVersion: `${newCategory.version}:1`,
      payload: { values: { invoice: '4711', salary: '1' } },
    })
    expect((await items(id))[0]!.version).toBe(1)
    expectStatus(await approveBoth(edit), 200)
    expect((await items(id))[0]).toMatchObject({
      id: assignmentId,
      version: 2,
      values: { invoice: '4711', salary: '1' },
    })

    const unassign = waiting(await remove(bench.owner, id, newCategory))
    expect(unassign).toMatchObject({ action: 'category_edit', payload: { values: null } })
    expect(await items(id)).toHaveLength(1)
    const applied = expectStatus(await approveBoth(unassign), 200)
    expect([applied.status, applied.resolvedResultId]).toEqual(['applied', assignmentId])
    expect(await items(id)).toEqual([])
  })

  it('requires votes of administrators when it names no approvers, and of the initiator only when permitted', async () => {
    const solo = await category({ approvalThreshold: 1 }, [])
    const id = await order()
    const request = waiting(await put(bench.owner, id, solo))
    expect(request.approvers.map(({ userId }) => userId)).toEqual([admin.userId])
    expectStatus(await vote(admin, request), 200)
    expect(await items(id)).toHaveLength(1)

    const approvers = [{ kind: 'user', userId: bench.owner.userId }]
    const closed = await category({ approvalThreshold: 1 }, approvers)
    const refused = await put(bench.owner, id, closed)
    expect([refused.status, refused.body.message]).toEqual([409, 'quorum unreachable'])
    const allowed = await category({ approvalThreshold: 1, allowInitiatorApproval: true }, approvers)
    expectStatus(await vote(bench.owner, waiting(await put(bench.owner, id, allowed))), 200)
    expect(await items(id)).toHaveLength(2)
  })

  it('T35 does not waive votes for an administrator', async () => {
    const newCategory = await category()
    const id = await order()
    const request = waiting(await put(admin, id, newCategory))
    expect((await vote(admin, request)).status).toBe(403)
    expect(await items(id)).toEqual([])
  })

  it('assigns nothing after a veto or a cancellation', async () => {
    const newCategory = await category()
    const id = await order()
    const vetoed = waiting(await put(bench.owner, id, newCategory))
    expectStatus(await vote(bench.firstApprover, vetoed, 'reject'), 200)
    const taken = waiting(await put(bench.owner, id, newCategory))
    expectStatus(await vote(bench.owner, taken, 'cancel'), 200)
    expect((await read(vetoed)).status).toBe('rejected')
    expect((await read(taken)).status).toBe('cancelled')
    expect((await vote(bench.firstApprover, taken)).status).toBe(409)
    expect(await items(id)).toEqual([])
  })

  it('is checked before a request is created: 400, 403, 404 and 409 as without approval', async () => {
    const newCategory = await category()
    const id = await order()
    const count = () => bench.count('approval_requests')
    const before = await count()
    expect((await put(bench.owner, id, newCategory, {})).body.message).toBe('values.invoice: is required')
    expect((await remove(bench.owner, id, newCategory)).status).toBe(404)
    expect((await put(bench.firstApprover, id, newCategory)).status).toBe(404)
    const { id: waitingId } = (await bench.order(address.id, '200')).body
    expect((await put(bench.firstApprover, waitingId, newCategory)).status).toBe(403)
    expectStatus(await admin.patch(`${base}/operation-categories/${newCategory.id}`, { archived: true }), 200)
    expect((await put(bench.owner, id, newCategory)).status).toBe(409)
    expect(await count()).toBe(before)
  })

  it('T39 shows its requests only to the initiator, the approvers and administrators', async () => {
    const newCategory = await category()
    const request = waiting(await put(bench.owner, await order(), newCategory, { invoice: '1', salary: '9000' }))
    const bystander = await addMember(bench.test, bench.vault, 'bystander@example.org')
    const statuses = await Promise.all(
      [bench.owner, bench.thirdApprover, admin, bystander].map(
        async (by) => (await by.get(`${base}/approval-requests/${request.id}`)).status,
      ),
    )
    expect(statuses).toEqual([200, 200, 200, 404])
    const listed = await bench.firstApprover.get(
      `${base}/approval-requests?action=category_assign&awaitingMyApproval=true`,
    )
    expect(listed.body.items.map(({ id }) => id)).toContain(request.id)
  })
})

describe('the application of an approved change', () => {
  const staleWith = async (request: { id: string }) => {
    const last = await approveBoth(request)
    expect(last.status).toBe(409)
    expect((await read(request)).status).toBe('stale')
  }

  it('T38 makes the request stale when the category has changed', async () => {
    const newCategory = await category()
    const id = await order()
    const request = waiting(await put(bench.owner, id, newCategory))
    expectStatus(await admin.patch(`${base}/operation-categories/${newCategory.id}`, { approvalThreshold: 3 }), 200)
    await staleWith(request)
    const archived = waiting(await put(bench.owner, id, newCategory))
    expectStatus(await admin.patch(`${base}/operation-categories/${newCategory.id}`, { archived: true }), 200)
    expectStatus(await vote(bench.thirdApprover, archived), 200)
    await staleWith(archived)
    expect(await items(id)).toEqual([])
  })

  it('T38 makes the second of two competing requests stale', async () => {
    const newCategory = await category()
    const id = await order()
    const [first, second] = [
      waiting(await put(bench.owner, id, newCategory)),
      waiting(await put(bench.owner, id, newCategory, { invoice: '2' })),
    ]
    expectStatus(await approveBoth(second), 200)
    await staleWith(first)
    const edits = [
      waiting(await put(bench.owner, id, newCategory, { salary: '1' })),
      waiting(await put(bench.owner, id, newCategory, { salary: '2' })),
    ]
    expectStatus(await approveBoth(edits[0]!), 200)
    await staleWith(edits[1]!)
    const removals = [
      waiting(await remove(bench.owner, id, newCategory)),
      waiting(await remove(bench.owner, id, newCategory)),
    ]
    expectStatus(await approveBoth(removals[0]!), 200)
    await staleWith(removals[1]!)
    expect(await items(id)).toEqual([])
  })

  it('T38 makes the request stale when the assignment was removed and made again', async () => {
    const newCategory = await category({ approvalScope: 'edit', editScope: 'owner_only' })
    const id = await order()
    expectStatus(await put(bench.owner, id, newCategory), 201)
    const edit = waiting(await put(bench.owner, id, newCategory, { salary: '1' }))
    expectStatus(await approveBoth(waiting(await remove(bench.owner, id, newCategory))), 200)
    expectStatus(await put(bench.owner, id, newCategory), 201)
    await staleWith(edit)
  })

  it('T29 fails when the initiator lost the right, and waits when the initiator left the vault', async () => {
    const clerks = await ensureGroup(bench.vault, 'clerks')
    const clerk = await addMember(bench.test, bench.vault, 'clerk@example.org', ['clerks', 'treasury'])
    const newCategory = await category({ assignScope: 'restricted' })
    const grants = [{ subjectType: 'group', subjectGroupId: clerks, canView: true, canAssign: true }]
    expectStatus(await admin.put(`${base}/operation-categories/${newCategory.id}/grants`, { grants }), 200)
    const id = await order(clerk, await bench.fundedAddress({}, clerk))
    const [first, second] = [waiting(await put(clerk, id, newCategory)), waiting(await put(clerk, id, newCategory))]
    expect((await admin.delete(`/policy-groups/${clerks}/members/${clerk.userId}`)).status).toBe(204)
    expect((await approveBoth(first)).status).toBe(409)
    expect(await read(first)).toMatchObject({ status: 'failed', failureReason: 'You may not assign this category' })

    const treasury = await ensureGroup(bench.vault, 'treasury')
    expect((await admin.delete(`/policy-groups/${treasury}/members/${clerk.userId}`)).status).toBe(204)
    const last = await approveBoth(second)
    expect([last.status, (await read(second)).status]).toEqual([409, 'pending'])
    expect(await items(id)).toEqual([])
  })

  it('T27 accepts no vote on a payload that was tampered with', async () => {
    const newCategory = await category()
    const id = await order()
    const request = waiting(await put(bench.owner, id, newCategory))
    await bench.sql(
      `update approval_requests set steps = jsonb_set(steps, '{0,step,payload,values,invoice}', '"1"') where id = $1`,
      [request.id],
    )
    expect((await vote(bench.firstApprover, request)).status).toBe(409)
    expect(await items(id)).toEqual([])
  })

  it('T37 is neither a step of a composite request nor an action that policies are simulated on', async () => {
    const newCategory = await category()
    const payload = {
      operationType: 'transfer',
      operationId: await order(),
      categoryId: newCategory.id,
      values: { invoice: '1' },
    }
    for (const action of ['category_assign', 'category_edit', 'create_address']) {
      const answer = await bench.owner.post(`${base}/approval-requests/composite`, { steps: [{ action, payload }] })
      expect([action, answer.status]).toEqual([action, 400])
      if (action === 'create_address') continue
      const simulated = await bench.owner.post(`${base}/policies/simulate`, { actionType: action, payload })
      expect([action, simulated.status]).toEqual([action, 400])
    }
  })

  it('is independent of policies', async () => {
    const actionType = 'category_assign'
    const policy = { code: 'nothing', name: 'Nothing', actionType, effect: 'block' }
    expect((await admin.post(`/policy-groups/${bench.vault.groups.everyone}/policies`, policy)).status).toBe(400)
  })
})
