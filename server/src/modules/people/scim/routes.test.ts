import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { createDirectory, patchOf, scimClient, type TestDirectory, userOf } from '../../../testing/directory.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { insertVault } from '../../../testing/vault-fixture.ts'

let test: TestApp
beforeAll(async () => {
  test = await createTestApp({ RATE_LIMIT_PER_MINUTE: '0' })
})
afterAll(() => test.close())

let number = 0
const newName = () => {
  number += 1
  return `p${number}`
}
const domainOf = async (directory: TestDirectory): Promise<string> =>
  (await directory.author.get(`/directories/${directory.id}`)).body.domains[0]!

async function addOne(directory: TestDirectory, more: object = {}) {
  const userName = `${newName()}@${await domainOf(directory)}`
  const { status, body } = await directory.send('POST', '/Users', userOf(userName, more))
  expect(status).toBe(201)
  return body
}
const disabledAt = async (userId: string) =>
  (await test.deps.db.selectFrom('users').select('disabled_at').where('id', '=', userId).executeTakeFirstOrThrow())
    .disabled_at

describe('setting up a directory', () => {
  it('shows the token once, and takes requests after another platform administrator confirmed it', async () => {
    const author = await test.signIn('author@operator.example', { isPlatformAdmin: true })
    const second = await test.signIn('second@operator.example', { isPlatformAdmin: true })
    const { body: created } = await author.post('/directories', { name: 'Entra', domains: ['set-up.example'] })
    expect(created).toMatchObject({ status: 'draft', baseUri: 'http://localhost:8420/scim/v2', lastSeenAt: null })
    expect(created.token).toMatch(/^srd_/)
    const client = scimClient(test, created.token)
    expect((await client.send('GET', '/Users')).status).toBe(401)
    const read = await author.get(`/directories/${created.id}`)
    expect(JSON.stringify(read.body)).not.toContain('srd_')
    const { body: change } = await author.post(`/directories/${created.id}/activate`)
    expect((await author.post(`/platform-changes/${change.id}/confirm`)).status).toBe(403)
    expect((await author.patch(`/directories/${created.id}`, { name: 'Other' })).status).toBe(409)
    expect((await second.post(`/platform-changes/${change.id}/confirm`)).status).toBe(200)
    expect((await client.send('GET', '/Users')).body).toMatchObject({ totalResults: 0, Resources: [] })
    expect((await author.get(`/directories/${created.id}`)).body.lastSeenAt).not.toBeNull()
    expect((await author.patch(`/directories/${created.id}`, { name: 'Other' })).status).toBe(409)
    expect((await author.post(`/directories/${created.id}/deactivate`)).body.status).toBe('off')
    expect((await client.send('GET', '/Users')).status).toBe(401)
  })

  it('gives a domain to one active directory', async () => {
    await createDirectory(test, ['taken.example'])
    const author = await test.signIn('author2@operator.example', { isPlatformAdmin: true })
    const second = await test.signIn('second2@operator.example', { isPlatformAdmin: true })
    const { body } = await author.post('/directories', { name: 'Again', domains: ['taken.example'] })
    const { body: change } = await author.post(`/directories/${body.id}/activate`)
    const confirmed = await second.post(`/platform-changes/${change.id}/confirm`)
    expect(confirmed).toMatchObject({ status: 409, body: { reason: 'already_exists' } })
  })

  it('T96 replaces a token with an overlap, and refuses it after its end', async () => {
    const directory = await createDirectory(test)
    const { body } = await directory.author.post(`/directories/${directory.id}/rotate`, {
      tokenDays: 30,
      overlapHours: 1,
    })
    const renewed = scimClient(test, body.token)
    expect([(await directory.send('GET', '/Users')).status, (await renewed.send('GET', '/Users')).status]).toEqual([
      200, 200,
    ])
    test.clock.advance(3_600_001)
    expect([(await directory.send('GET', '/Users')).status, (await renewed.send('GET', '/Users')).status]).toEqual([
      401, 200,
    ])
    test.clock.advance(30 * 86_400_000)
    expect((await renewed.send('GET', '/Users')).status).toBe(401)
  })
})

