import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runDueExports } from '../modules/reports/exports/due-exports.ts'
import type { Person } from '../testing/app.ts'
import { fakeAddress } from '../testing/fake-wallet.ts'
import { addMember, createPolicy } from '../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'

let bench: TransferBench
let auditor: Person
let voter: Person
let addressId: string
beforeAll(async () => {
  bench = await createTransferBench()
  const { test, vault } = bench
  auditor = await addMember(test, vault, 'auditor@example.org', ['auditors', 'finance'])
  addressId = (await bench.fundedAddress()).id
  voter = await addMember(test, vault, 'voter@example.org', ['voters'])
})
afterAll(() => bench.close())

const url = '/vaults/main-vault'
const groupId = async (code: string) => {
  const { body } = await bench.vault.admin.get(`${url}/policy-groups?limit=100`)
  return body.items.find((group) => group.code === code)!.id as string
}
const order = () => ({ fromAddressId: addressId, toAddress: fakeAddress('shop'), amount: '0.01' })

describe('the group of the auditors', () => {
  it('is in every vault, keeps its code, and may be empty', async () => {
    const { admin } = bench.vault
    const id = await groupId('auditors')
    expect((await admin.get(`/policy-groups/${id}`)).body).toMatchObject({ isSystem: true, name: 'Auditors' })
    expect((await admin.patch(`/policy-groups/${id}`, { code: 'others' })).body).toMatchObject({
      reason: 'system_object',
    })
    expect((await admin.delete(`/policy-groups/${id}`)).body).toMatchObject({ reason: 'system_object' })
    const guest = await addMember(bench.test, bench.vault, 'guest@example.org', ['auditors'])
    expect((await admin.delete(`/policy-groups/${id}/members/${guest.userId}`)).status).toBe(204)
    expect((await guest.get(`${url}/me`)).status).toBe(403)
  })

  it('does not make an administrator an auditor', async () => {
    const both = await addMember(bench.test, bench.vault, 'both@example.org', ['administrators', 'auditors'])
    expect((await both.get(`${url}/me`)).body).toMatchObject({ isAdmin: true, isAuditor: false })
    expect((await both.post(`${url}/policy-groups`, { code: 'by-both', name: 'By both' })).status).toBe(201)
  })
})

describe('an auditor', () => {
  it('reads the same lists as an administrator', async () => {
    await bench.order(addressId, '0.5')
    const { admin } = bench.vault
    expect((await auditor.get(`${url}/me`)).body).toMatchObject({ isAdmin: false, isAuditor: true })
    const lists = ['addresses', 'balances', 'deposits', 'deposits?outcome=ignored', 'transfers', 'history', 'policies']
    const others = [
      'audit-log',
      'audit-log/seals',
      'invitations',
      'service-tokens',
      'approval-requests',
      'address-groups',
      'counterparties',
    ]
    for (const list of [...lists, ...others, 'ledger/reconciliation', 'reports/transaction_activity?from=2026-01-01']) {
      const [auditorAnswer, adminAnswer] = [await auditor.get(`${url}/${list}`), await admin.get(`${url}/${list}`)]
      expect([auditorAnswer.status, adminAnswer.status], `${list} ${JSON.stringify(auditorAnswer.body)}`).toEqual([
        200, 200,
      ])
      if (auditorAnswer.body.items !== undefined)
        expect(auditorAnswer.body.items.length, list).toBe(adminAnswer.body.items.length)
    }
    const { items } = (await auditor.get(`${url}/addresses`)).body
    expect(items.map(({ id }) => id)).toContain(addressId)
  })

  it('changes nothing, although policies of everybody and of their group allow it', async () => {
    await createPolicy(bench.vault, { code: 'any-address', name: 'Any', actionType: 'create_address', effect: 'allow' })
    const { may } = (await auditor.get(`${url}/me`)).body
    expect(new Set(Object.values(may))).toEqual(new Set(['deny']))
    const addresses = { network: 'ethereum', segments: { purpose: 'ops' } }
    for (const [path, body] of [
      ['addresses', addresses],
      ['transfers', order()],
      ['address-groups', { name: 'Mine' }],
      ['counterparties', { name: 'Mine', kind: 'company' }],
      ['policy-groups', { code: 'mine', name: 'Mine' }],
    ] as const) {
      const answer = await auditor.post(`${url}/${path}`, body)
      expect([answer.status, path]).toEqual([403, path])
      expect(answer.body.reason).toBe('auditor_reads_only')
    }
    expect((await bench.owner.post(`${url}/addresses`, addresses)).status).toBe(201)
  })

  it('simulates, and exports the data that they may read', async () => {
    const payload = order()
    const simulation = { actionType: 'transfer', initiatorId: bench.owner.userId, payload }
    expect((await auditor.post(`${url}/policies/simulate`, simulation)).status).toBe(200)
    const exported = await auditor.post(`${url}/reports/transaction_activity/exports`, { format: 'csv' })
    expect(exported.status).toBe(202)
    await runDueExports(bench.test.deps, new AbortController().signal)
    const { body } = await auditor.get(`${url}/reports/exports/${exported.body.id}`)
    expect(body).toMatchObject({ state: 'done' })
    expect((await auditor.get(`${url}/reports/exports/${exported.body.id}/download`)).status).toBe(200)
  })

  it('T33 has no vote, and one given before they became an auditor no longer counts', async () => {
    const { vault, test } = bench
    const second = await addMember(test, vault, 'second@example.org', ['voters'])
    const voters = await groupId('voters')
    const approvers = [
      { kind: 'group', groupId: voters },
      { kind: 'user', userId: auditor.userId },
    ]
    await bench.policy({ code: 'two-votes', effect: 'requireApproval', approvalThreshold: 2, approvers })
    const { id } = (await bench.owner.post(`${url}/transfers`, order())).body
    const named = (await bench.owner.get(`${url}/transfers/${id}`)).body.approvers
    expect(named.map(({ userId }) => userId).sort()).toEqual([voter.userId, second.userId].sort())
    expect((await second.post(`${url}/transfers/${id}/approve`)).status).toBe(200)
    await vault.admin.post(`/policy-groups/${await groupId('auditors')}/members`, { userId: second.userId })
    expect((await voter.post(`${url}/transfers/${id}/approve`)).body).toMatchObject({ status: 'awaiting_approval' })
    const late = await second.post(`${url}/transfers/${id}/approve`)
    expect(late.body).toMatchObject({ reason: 'auditor_reads_only' })
    const another = await bench.owner.post(`${url}/transfers`, order())
    expect(another.body).toMatchObject({ reason: 'quorum_unreachable' })
  })
})
