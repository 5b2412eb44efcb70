import pg from 'pg'
import { expect } from 'vitest'
import { governedOf } from '../composition/governed.ts'
import { applyDueChangeSets } from '../modules/rules/change-sets/due.ts'
import type { AnswerOf, BodyOf } from './answer.ts'
import { createTestApp, type Person, type TestApp } from './app.ts'
import { addMember, createVaultFixture, ensureGroup, type VaultFixture } from './fixtures.ts'

export type Change = { action: string; targetId?: string; payload: object }

/** A vault with four administrators, and the functions with which tests change its rules. */
export type GovernanceBench = {
  test: TestApp
  vault: VaultFixture
  /** The administrators, the creator of the vault first. */
  admins: Person[]
  member: Person
  membersId: string
  url: `/vaults/${string}`
  govern(settings?: object, by?: Person): Promise<AnswerOf<'put', '/vaults/v/governance'>>
  draft(changes: Change[], by?: Person, title?: string): Promise<AnswerOf<'post', '/vaults/v/change-sets'>>
  submit(id: string, by?: Person): Promise<AnswerOf<'post', '/vaults/v/change-sets/c/submit'>>
  changeSet(id: string, by?: Person): Promise<BodyOf<'get', '/vaults/v/change-sets/c'>>
  approve(by: Person, requestId: string): Promise<AnswerOf<'post', '/vaults/v/approval-requests/r/approve'>>
  /** Runs the task for due changes. */
  applyDue(): Promise<void>
  versions(): Promise<BodyOf<'get', '/vaults/v/rules/versions'>['items']>
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

export async function createGovernanceBench(env: Record<string, string> = {}): Promise<GovernanceBench> {
  const test = await createTestApp(env)
  const vault = await createVaultFixture(test)
  const others = []
  for (const name of ['second', 'third', 'fourth']) {
    others.push(await addMember(test, vault, `${name}@example.org`, ['administrators']))
  }
  const member = await addMember(test, vault, 'member@example.org', ['members'])
  const membersId = await ensureGroup(vault, 'members')
  const url = `/vaults/${vault.code}` as const
  const owner = new pg.Pool({ connectionString: test.databaseUrl, max: 2 })
  owner.on('error', () => {})
  const off = { threshold: 0, looseningDelayHours: 0, tighteningDelayHours: 0 }
  const admins = [vault.admin, ...others]
  return {
    test,
    vault,
    admins,
    member,
    membersId,
    url,
    govern: (settings = {}, by = vault.admin) => by.put(`${url}/governance`, { ...off, threshold: 2, ...settings }),
    draft: (changes, by = vault.admin, title = 'A change') => by.post(`${url}/change-sets`, { title, changes }),
    submit: (id, by = vault.admin) => by.post(`${url}/change-sets/${id}/submit`),
    async changeSet(id, by = vault.admin) {
      const { status, body } = await by.get(`${url}/change-sets/${id}`)
      expect(status, JSON.stringify(body)).toBe(200)
      return body
    },
    approve: (by, requestId) => by.post(`${url}/approval-requests/${requestId}/approve`),
    applyDue: () => applyDueChangeSets({ deps: test.deps, governed: governedOf(test.deps) }),
    versions: async () => (await vault.admin.get(`${url}/rules/versions?limit=100`)).body.items,
    sql: async (text, values = []) => (await owner.query(text, values)).rows,
    async close() {
      await owner.end()
      await test.close()
    },
  }
}

export const allowTransfers = {
  code: 'allow-transfers',
  name: 'Allow transfers',
  actionType: 'transfer',
  effect: 'allow',
}
export const blockTransfers = { ...allowTransfers, code: 'block-transfers', name: 'Block transfers', effect: 'block' }