describe('a refused request gets', () => {
  it('T96 401 for every other token, and for the token of a directory elsewhere', async () => {
    const directory = await createDirectory(test)
    for (const token of [directory.author.token, `srk_${'x'.repeat(43)}`, `srd_${'x'.repeat(43)}`])
      expect((await scimClient(test, token).send('GET', '/Users')).status).toBe(401)
    const none = await test.app.inject({ method: 'GET', url: '/scim/v2/Users' })
    expect([none.statusCode, none.json().status]).toEqual([401, '401'])
    const cookie = { cookie: `session_token=${directory.author.token}` }
    expect((await test.app.inject({ method: 'GET', url: '/scim/v2/Users', headers: cookie })).statusCode).toBe(401)
    const elsewhere = test.client({ authorization: `Bearer ${directory.token}` })
    expect((await elsewhere.get('/users/me')).status).toBe(401)
    expect((await elsewhere.get('/vaults')).status).toBe(401)
  })

  it.each([
    ['a body that is not JSON', '{', 400, 'invalidSyntax'],
    ['a key twice', '{"userName":"a","userName":"b"}', 400, 'invalidSyntax'],
    ['__proto__', '{"__proto__":{"admin":true},"userName":"a"}', 400, 'invalidSyntax'],
    ['no userName', { active: true }, 400, 'invalidValue'],
    ['a userName that is not text', { userName: { a: 1 } }, 400, 'invalidValue'],
    ['a text that is not a boolean', { userName: 'x', active: 'maybe' }, 400, 'invalidValue'],
    ['an address of another domain', { userName: 'x@elsewhere.example' }, 400, 'invalidValue'],
    ['an address without a domain', { userName: 'x' }, 400, 'invalidValue'],
    ['two addresses in one', { userName: 'x@y.example,z@corp.example' }, 400, 'invalidValue'],
    ['hidden characters', { userName: 'x\u202e@corp.example' }, 400, 'invalidValue'],
  ])('400 for %s', async (_name, body, status, scimType) => {
    const directory = await createDirectory(test)
    expect(await directory.send('POST', '/Users', body)).toMatchObject({ status, body: { scimType } })
  })

  it('413 for a body that is too large, 415 for another type, 404 for an unknown path', async () => {
    const directory = await createDirectory(test)
    const large = JSON.stringify(userOf('x', { title: 'x'.repeat(1_100_000) }))
    expect((await directory.send('POST', '/Users', large)).status).toBe(413)
    expect((await directory.send('POST', '/Users', '<a/>', { 'content-type': 'text/xml' })).status).toBe(415)
    expect((await directory.send('POST', '/Bulk', {})).status).toBe(404)
  })

  it('409 for a userName or an address that the directory already names', async () => {
    const directory = await createDirectory(test)
    const person = await addOne(directory)
    const again = await directory.send('POST', '/Users', userOf(person.userName.toUpperCase()))
    expect(again).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } })
    const other = await addOne(directory)
    const renamed = patchOf({ op: 'replace', path: 'userName', value: person.userName })
    expect(await directory.send('PATCH', `/Users/${other.id}`, renamed)).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    })
  })

  it('412 for a stale ETag, by PUT, PATCH and DELETE', async () => {
    const directory = await createDirectory(test)
    const person = await addOne(directory)
    const stale = { 'if-match': person.meta.version }
    const title = patchOf({ op: 'add', path: 'title', value: 'Treasurer' })
    const changed = await directory.send('PATCH', `/Users/${person.id}`, title, stale)
    expect(changed).toMatchObject({ status: 200, headers: { etag: 'W/"2"' } })
    for (const [method, body] of [['PUT', userOf(person.userName)], ['PATCH', title], ['DELETE']] as const)
      expect((await directory.send(method, `/Users/${person.id}`, body, stale)).status).toBe(412)
    expect((await directory.send('DELETE', `/Users/${person.id}`, undefined, { 'if-match': 'W/"2"' })).status).toBe(204)
  })

  it('404 for people of another directory, whom no list shows', async () => {
    const [directory, other] = [await createDirectory(test), await createDirectory(test)]
    const person = await addOne(directory)
    for (const [method, body] of [
      ['GET'],
      ['PUT', userOf('x')],
      ['PATCH', patchOf({ op: 'remove', path: 'title' })],
      ['DELETE'],
    ] as const)
      expect((await other.send(method, `/Users/${person.id}`, body)).status).toBe(404)
    expect((await other.send('GET', '/Users')).body.totalResults).toBe(0)
  })
})

