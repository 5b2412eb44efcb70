import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { createDirectory, patchOf, type TestDirectory } from '../../../testing/directory.ts'

const domain = 'real.example'
const user = 'urn:ietf:params:scim:schemas:core:2.0:User'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
let test: TestApp
let directory: TestDirectory
let sentCount = 0
beforeAll(async () => {
  test = await createTestApp({ RATE_LIMIT_PER_MINUTE: '0' })
  directory = await createDirectory(test, [domain])
})
afterAll(async () => {
  await test.close()
  expect(sentCount).toBeGreaterThanOrEqual(120)
})

async function send(method: string, path: string, status: number, body?: unknown) {
  sentCount += 1
  const answer = await directory.send(method, path, body)
  expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBe(status)
  if (status < 300 && status !== 204) assertScim(answer.body)
  return answer.body
}

/** Checks that an answer has the form of RFC 7643, independently of openapi.json. */
function assertScim(body: Record<string, unknown>): void {
  const schemas = body.schemas as string[]
  expect(schemas.every((schema) => schema.startsWith('urn:ietf:params:scim:'))).toBe(true)
  if (schemas.includes('urn:ietf:params:scim:api:messages:2.0:ListResponse')) {
    const resources = body.Resources as Record<string, unknown>[]
    expect(body.itemsPerPage).toBe(resources.length)
    expect(body.totalResults).toBeGreaterThanOrEqual(resources.length)
    for (const resource of resources) assertScim(resource)
    return
  }
  if (!schemas.includes(user)) return
  expect(body.id).toEqual(expect.any(String))
  expect(body.userName).toEqual(expect.any(String))
  expect(body.active).toEqual(expect.any(Boolean))
  const meta = body.meta as Record<string, string>
  expect(meta.location).toBe(`http://localhost:8420/scim/v2/Users/${body.id}`)
  expect(Number.isNaN(Date.parse(meta.lastModified!))).toBe(false)
  expect(meta.version).toMatch(/^W\/"\d+"$/)
  expect(JSON.stringify(body)).not.toContain('null')
}

const byName = (name: string) => `/Users?filter=${encodeURIComponent(`userName eq "${name}"`)}`

it.each(['anna', 'ben', 'chloe', 'dario', 'emil', 'fatma'])('accepts the requests of Entra ID for %s', async (name) => {
  const userName = `${name}@${domain}`
  await send('GET', byName('5a1b0e7c-1f7d-4a0e-8b0a-test@real.example'), 200)
  expect((await send('GET', byName(userName), 200)).totalResults).toBe(0)
  const { id } = await send('POST', '/Users', 201, {
    schemas: [user, enterprise],
    externalId: `00aa-${name}`,
    userName,
    active: true,
    displayName: name,
    emails: [{ primary: true, type: 'work', value: userName }],
    meta: { resourceType: 'User' },
    name: { formatted: `${name} Keller`, familyName: 'Keller', givenName: name },
    roles: [],
    [enterprise]: { department: 'Treasury', manager: { value: 'x' } },
  })
  expect((await send('GET', byName(userName.toUpperCase()), 200)).Resources[0].id).toBe(id)
  await send('GET', `/Users?filter=${encodeURIComponent(`externalId eq "00aa-${name}"`)}`, 200)
  await send('GET', `/Users/${id}`, 200)
  const change = (...operations: object[]) => send('PATCH', `/Users/${id}`, 200, patchOf(...operations))
  await change({ op: 'Replace', path: 'displayName', value: `${name} K.` })
  await change(
    { op: 'Replace', path: 'emails[type eq "work"].value', value: `${name}.k@${domain}` },
    { op: 'Replace', path: 'name.familyName', value: 'Meier' },
  )
  await change({ op: 'Add', path: 'title', value: 'Head of Treasury' })
  await change({ op: 'Add', path: `${enterprise}:department`, value: 'Finance' })
  await change({ op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+49 30 1' })
  await change({ op: 'Add', value: { title: 'CFO', 'name.givenName': name, [`${enterprise}:costCenter`]: '7' } })
  await change({ op: 'Remove', path: 'title' })
  expect((await change({ op: 'Replace', path: 'active', value: 'False' })).active).toBe(false)
  expect((await change({ op: 'Replace', path: 'active', value: 'True' })).active).toBe(true)
  await send('DELETE', `/Users/${id}`, 204)
  await send('GET', `/Users/${id}`, 404)
  test.clock.advance(3_600_001)
})

it.each(['gina', 'hugo', 'ines', 'jan'])('accepts the requests of Okta for %s', async (name) => {
  const userName = `${name}@${domain}`
  const body = {
    schemas: [user],
    userName,
    name: { givenName: name, familyName: 'Roth' },
    emails: [{ primary: true, value: userName, type: 'work' }],
    displayName: `${name} Roth`,
    locale: 'en-US',
    externalId: `00u-${name}`,
    groups: [],
    password: '1mz050nq',
    active: true,
  }
  await send('GET', '/Users?startIndex=1&count=2', 200)
  expect((await send('GET', `${byName(userName)}&startIndex=1&count=100`, 200)).totalResults).toBe(0)
  const { id } = await send('POST', '/Users', 201, body)
  await send('POST', '/Users', 409, body)
  const { password: _, ...kept } = body
  await send('GET', `/Users/${id}`, 200)
  const replaced = await send('PUT', `/Users/${id}`, 200, {
    ...kept,
    id,
    name: { givenName: name, familyName: 'Blau' },
  })
  expect(replaced.name).toEqual({ givenName: name, familyName: 'Blau' })
  const stop = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', value: { active: false } }],
  }
  expect((await send('PATCH', `/Users/${id}`, 200, stop)).active).toBe(false)
  await send('PUT', `/Users/${id}`, 200, { ...kept, id, active: true })
  await send('PUT', `/Users/${id}`, 200, { ...kept, id, active: false })
  await send('GET', `/Users?filter=${encodeURIComponent(`id eq "${id}"`)}`, 200)
  await send('GET', '/Groups?startIndex=1&count=100', 200)
  test.clock.advance(3_600_001)
})
