import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { createDirectory, patchOf, type TestDirectory, userOf } from '../../../testing/directory.ts'
import { createRandom } from '../../../testing/random.ts'

const domain = 'groups.example'
let test: TestApp
let directory: TestDirectory
const people: string[] = []
beforeAll(async () => {
  test = await createTestApp({ RATE_LIMIT_PER_MINUTE: '0' })
  directory = await createDirectory(test, [domain])
  for (let i = 0; i < 8; i += 1)
    people.push((await directory.send('POST', '/Users', userOf(`p${i}@${domain}`))).body.id)
})
afterAll(() => test.close())

let number = 0
async function addGroup(memberIds: string[] = []): Promise<{ id: string; displayName: string }> {
  number += 1
  const members = memberIds.map((value) => ({ value }))
  const { status, body } = await directory.send('POST', '/Groups', { displayName: `Group ${number}`, members })
  expect(status).toBe(201)
  return body
}
async function membersOf(id: string): Promise<string[]> {
  const { body } = await directory.send('GET', `/Groups/${id}`)
  return (body.members ?? []).map(({ value }: { value: string }) => value)
}
const sorted = (ids: string[]) => ids.toSorted()
const asValues = (ids: string[]) => ids.map((value) => ({ value }))

describe('groups of a directory', () => {
  it.each<[string, (ids: string[]) => object, number[]]>([
    ['add by path', (ids) => ({ op: 'Add', path: 'members', value: asValues([ids[2]!, ids[0]!]) }), [0, 1, 2]],
    ['add without a path', (ids) => ({ op: 'add', value: { members: asValues([ids[2]!]) } }), [0, 1, 2]],
    ['add of a single member', (ids) => ({ op: 'add', path: 'Members', value: { value: ids[3]! } }), [0, 1, 3]],
    ['removal by path', (ids) => ({ op: 'Remove', path: `members[value eq "${ids[0]}"]` }), [1]],
    ['removal by value', (ids) => ({ op: 'remove', path: 'members', value: asValues([ids[1]!]) }), [0]],
    ['removal of all', () => ({ op: 'remove', path: 'members' }), []],
    ['replacement', (ids) => ({ op: 'Replace', path: 'members', value: asValues([ids[1]!, ids[4]!]) }), [1, 4]],
    ['replacement by nobody', () => ({ op: 'replace', path: 'members', value: [] }), []],
    ['a name', () => ({ op: 'replace', value: { displayName: 'Another name', id: 'x' } }), [0, 1]],
  ])('accept %s', async (_name, operation, expected) => {
    const { id } = await addGroup(people.slice(0, 2))
    const answer = await directory.send('PATCH', `/Groups/${id}`, patchOf(operation(people)))
    expect([answer.status, answer.headers.etag]).toEqual([204, 'W/"2"'])
    expect(await membersOf(id)).toEqual(sorted(expected.map((i) => people[i]!)))
    await directory.send('DELETE', `/Groups/${id}`)
  })

  it.each<[string, object, number, string | undefined]>([
    ['a stranger', { op: 'add', path: 'members', value: [{ value: 'nobodys' }] }, 400, 'invalidValue'],
    ['a group within', { op: 'add', path: 'members', value: [{ value: 'x', type: 'Group' }] }, 400, 'invalidValue'],
    ['another path', { op: 'add', path: 'owners', value: [] }, 400, 'invalidPath'],
    ['__proto__', { op: 'add', path: '__proto__', value: [] }, 400, 'invalidPath'],
    ['another filter', { op: 'remove', path: 'members[display eq "x"]' }, 400, 'invalidPath'],
    ['a broken filter', { op: 'remove', path: 'members[value eq]' }, 400, 'invalidFilter'],
    ['the id', { op: 'replace', path: 'id', value: 'x' }, 400, 'mutability'],
    ['no name', { op: 'remove', path: 'displayName' }, 400, 'mutability'],
    ['an empty name', { op: 'replace', path: 'displayName', value: ' ' }, 400, 'invalidValue'],
    ['nothing to remove', { op: 'remove' }, 400, 'noTarget'],
  ])('refuse %s, and then change nothing', async (_name, operation, status, scimType) => {
    const { id } = await addGroup(people.slice(0, 1))
    const first = { op: 'add', path: 'members', value: asValues(people.slice(1, 3)) }
    const answer = await directory.send('PATCH', `/Groups/${id}`, patchOf(first, operation))
    expect([answer.status, answer.body.scimType]).toEqual([status, scimType])
    expect(await membersOf(id)).toEqual(people.slice(0, 1))
  })

  it('have ETags, unique names, pages, filters, and members if the request names them', async () => {
    const group = await addGroup(people.slice(0, 2))
    const again = await directory.send('POST', '/Groups', { displayName: group.displayName.toUpperCase() })
    expect(again).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } })
    const stale = { 'if-match': 'W/"9"' }
    for (const [method, body] of [
      ['PUT', group],
      ['PATCH', patchOf({ op: 'remove', path: 'members' })],
      ['DELETE'],
    ] as const)
      expect((await directory.send(method, `/Groups/${group.id}`, body, stale)).status).toBe(412)
    const found = async (filter: string, more = '') =>
      (await directory.send('GET', `/Groups?filter=${encodeURIComponent(filter)}${more}`)).body
    expect((await found(`displayName eq "${group.displayName}"`)).Resources[0].members).toBeUndefined()
    const whole = await found(`displayName eq "${group.displayName}"`, '&attributes=members')
    expect(whole.Resources[0].members).toHaveLength(2)
    expect((await found(`members.value eq "${people[1]}" and id eq "${group.id}"`)).totalResults).toBe(1)
    expect((await found(`members[value eq "${people[7]}"]`)).totalResults).toBe(0)
    const less = await directory.send('GET', `/Groups/${group.id}?excludedAttributes=members`)
    expect(less.body.members).toBeUndefined()
    const other = await createDirectory(test)
    for (const method of ['GET', 'DELETE']) expect((await other.send(method, `/Groups/${group.id}`)).status).toBe(404)
    const strange = { displayName: 'Strange', members: [{ value: people[0] }] }
    expect((await other.send('POST', '/Groups', strange)).status).toBe(400)
  })

  it('lose a person whom the directory removes, and give nobody a right', async () => {
    const { id } = await addGroup(people.slice(5, 7))
    expect((await directory.send('DELETE', `/Users/${people[6]}`)).status).toBe(204)
    expect(await membersOf(id)).toEqual([people[5]])
    const memberships = await test.deps.db.selectFrom('policy_group_memberships').selectAll().execute()
    expect(memberships).toEqual([])
  })

  it('have the members of a simple model after 300 random changes', async () => {
    const random = createRandom(106)
    const pick = <Item>(items: Item[]): Item => items[random.below(items.length)]!
    const all = people.slice(0, 5)
    const { id } = await addGroup()
    const model = new Set<string>()
    for (let step = 0; step < 100; step += 1) {
      const operations = Array.from({ length: 3 }, () => {
        const some = all.filter(() => random.below(2) === 0)
        const [member] = [pick(all)]
        switch (random.below(5)) {
          case 0:
            for (const value of some) model.add(value)
            return { op: pick(['add', 'Add']), path: 'members', value: asValues(some) }
          case 1:
            model.delete(member)
            return { op: 'Remove', path: `members[value eq "${member}"]` }
          case 2:
            for (const value of some) model.delete(value)
            return { op: 'remove', path: 'members', value: asValues(some) }
          case 3:
            model.clear()
            for (const value of some) model.add(value)
            return { op: 'Replace', value: { members: asValues(some) } }
          default:
            model.add(member)
            return { op: 'Add', value: { members: { value: member } } }
        }
      })
      expect((await directory.send('PATCH', `/Groups/${id}`, patchOf(...operations))).status).toBe(204)
      expect(await membersOf(id), JSON.stringify(operations)).toEqual(sorted([...model]))
    }
  })

  it('are changed by a member as fast with 10,000 members as with five', async () => {
    const large = await addGroup()
    const small = await addGroup(people.slice(0, 5))
    const db = test.deps.db
    const ids = Array.from({ length: 10_000 }, (_, i) => `cmany${String(i).padStart(20, '0')}`)
    const now = test.clock.now()
    for (let i = 0; i < ids.length; i += 1_000) {
      const part = ids.slice(i, i + 1_000)
      const users = part.map((userId) => ({
        id: userId,
        email: `${userId}@${domain}`,
        created_at: now,
        updated_at: now,
      }))
      await db.insertInto('users').values(users).execute()
      const named = part.map((userId) => ({
        user_id: userId,
        directory_id: directory.id,
        user_name: userId,
        active: true,
        attributes: '{}',
        version: 1,
        created_at: now,
        updated_at: now,
      }))
      await db.insertInto('directory_people').values(named).execute()
      await db
        .insertInto('directory_group_members')
        .values(part.map((userId) => ({ group_id: large.id, user_id: userId })))
        .execute()
    }
    const timeOf = async (id: string) => {
      const times = []
      for (let i = 0; i < 15; i += 1) {
        const begin = performance.now()
        for (const op of ['add', 'remove'])
          expect(
            (
              await directory.send(
                'PATCH',
                `/Groups/${id}`,
                patchOf({ op, path: 'members', value: asValues([people[7]!]) }),
              )
            ).status,
          ).toBe(204)
        times.push(performance.now() - begin)
      }
      return times.sort((a, b) => a - b)[7]!
    }
    const [ofSmall, ofLarge] = [await timeOf(small.id), await timeOf(large.id)]
    // A service that loaded all members would take more than ten times as long for the large group.
    expect(ofLarge / ofSmall).toBeLessThan(3)
  }, 60_000)
})