describe('a directory that reads people', () => {
  it.each([
    ['userName eq "ANNA@F.example"', 1],
    ['userName ne "anna@f.example"', 2],
    ['userName sw "an"', 1],
    ['userName co "%"', 0],
    ['userName ew ".example"', 3],
    ['externalId eq "E1"', 1],
    ['externalId eq "e1"', 0],
    ['externalId pr', 1],
    ['active eq true', 3],
    ['active eq false', 0],
    ['not (active eq false)', 3],
    ['emails.value eq "work@f.example"', 1],
    ['emails eq "work@f.example"', 1],
    ['emails[type eq "work" and value co "@f"]', 1],
    ['emails[type eq "home"]', 0],
    ['name.familyName eq "keller" or userName eq "bob@f.example"', 2],
    ['name.familyName eq "keller" and userName eq "bob@f.example"', 0],
    ['(title pr) and (displayName ne null)', 1],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "bob@f.example"', 1],
    ['meta.lastModified gt "2020-01-01T00:00:00Z"', 3],
    ['meta.lastModified lt "2020-01-01T00:00:00Z"', 0],
    ['userName gt "b" and userName le "bob@f.example"', 1],
    ['userName eq "\' or 1=1 --"', 0],
  ])('finds by %s', async (filter, count) => {
    const { body } = await (await filtered()).send('GET', `/Users?filter=${encodeURIComponent(filter)}`)
    expect([body.totalResults, body.Resources.length]).toEqual([count, count])
  })

  it.each([
    'userName',
    'userName eq',
    'userName eq ',
    'eq "x"',
    'userName is "x"',
    'userName eq "x',
    'userName eq x',
    'userName eq "x" or',
    'userName eq "x") or (active eq true',
    '(userName eq "x"',
    'password pr',
    '__proto__ pr',
    'constructor eq "x"',
    'emails[emails[value eq "x"]]',
    'active gt true',
    'userName eq 5',
    'meta.created gt "yesterday"',
    `userName eq "${'x'.repeat(1_000)}"`,
    `${'('.repeat(30)}active eq true${')'.repeat(30)}`,
    'emails[value eq "x"].type',
  ])('gets 400 for the filter %s', async (filter) => {
    const answer = await (await filtered()).send('GET', `/Users?filter=${encodeURIComponent(filter)}`)
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } })
  })

  let people: Promise<TestDirectory> | undefined
  function filtered(): Promise<TestDirectory> {
    people ??= (async () => {
      const directory = await createDirectory(test, ['f.example'])
      const emails = [{ value: 'work@f.example', type: 'work', primary: true }]
      const name = { givenName: 'Anna', familyName: 'Keller' }
      const anna = userOf('anna@f.example', {
        externalId: 'E1',
        emails,
        name,
        title: 'CFO',
        displayName: 'Anna Keller',
      })
      for (const person of [anna, userOf('bob@f.example'), userOf('carl@f.example')])
        expect((await directory.send('POST', '/Users', person)).status).toBe(201)
      return directory
    })()
    return people
  }

  it('gets pages by startIndex and count, and chooses attributes', async () => {
    const directory = await filtered()
    const { body: all } = await directory.send('GET', '/Users')
    const pages = [1, 2, 3, 4].map((start) => directory.send('GET', `/Users?startIndex=${start}&count=1`))
    const ids = (await Promise.all(pages)).flatMap(({ body }) => body.Resources.map(({ id }: { id: string }) => id))
    expect(ids).toEqual(all.Resources.map(({ id }: { id: string }) => id))
    expect((await directory.send('GET', '/Users?count=0')).body).toMatchObject({ totalResults: 3, itemsPerPage: 0 })
    expect((await directory.send('GET', '/Users?startIndex=-5&count=-1')).body).toMatchObject({ startIndex: 1 })
    const { body: few } = await directory.send('GET', `/Users/${ids[0]}?attributes=userName`)
    expect(Object.keys(few).sort()).toEqual(['id', 'schemas', 'userName'])
    const { body: less } = await directory.send('GET', `/Users/${ids[0]}?excludedAttributes=emails,meta`)
    expect(Object.keys(less)).not.toContain('emails')
  })

  it('reads the supported features, types and schemas', async () => {
    const directory = await filtered()
    const { body } = await directory.send('GET', '/ServiceProviderConfig')
    expect(body).toMatchObject({ patch: { supported: true }, bulk: { supported: false }, sort: { supported: false } })
    const types = await directory.send('GET', '/ResourceTypes')
    expect(types.body.Resources.map(({ id }: { id: string }) => id)).toContain('User')
    expect((await directory.send('GET', '/ResourceTypes/User')).body.endpoint).toBe('/Users')
    const { body: schemas } = await directory.send('GET', '/Schemas')
    for (const { id } of schemas.Resources) expect((await directory.send('GET', `/Schemas/${id}`)).status).toBe(200)
    expect((await directory.send('GET', '/Schemas/none')).status).toBe(404)
  })
})

