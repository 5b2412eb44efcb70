import pg from 'pg'
import { expect } from 'vitest'
import type { AnswerOf, ApprovalRequest, BodyOf, Policy } from './answer.ts'
import { createTestApp, type Person, type TestApp } from './app.ts'
import { addMember, createPolicy, createVaultFixture, ensureGroup, type VaultFixture } from './fixtures.ts'

export type ChainStep = { action: string; payload: Record<string, unknown>; targetId?: string }

/** A vault whose gated actions wait for votes, and the functions with which tests request them and vote. */
export type ApprovalBench = {
  test: TestApp
  vault: VaultFixture
  /** Makes the requests; in the group `makers`. */
  maker: Person
  /** A member of the group `approvers`. */
  firstApprover: Person
  secondApprover: Person
  thirdApprover: Person
  approversId: string
  makersId: string
  /** Adds a policy to the group `everyone`. Its name is its code. */
  policy(body: Record<string, unknown>): Promise<Policy>
  chain(steps: ChainStep[], by?: Person): Promise<AnswerOf<'post', '/vaults/v/approval-requests/composite'>>
  /** Makes a request with steps that must wait. Returns the request. */
  waiting(steps: ChainStep[], by?: Person): Promise<ApprovalRequest>
  read(id: string, by?: Person): Promise<BodyOf<'get', '/vaults/v/approval-requests/r'>>
  act(
    by: Person,
    id: string,
    verb: 'approve' | 'reject' | 'cancel',
    body?: object,
  ): Promise<AnswerOf<'post', '/vaults/v/approval-requests/r/approve'>>
  leave(person: Person, groupId: string): Promise<void>
  join(person: Person, groupId: string): Promise<void>
  /** Runs SQL as the owner of the database, without the knowledge of the service. */
  sql(text: string, values?: unknown[]): Promise<Record<string, string>[]>
  audited(action: string, targetId: string): Promise<number>
  /** Counts the counterparties and groups that the steps of a request may leave behind. */
  traces(): Promise<number>
  close(): Promise<void>
}

/**
 * Creates the bench. Creating counterparties needs two of three approvers, and creating addresses one. Creating groups,
 * updating counterparties and adding members are allowed to all. Nobody may archive a counterparty, and archiving groups is
 * blocked.
 */
export async function createApprovalBench(): Promise<ApprovalBench> {
  const test = await createTestApp()
  const vault = await createVaultFixture(test)
  const maker = await addMember(test, vault, 'maker@example.org', ['makers'])
  const firstApprover = await addMember(test, vault, 'first.approver@example.org', ['approvers'])
  const secondApprover = await addMember(test, vault, 'second.approver@example.org', ['approvers'])
  const thirdApprover = await addMember(test, vault, 'third.approver@example.org', ['approvers'])
  const approversId = await ensureGroup(vault, 'approvers')
  const makersId = await ensureGroup(vault, 'makers')
  const databaseOwner = new pg.Pool({ connectionString: test.databaseUrl, max: 2 })
  databaseOwner.on('error', () => {})
  const base = `/vaults/${vault.code}/approval-requests` as const
  const sql: ApprovalBench['sql'] = async (text, values = []) => (await databaseOwner.query(text, values)).rows
  const bench: ApprovalBench = {
    test,
    vault,
    maker,
    firstApprover,
    secondApprover,
    thirdApprover,
    approversId,
    makersId,
    policy: (body) => createPolicy(vault, { name: body.code, ...body }),
    chain: (steps, by = maker) => by.post(`${base}/composite`, { steps }),
    async waiting(steps, by = maker) {
      const answer = await bench.chain(steps, by)
      expect(answer.status, JSON.stringify(answer.body)).toBe(202)
      return answer.body.request
    },
    async read(id, by = vault.admin) {
      const answer = await by.get(`${base}/${id}`)
      expect(answer.status).toBe(200)
      return answer.body
    },
    act: (by, id, verb, body) => by.post(`${base}/${id}/${verb}`, body),
    async leave(person, groupId) {
      const { status } = await vault.admin.delete(`/policy-groups/${groupId}/members/${person.userId}`)
      expect(status).toBe(204)
    },
    async join(person, groupId) {
      const { status } = await vault.admin.post(`/policy-groups/${groupId}/members`, { userId: person.userId })
      expect(status).toBe(201)
    },
    sql,
    audited: async (action, targetId) =>
      Number(
        (await sql('select count(*) from audit_records where action = $1 and target_id = $2', [action, targetId]))[0]!
          .count,
      ),
    traces: async () =>
      Number(
        (
          await sql(
            `select (select count(*) from counterparties) + (select count(*) from counterparty_groups)
               + (select count(*) from counterparty_group_memberships) as count`,
          )
        )[0]!.count,
      ),
    async close() {
      await databaseOwner.end()
      await test.close()
      await vault.wallet.close()
    },
  }
  const approvers = [{ kind: 'group', groupId: approversId }]
  await bench.policy({
    code: 'two-votes',
    actionType: 'counterparty_create',
    effect: 'requireApproval',
    approvalThreshold: 2,
    approvers,
  })
  await bench.policy({
    code: 'one-vote',
    actionType: 'create_address',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers,
  })
  for (const actionType of ['counterparty_group_create', 'counterparty_group_add', 'counterparty_update']) {
    await bench.policy({ code: `allow-${actionType.replaceAll('_', '-')}`, actionType, effect: 'allow' })
  }
  await bench.policy({
    code: 'keep-groups',
    actionType: 'counterparty_group_archive',
    effect: 'block',
    blockReason: 'Groups stay',
  })
  return bench
}

export const newCounterparty = (name = 'Northwind'): ChainStep => ({
  action: 'counterparty_create',
  payload: { name, kind: 'company' },
})

let groups = 0

/** Returns a step that creates a group, with a unique code unless one is passed. */
export const newGroup = (code = `group-${++groups}`): ChainStep => ({
  action: 'counterparty_group_create',
  payload: { code, name: code },
})

export const addTo = (groupId: string, counterpartyId: string): ChainStep => ({
  action: 'counterparty_group_add',
  targetId: groupId,
  payload: { counterpartyId },
})
