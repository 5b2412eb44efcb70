import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readFigures } from '../../../jobs/watch/figures.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { insertVault, type VaultFixture } from '../../../testing/vault-fixture.ts'
import { tellEndsOfTokens } from './tell-ends.ts'

let test: TestApp
let admin: Person
let vault: VaultFixture
let groupId: string

beforeAll(async () => {
  test = await createTestApp()
  admin = await test.signIn('admin@example.org')
  vault = await insertVault(test, 'main-vault', admin)
  groupId = await vault.addGroup('bots')
})
afterAll(() => test.close())

const url = '/vaults/main-vault/service-tokens'
const days = (count: number) => count * 86_400_000
const create = async (name: string, life: number) => {
  const expiresAt = new Date(test.clock.now().getTime() + life).toISOString()
  const { status, body } = await admin.post(url, { name, groupIds: [groupId], expiresAt })
  expect(status).toBe(201)
  return body
}

/** Returns the times before the end of a token that were announced, by the name of the token. */
async function announcedFor(name: string): Promise<string[]> {
  const rows = await test.deps.db
    .selectFrom('announcements')
    .select('content')
    .where('chain', '=', vault.id)
    .orderBy('audit_record_id')
    .execute()
  const sentences = rows.map(({ content }) => content.split('\n')[0]!)
  const begin = `The service token "${name}" ends within `
  return sentences.filter((text) => text.startsWith(begin)).map((text) => text.slice(begin.length).split(';')[0]!)
}
const ending = async () => (await readFigures(test.deps.db, test.clock.now())).serviceTokensEnding

describe('the end of a service token', () => {
  it('is announced 14 days, 3 days and a day before, once each, even if several nodes look at the same time', async () => {
    const { id } = await create('Monthly', days(20))
    const look = () => Promise.all([tellEndsOfTokens(test.deps), tellEndsOfTokens(test.deps)])
    await look()
    expect([await announcedFor('Monthly'), await ending()]).toEqual([[], 0])
    test.clock.advance(days(6.5))
    await look()
    await look()
    expect([await announcedFor('Monthly'), await ending()]).toEqual([['14 days'], 1])
    test.clock.advance(days(11))
    await look()
    expect(await announcedFor('Monthly')).toEqual(['14 days', '3 days'])
    test.clock.advance(days(2))
    await look()
    await look()
    expect(await announcedFor('Monthly')).toEqual(['14 days', '3 days', 'a day'])
    test.clock.advance(days(1))
    await look()
    expect([await announcedFor('Monthly'), await ending()]).toEqual([['14 days', '3 days', 'a day'], 0])
    const records = await test.deps.db
      .selectFrom('audit_records')
      .select(['chain', 'actor_id'])
      .where('target_id', '=', id)
      .where('action', '=', 'service_token.ending')
      .execute()
    const record = { chain: vault.id, actor_id: null }
    expect(records).toEqual([record, record, record])
    const administrator = test.deps.db.selectFrom('notifications').select('user_id').where('kind', '=', 'rules_changed')
    expect((await administrator.execute()).map((row) => row.user_id)).toContain(admin.userId)
  })

  it('is announced only at the terms that are shorter than the life of the token', async () => {
    admin = await test.signIn('admin@example.org')
    await create('Weekend', days(2))
    await create('Hour', 3_600_000)
    await tellEndsOfTokens(test.deps)
    expect([await announcedFor('Weekend'), await announcedFor('Hour'), await ending()]).toEqual([[], [], 0])
    test.clock.advance(days(1.5))
    await tellEndsOfTokens(test.deps)
    expect([await announcedFor('Weekend'), await announcedFor('Hour')]).toEqual([['a day'], []])
  })

  it('is not announced for a token that is revoked, or whose service was disabled', async () => {
    const [revoked, disabled] = [await create('Revoked', days(30)), await create('Disabled', days(30))]
    expect((await admin.delete(`${url}/${revoked.id}`)).status).toBe(204)
    const now = test.clock.now()
    await test.deps.db.updateTable('users').set({ disabled_at: now }).where('id', '=', disabled.userId).execute()
    test.clock.advance(days(29.5))
    await tellEndsOfTokens(test.deps)
    expect([await announcedFor('Revoked'), await announcedFor('Disabled'), await ending()]).toEqual([[], [], 0])
  })
})