describe('people who leave', () => {
  it('T92 stops a person with the next request, and has them again', async () => {
    const directory = await createDirectory(test)
    const person = await test.signIn(`${newName()}@${await domainOf(directory)}`)
    const { body } = await directory.send('POST', '/Users', userOf(person.email))
    expect(body.id).toBe(person.userId)
    expect((await person.get('/users/me')).status).toBe(200)
    const stop = patchOf({ op: 'Replace', path: 'active', value: 'False' })
    expect((await directory.send('PATCH', `/Users/${body.id}`, stop)).body.active).toBe(false)
    expect((await person.get('/users/me')).status).toBe(401)
    await directory.send('PATCH', `/Users/${body.id}`, patchOf({ op: 'Replace', value: { active: 'True' } }))
    expect(await disabledAt(body.id)).toBeNull()
    // The session ended, so that the person must sign in again.
    expect((await person.get('/users/me')).status).toBe(401)
  })

  it('T92 has a person again whose stop was decided on at the same moment', async () => {
    const directory = await createDirectory(test)
    const { id } = await addOne(directory)
    const set = (active: boolean) =>
      directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: active }))
    await set(false)
    await test.deps.db.updateTable('directory_stops').set({ held: true }).where('user_id', '=', id).execute()
    await test.deps.db.updateTable('users').set({ disabled_at: null }).where('id', '=', id).execute()
    const [decided, resumed] = await inTransaction(test.deps.db, async (trx) => {
      await trx.selectFrom('directories').select('id').where('id', '=', directory.id).forUpdate().execute()
      const decided = directory.author.post(`/directories/${directory.id}/stops`, { decision: 'stop', userIds: [id] })
      await untilSessionsWait(test.deps.db)
      const resumed = set(true)
      await untilSessionsWait(test.deps.db, 2)
      return [{ answer: decided }, { answer: resumed }]
    })
    expect([(await decided!.answer).status, (await resumed!.answer).status]).toEqual([204, 200])
    expect(await disabledAt(id)).toBeNull()
    await set(false)
    expect(await disabledAt(id)).not.toBeNull()
  })

  it('T92 DELETE stops as well, and the person is added again with the same account', async () => {
    const directory = await createDirectory(test)
    const person = await addOne(directory)
    expect((await directory.send('DELETE', `/Users/${person.id}`)).status).toBe(204)
    expect(await disabledAt(person.id)).not.toBeNull()
    expect((await directory.send('GET', `/Users/${person.id}`)).status).toBe(404)
    expect((await directory.send('POST', '/Users', userOf(person.userName))).body.id).toBe(person.id)
    expect(await disabledAt(person.id)).toBeNull()
  })

  it('T91 enables nobody whom a person disabled, also when it had stopped them first', async () => {
    const directory = await createDirectory(test)
    const [first, second] = [await addOne(directory), await addOne(directory)]
    const set = (id: string, active: boolean) =>
      directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: active }))
    const disable = (id: string) => directory.second.post(`/users/${id}/disable`, { reason: 'Left' })
    expect((await disable(first.id)).status).toBe(200)
    await set(second.id, false)
    expect((await disable(second.id)).status).toBe(200)
    for (const { id } of [first, second]) {
      await set(id, false)
      await set(id, true)
      expect(await disabledAt(id)).not.toBeNull()
      await directory.send('DELETE', `/Users/${id}`)
    }
    for (const { userName } of [first, second]) {
      const { body } = await directory.send('POST', '/Users', userOf(userName))
      expect(await disabledAt(body.id)).not.toBeNull()
    }
  })

  it('never stops a break-glass person', async () => {
    const directory = await createDirectory(test)
    const { body } = await directory.author.get(`/directories/${directory.id}`)
    const person = await test.signIn(`glass@${body.domains[0]}`)
    await test.deps.db
      .insertInto('break_glass_people')
      .values({ user_id: person.userId, named_at: new Date() })
      .execute()
    const added = await directory.send('POST', '/Users', userOf(person.email))
    expect((await directory.send('DELETE', `/Users/${added.body.id}`)).status).toBe(409)
    expect((await person.get('/users/me')).status).toBe(200)
  })

  it('never stops the last platform administrator', async () => {
    const alone = await createTestApp()
    try {
      const directory = await createDirectory(alone)
      const { body } = await directory.author.get(`/directories/${directory.id}`)
      const last = await alone.signIn(`last@${body.domains[0]}`, { isPlatformAdmin: true })
      for (const { userId } of [directory.author, directory.second])
        expect((await last.post(`/users/${userId}/disable`, { reason: 'Left' })).status).toBe(200)
      const added = await directory.send('POST', '/Users', userOf(last.email, { active: false }))
      expect(added.status).toBe(409)
      const { body: person } = await directory.send('POST', '/Users', userOf(last.email))
      expect((await directory.send('DELETE', `/Users/${person.id}`)).status).toBe(409)
      expect((await last.get('/users/me')).status).toBe(200)
    } finally {
      await alone.close()
    }
  })

  it('T93 brakes stops above five and a fifth within an hour; one person never waits', async () => {
    const directory = await createDirectory(test)
    const people: { id: string; userName: string }[] = []
    for (let i = 0; i < 12; i += 1) people.push(await addOne(directory))
    test.clock.advance(1_000)
    for (const { id } of people.slice(0, 8)) expect((await directory.send('DELETE', `/Users/${id}`)).status).toBe(204)
    const stopped = async () => (await Promise.all(people.map(({ id }) => disabledAt(id)))).map((at) => at !== null)
    expect(await stopped()).toEqual([...Array(5).fill(true), ...Array(7).fill(false)])
    const { body: held } = await directory.author.get(`/directories/${directory.id}/people?held=true`)
    expect(held.items.map(({ userId }) => userId).sort()).toEqual(
      people
        .slice(5, 8)
        .map(({ id }) => id)
        .sort(),
    )
    expect((await directory.author.get(`/directories/${directory.id}`)).body.heldCount).toBe(3)
    // The directory takes one back, the platform administrator stops another and keeps the third.
    await directory.send('POST', '/Users', userOf(people[5]!.userName))
    const decide = (decision: string, id: string) =>
      directory.author.post(`/directories/${directory.id}/stops`, { decision, userIds: [id] })
    expect((await decide('stop', people[6]!.id)).status).toBe(204)
    expect((await decide('keep', people[7]!.id)).status).toBe(204)
    expect((await decide('keep', people[7]!.id)).status).toBe(404)
    expect(await stopped()).toEqual([...Array(5).fill(true), false, true, ...Array(5).fill(false)])
    test.clock.advance(3_600_001)
    expect((await directory.send('DELETE', `/Users/${people[8]!.id}`)).status).toBe(204)
    expect(await disabledAt(people[8]!.id)).not.toBeNull()
  })

  it('T93 stops that are taken back count for an hour', async () => {
    const directory = await createDirectory(test)
    const people: { id: string; userName: string }[] = []
    for (let i = 0; i < 12; i += 1) people.push(await addOne(directory))
    test.clock.advance(1_000)
    const setActive = (id: string, value: boolean) =>
      directory.send('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', path: 'active', value }] })
    for (const { id } of people.slice(0, 5)) {
      await setActive(id, false)
      expect(await disabledAt(id)).not.toBeNull()
      await setActive(id, true)
      expect(await disabledAt(id)).toBeNull()
    }
    await setActive(people[5]!.id, false)
    expect(await disabledAt(people[5]!.id)).toBeNull()
    // A second stop of the same person does not count again.
    await setActive(people[0]!.id, false)
    expect(await disabledAt(people[0]!.id)).not.toBeNull()
  })

  it('T93 made-up people do not raise the fifth of those who are in a vault', async () => {
    const directory = await createDirectory(test)
    const domain = await domainOf(directory)
    const vault = await insertVault(test, 'braked', directory.author)
    const group = await vault.addGroup('treasury')
    const members = []
    for (let i = 0; i < 7; i += 1) {
      const person = await test.signIn(`${newName()}@${domain}`)
      await vault.addMember(group, person.userId)
      await directory.send('POST', '/Users', userOf(person.email))
      members.push(person)
    }
    for (let i = 0; i < 40; i += 1) await addOne(directory)
    test.clock.advance(1_000)
    for (const { userId } of members) await directory.send('DELETE', `/Users/${userId}`)
    const disabled = await Promise.all(members.map(({ userId }) => disabledAt(userId)))
    expect(disabled.filter((at) => at !== null)).toHaveLength(5)
  })
})

describe('T94 the address of an account', () => {
  it('stays when the directory renames the person', async () => {
    const directory = await createDirectory(test)
    const domain = await domainOf(directory)
    const person = await addOne(directory)
    const name = `mallory-${newName()}@${domain}`
    const emails = [{ value: name, type: 'work', primary: true }]
    const { body } = await directory.send('PUT', `/Users/${person.id}`, userOf(name, { emails }))
    expect(body).toMatchObject({ userName: name, emails })
    const { body: listed } = await directory.author.get(`/directories/${directory.id}/people`)
    expect(listed.items[0]).toMatchObject({ email: person.userName, userName: name })
    // Another person with the new address gets a new account, which has no rights.
    const other = await directory.send('POST', '/Users', userOf(`other-${name}`, { emails }))
    expect(other.status).toBe(201)
    expect(other.body.id).not.toBe(person.id)
    const foreign = patchOf({ op: 'replace', path: 'emails[type eq "work"].value', value: 'x@elsewhere.example' })
    expect(await directory.send('PATCH', `/Users/${person.id}`, foreign)).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    })
  })
})
