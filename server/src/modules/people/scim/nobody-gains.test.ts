import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { createDirectory, patchOf, type TestDirectory, userOf } from '../../../testing/directory.ts'
import { createRandom } from '../../../testing/random.ts'
import { insertVault } from '../../../testing/vault-fixture.ts'

const domain = 'gains.example'
let test: TestApp
let directory: TestDirectory
beforeAll(async () => {
  test = await createTestApp({ RATE_LIMIT_PER_MINUTE: '0' })
  directory = await createDirectory(test, [domain])
})
afterAll(() => test.close())

/** Returns the rights of each person who is not disabled: groups of vaults, and the administration of the platform. */
async function powers(): Promise<Map<string, Set<string>>> {
  const rows = await test.deps.db
    .selectFrom('users as u')
    .leftJoin('policy_group_memberships as m', 'm.user_id', 'u.id')
    .where('u.disabled_at', 'is', null)
    .select(['u.id', 'u.is_platform_admin', 'm.vault_id', 'm.group_id'])
    .execute()
  const powersOf = new Map<string, Set<string>>()
  for (const row of rows) {
    const held = powersOf.get(row.id) ?? new Set()
    if (row.group_id !== null) held.add(`${row.vault_id} ${row.group_id}`)
    if (row.is_platform_admin) held.add('platform')
    powersOf.set(row.id, held)
  }
  return powersOf
}

/** tidy: long because the calls are drawn from what the test set up. */
it('T91 no sequence of calls of a directory gives anybody a right, in 300 random calls', async () => {
  const random = createRandom(91)
  const pick = <Item>(items: Item[]): Item => items[random.below(items.length)]!
  const vault = await insertVault(test, 'gains', directory.author)
  const group = await vault.addGroup('treasury')
  const names = Array.from({ length: 8 }, (_, i) => `p${i}@${domain}`)
  const people = []
  for (const [i, name] of names.slice(0, 5).entries()) {
    const person = await test.signIn(name, { isPlatformAdmin: i === 0 })
    await vault.addMember(pick([group, vault.administratorsId]), person.userId)
    people.push(person)
  }
  const left = people[4]!
  expect((await directory.second.post(`/users/${left.userId}/disable`, { reason: 'Left' })).status).toBe(200)
  const before = await powers()
  const outcomes = new Map<number, number>()
  const ids: string[] = [...people.map(({ userId }) => userId), directory.author.userId, 'x']
  for (let call = 0; call < 300; call += 1) {
    if (random.below(10) === 0) test.clock.advance(1_800_000)
    const answer = await draw()
    outcomes.set(answer.status, (outcomes.get(answer.status) ?? 0) + 1)
    if (answer.status === 201) ids.push(answer.body.id)
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500)
    for (const [id, held] of await powers()) {
      const granted = before.get(id) ?? new Set()
      // A new account has no rights, and a user whom a person disabled stays disabled.
      expect([...held].filter((power) => !granted.has(power))).toEqual([])
    }
  }
  expect([...outcomes.keys()]).toEqual(expect.arrayContaining([200, 201, 204, 400, 404, 409]))
  const { disabled_at: disabledAt } = await test.deps.db
    .selectFrom('users')
    .select('disabled_at')
    .where('id', '=', left.userId)
    .executeTakeFirstOrThrow()
  expect(disabledAt).not.toBeNull()

  function draw() {
    const id = pick(ids)
    const active = pick([true, false, 'True', 'False'])
    const name = pick(names)
    const more = {
      active,
      emails: pick([undefined, [{ value: pick(names), primary: true }], [{ value: 'x@elsewhere.example' }]]),
      roles: [{ value: 'administrator' }],
      entitlements: [{ value: group }],
      groups: [{ value: group }],
      is_platform_admin: true,
      isPlatformAdmin: true,
    }
    const value = pick<unknown>([active, name, { active }, { isPlatformAdmin: true, active }, [{ value: group }]])
    const path = pick([
      undefined,
      'active',
      'userName',
      'emails',
      'groups',
      'id',
      'roles',
      'isPlatformAdmin',
      '__proto__',
    ])
    const op = pick(['add', 'Replace', 'remove'])
    return [
      () => directory.send('POST', '/Users', userOf(name, more)),
      () => directory.send('PUT', `/Users/${id}`, userOf(name, more)),
      () => directory.send('PATCH', `/Users/${id}`, patchOf({ op, path, value })),
      () => directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: active })),
      () => directory.send('DELETE', `/Users/${id}`),
      () => directory.send('GET', `/Users/${id}`),
    ][random.below(6)]!()
  }
}, 120_000)
