import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { governedOf } from '../composition/governed.ts'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { describedApiOf } from '../testing/described-api.ts'
import { insertVault, type VaultFixture } from '../testing/vault-fixture.ts'
import { isForServices } from './caller.ts'
import { type Scope, scopes } from './scopes.ts'

const test: TestApp = await createTestApp({ RATE_LIMIT_PER_MINUTE: '0' })
const operations = Object.entries(describedApiOf(test.app).paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    const { operationId = '', 'x-access': access = 'public', 'x-scope': scope, responses } = operation
    const refusals = Object.keys(responses[403]?.content?.['application/json']?.examples ?? {})
    return { operationId, method: method.toUpperCase() as 'GET', path, access, scope, refusals }
  }),
)
const scoped = operations.flatMap(({ scope, ...operation }) => (scope === undefined ? [] : [{ ...operation, scope }]))

let admin: Person
let vault: VaultFixture
let administrators: string
/** The tokens of two services for each scope: one has only the scope, the other all except it. */
const tokens = new Map<Scope, { only: string; without: string }>()

beforeAll(async () => {
  admin = await test.signIn('admin@example.org')
  vault = await insertVault(test, 'main-vault', admin)
  const { body } = await admin.get('/vaults/main-vault/policy-groups?limit=100')
  administrators = body.items.find(({ code }) => code === 'administrators')!.id
  for (const scope of scopes) {
    const without = scopes.filter((other) => other !== scope)
    tokens.set(scope, { only: await createToken([scope]), without: await createToken(without) })
  }
})
afterAll(() => test.close())

async function createToken(granted: readonly Scope[]): Promise<string> {
  const { status, body } = await create(admin, granted)
  expect([status, body.scopes]).toEqual([201, granted])
  return body.token
}

const create = (by: Pick<Person, 'post'>, granted: readonly Scope[] | undefined) =>
  by.post('/vaults/main-vault/service-tokens', {
    name: 'Service',
    groupIds: [administrators],
    ...(granted === undefined ? {} : { scopes: granted }),
  })

/** Sends a request that is not valid, so that an answer about its content shows that the scope was sufficient. */
async function ask({ method, path }: { method: 'GET'; path: string }, token: string) {
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'code' ? vault.code : 'absent'))
  const { statusCode, body } = await test.app.inject({ method, url, headers: { authorization: `Bearer ${token}` } })
  return { status: statusCode, ...(body.startsWith('{') ? JSON.parse(body) : {}) }
}

describe('a scope', () => {
  it('T98 is declared by exactly the operations that a service can call', () => {
    const wrong = operations.filter(({ access, scope }) => isForServices(access) !== (scope !== undefined))
    expect(wrong).toEqual([])
    expect([...new Set(scoped.map(({ scope }) => scope))].sort()).toEqual([...scopes].sort())
  })

  it('T98 of governed operations is `rules`', () => {
    const governed = new Set(Object.values(governedOf(test.deps).actions).map(({ operationId }) => operationId))
    const others = scoped.filter(({ operationId, scope }) => governed.has(operationId) && scope !== 'rules')
    expect(others).toEqual([])
  })

  it('`read` is not that of operations which auditors may not send, because these change something', () => {
    const changing = scoped.filter(({ scope, refusals }) => scope === 'read' && refusals.includes('auditor_reads_only'))
    expect(changing.map(({ operationId }) => operationId)).toEqual([])
  })
})

describe('a service token', () => {
  it.for(scoped)('T98 needs $scope for $operationId', async (operation) => {
    const { only, without } = tokens.get(operation.scope)!
    const refused = await ask(operation, without)
    expect([refused.status, refused.reason]).toEqual([403, 'token_scope_missing'])
    expect(refused.message).toContain(`"${operation.scope}"`)
    const answer = await ask(operation, only)
    expect(answer.reason).not.toBe('token_scope_missing')
  })

  it('T98 of a service has only scopes that its own token has', async () => {
    const service = test.client({ authorization: `Bearer ${await createToken(['read', 'rules'])}` })
    for (const granted of [['rules', 'operate'], undefined] as const) {
      const { status, body } = await create(service, granted)
      expect([status, body.reason, body.message]).toEqual([
        403,
        'token_scope_missing',
        expect.stringContaining('"operate"'),
      ])
    }
    expect((await create(service, ['rules'])).body.scopes).toEqual(['rules'])
  })

  it('without scopes in its request has all, and no others exist', async () => {
    expect((await create(admin, undefined)).body.scopes).toEqual(scopes)
    expect((await create(admin, ['rules', 'read'])).body.scopes).toEqual(['read', 'rules'])
    for (const wrong of [[], ['read', 'read'], ['all']] as Scope[][])
      expect((await create(admin, wrong)).status).toBe(400)
  })

  it('has its scopes in the list and in its audit record', async () => {
    const { id } = (await create(admin, ['report'])).body
    const { items } = (await admin.get('/vaults/main-vault/service-tokens?limit=100')).body
    expect(items.find((token) => token.id === id)!.scopes).toEqual(['report'])
    const records = (await admin.get(`/vaults/main-vault/audit-log?action=service_token.created`)).body.items
    expect(records[0]).toMatchObject({ targetId: id, details: { scopes: ['report'] } })
  })

  it('T98 opens no page', async () => {
    const inject = (cookie: string) => test.app.inject({ url: '/changes/main-vault/absent', headers: { cookie } })
    const { location } = (await inject(`session_token=${await createToken(scopes)}`)).headers
    expect(location).toMatch(/^\/sign-in/)
  })
})
