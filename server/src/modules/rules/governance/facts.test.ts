import { readFile } from 'node:fs/promises'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { describedApiOf } from '../../../testing/described-api.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { addMember, createAddress } from '../../../testing/fixtures.ts'
import { allowTransfers, createGovernanceBench, type GovernanceBench } from '../../../testing/governance-bench.ts'

import type { Facts } from '../selectors/facts.ts'

/**
 * One administrator and one platform administrator against the facts that policies look at. The vault needs the votes of two
 * other people. A change of a fact that would permit more for the next order of anybody waits for another person.
 */
let bench: GovernanceBench
let alone: Person
/** A member who manages a folder and edits a category. */
let clerk: Person
let world: Awaited<ReturnType<typeof prepare>>

beforeAll(async () => {
  bench = await createGovernanceBench()
  alone = bench.admins[3]!
  clerk = await addMember(bench.test, bench.vault, 'clerk@example.org', ['clerks'])
  world = await prepare()
  expect((await bench.govern()).status).toBe(200)
})
afterAll(() => bench.close())

const made = <Body>({ status, body }: { status: number; body: Body }): Body => {
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

/** Creates the rules that the vault approved earlier; they name a category and folders. */
async function prepare() {
  const { admin } = bench.vault
  const everyone = bench.vault.groups.everyone
  for (const actionType of ['create_address', 'transfer']) {
    const code = `allow-${actionType.replace('_', '-')}`
    made(await admin.post(`/policy-groups/${everyone}/policies`, { ...allowTransfers, code, name: code, actionType }))
  }
  const payroll = made(
    await admin.post(`${bench.url}/operation-categories`, {
      key: 'payroll',
      name: 'Payroll',
      assignScope: 'restricted',
    }),
  )
  const grants = [
    { subjectType: 'user' as const, subjectUserId: clerk.userId, canView: true, canEdit: true },
    { subjectType: 'user' as const, subjectUserId: bench.member.userId, canView: true },
  ]
  const granted = await admin.put(`${bench.url}/operation-categories/${payroll.id}/grants`, { grants })
  expect(granted.status).toBe(200)
  const needed = { key: 'month', label: 'Month', type: 'text', required: true, sensitive: true }
  const field = made(await admin.post(`${bench.url}/operation-categories/${payroll.id}/fields`, needed))
  const folderOf = async (manager: Person) => {
    const folder = made(await manager.post(`${bench.url}/address-groups`, { name: 'Hot' }))
    const [address, other] = [await createAddress(manager), await createAddress(manager)]
    made(await manager.post(`${bench.url}/address-groups/${folder.id}/members`, { addressId: address.id }))
    return { manager, folder, address, other }
  }
  const folders = [await folderOf(alone), await folderOf(clerk)]
  const rule = (selectorType: string, value: unknown) => [
    { conditionType: 'exclude', selectors: [{ selectorType, value }] },
  ]
  const block = { ...allowTransfers, effect: 'block' }
  for (const [code, rules] of [
    ['only-payroll', rule('category', ['payroll'])],
    [
      'only-hot',
      rule(
        'addressGroup',
        folders.map(({ folder }) => folder.id),
      ),
    ],
  ] as const) {
    made(await admin.post(`/policy-groups/${everyone}/policies`, { ...block, code, name: code, rules }))
  }
  return { payroll, field, grants, folders }
}

const newest = async () => (await bench.versions())[0]!.number

/** Expects that the call waits for votes or is refused, with one of `statuses`, and that the rules stay as they are. */
async function isNotForOne(call: () => Promise<Answer<unknown>>, statuses: number[] = [202]): Promise<void> {
  const before = await newest()
  const answer = await call()
  expect(statuses, JSON.stringify(answer.body)).toContain(answer.status)
  expect(await newest()).toBe(before)
}

describe('T83 category', () => {
  const url = () => `${bench.url}/operation-categories/${world.payroll.id}` as const

  it.each([
    { assignScope: 'vault_members' },
    { viewScope: 'restricted' },
    { editScope: 'vault_members' },
    { archived: true },
    { appliesTo: 'deposit' },
  ])('one administrator does not change %o', (change) => isNotForOne(() => alone.patch(url(), change)))

  it('one administrator does not change its grants', () =>
    isNotForOne(() =>
      alone.put(`${url()}/grants`, {
        grants: [...world.grants, { subjectType: 'user', subjectUserId: alone.userId, canAssign: true }],
      }),
    ))

  it('one administrator does not add or delete its fields, or change their requirements', async () => {
    const { field } = world
    await isNotForOne(() => alone.patch(`${url()}/fields/${field.id}`, { required: false }))
    await isNotForOne(() => alone.patch(`${url()}/fields/${field.id}`, { sensitive: false }))
    await isNotForOne(() => alone.patch(`${url()}/fields/${field.id}`, { defaultJson: 'May' }))
    await isNotForOne(() => alone.patch(`${url()}/fields/${field.id}`, { archived: true }))
    await isNotForOne(() => alone.delete(`${url()}/fields/${field.id}`))
    const another = { key: 'year', label: 'Year', type: 'text', required: true }
    await isNotForOne(() => alone.post(`${url()}/fields`, another))
  })

  it('an editor changes only its texts', async () => {
    const { field } = world
    expect((await clerk.patch(url(), { name: 'Salaries' })).status).toBe(200)
    expect((await clerk.patch(`${url()}/fields/${field.id}`, { label: 'Month of work' })).status).toBe(200)
    await isNotForOne(() => clerk.patch(url(), { archived: true }), [403])
    await isNotForOne(() => clerk.patch(url(), { appliesTo: 'deposit' }), [403])
    await isNotForOne(() => clerk.patch(`${url()}/fields/${field.id}`, { required: false }), [403])
    await isNotForOne(() => clerk.delete(`${url()}/fields/${field.id}`), [403])
  })

  it('the votes of two others make the change', async () => {
    const { status, body } = await alone.patch(url(), { assignScope: 'vault_members' })
    expect(status).toBe(202)
    const { id } = (body as unknown as { request: { id: string } }).request
    for (const voter of bench.admins.slice(0, 2)) expect((await bench.approve(voter, id)).status).toBe(200)
    expect((await alone.get(url())).body.assignScope).toBe('vault_members')
  })
})

describe('T83 addressGroupIds', () => {
  it('a manager does not change a folder that a rule names', async () => {
    for (const { manager, folder, address, other } of world.folders) {
      const url = `${bench.url}/address-groups/${folder.id}` as const
      const refused = [manager === alone ? 202 : 403]
      await isNotForOne(() => manager.post(`${url}/members`, { addressId: other.id }), refused)
      await isNotForOne(() => manager.delete(`${url}/members/${address.id}`), refused)
      await isNotForOne(() => manager.patch(url, { name: 'Cold' }), refused)
      expect((await manager.patch(url, { color: '#112233' })).status).toBe(200)
      expect((await manager.delete(url)).status).toBe(409)
    }
  })

  it('the vault changes such a folder by votes, whoever manages it', async () => {
    const { folder, other } = world.folders[1]!
    const add = { action: 'address_group_member_add', targetId: folder.id, payload: { addressId: other.id } }
    const draft = await bench.draft([add])
    expect(draft.status, JSON.stringify(draft.body)).toBe(201)
    const submitted = await bench.submit(draft.body.id)
    const id = submitted.body.request!.id
    for (const voter of bench.admins.slice(1, 3)) expect((await bench.approve(voter, id)).status).toBe(200)
    const { body } = await bench.vault.admin.get(`${bench.url}/address-groups/${folder.id}/members`)
    expect(body.items.map(({ addressId }) => addressId)).toContain(other.id)
    const foreign = { ...add, payload: { addressId: world.folders[0]!.other.id } }
    expect((await bench.draft([foreign])).status).toBe(400)
  })

  it('the manager alone changes a folder that no rule names', async () => {
    const folder = made(await clerk.post(`${bench.url}/address-groups`, { name: 'Mine' }))
    const { other } = world.folders[1]!
    made(await clerk.post(`${bench.url}/address-groups/${folder.id}/members`, { addressId: other.id }))
  })

  it('the database refuses changes of folders and categories that no version publishes', async () => {
    const { folder, address } = world.folders[0]!
    const gone = `delete from address_group_members where group_id = '${folder.id}' and address_id = '${address.id}'`
    await expect(bench.sql(gone)).rejects.toThrow('outside of the governance')
    const renamed = `update address_groups set name = 'Cold' where id = '${folder.id}'`
    await expect(bench.sql(renamed)).rejects.toThrow('outside of the governance')
    for (const change of [
      `update operation_categories set assign_scope = 'vault_members', view_scope = 'owner_only'`,
      `update category_grants set can_assign = true`,
      `update category_fields set required = not required`,
      `delete from category_fields where required`,
    ]) {
      await expect(bench.sql(change), change).rejects.toThrow('outside of its governance')
    }
  })

  it('votes on a policy do not count after the addresses of its folder have changed', async () => {
    const folder = made(await alone.post(`${bench.url}/address-groups`, { name: 'Later' }))
    const rules = [{ conditionType: 'require', selectors: [{ selectorType: 'addressGroup', value: [folder.id] }] }]
    const policy = { ...allowTransfers, code: 'later', name: 'Later', rules }
    const response = await alone.post(`/policy-groups/${bench.membersId}/policies`, policy)
    expect(response.status).toBe(202)
    const { id } = (response.body as unknown as { request: { id: string } }).request
    const { address } = world.folders[0]!
    made(await alone.post(`${bench.url}/address-groups/${folder.id}/members`, { addressId: address.id }))
    await bench.approve(bench.admins[0]!, id)
    const last = await bench.approve(bench.admins[1]!, id)
    expect(last.body, JSON.stringify(last.body)).not.toMatchObject({ status: 'approved' })
    expect(
      (await bench.vault.admin.get(`${bench.url}/policies?limit=100`)).body.items.map(({ code }) => code),
    ).not.toContain('later')
  })
})

describe('T83 the words that voters read', () => {
  it('another name, short name or description of a group waits', async () => {
    for (const change of [{ name: 'Treasury' }, { code: 'treasury' }, { description: 'The treasury' }])
      await isNotForOne(() => alone.patch(`/policy-groups/${bench.membersId}`, change))
  })
})

/** Expects a 400 for an order with this further property, because the schema of orders is closed. */
const orderHasNo = (property: string) => async () => {
  const { address } = world.folders[0]!
  const body = {
    fromAddressId: address.id,
    toAddress: fakeAddress('anybody'),
    amount: '1',
    token: 'ETH',
    [property]: 'x',
  }
  expect((await alone.post(`${bench.url}/transfers`, body)).status).toBe(400)
}
/** Expects no operation with one of these methods whose path contains `part`, except for `calculations`, which write nothing. */
const nothingWrites =
  (part: string, methods: string[], calculations: string[] = []) =>
  async () => {
    const paths = Object.entries(describedApiOf(bench.test.app).paths).filter(([path]) => path.includes(part))
    const operations = paths.flatMap(([, byMethod]) => Object.entries(byMethod))
    const writing = operations.filter(([method]) => methods.includes(method))
    expect(writing.map(([, { operationId }]) => operationId)).toEqual(calculations)
  }
const policiesDecide = (path: string, body: object) => async () =>
  expect((await alone.post(`${bench.url}/${path}` as `/vaults/${string}`, body)).status).toBe(403)
const counterparty = () => ({
  name: 'Anybody',
  kind: 'company',
  addresses: [{ network: 'ethereum', address: fakeAddress('anybody') }],
})

/** By fact, as in the table of docs/governance.md: an attempt of one person to change the fact, which must fail. */
const rows: Record<keyof Facts, () => Promise<void>> = {
  now: orderHasNo('now'),
  initiatorId: orderHasNo('initiatorId'),
  initiatorGroupIds: () =>
    isNotForOne(() => alone.post(`/policy-groups/${bench.membersId}/members`, { userId: alone.userId })),
  initiatorKind: () =>
    isNotForOne(() => alone.post(`${bench.url}/service-tokens`, { name: 'Robot', groupIds: [bench.membersId] })),
  operationId: orderHasNo('operationId'),
  token: async () => {
    const { id } = bench.vault.tokens.usdt
    for (const change of [{ code: 'ETH' }, { decimals: 2 }, { contractAddress: null }])
      expect((await bench.vault.admin.patch(`/tokens/${id}`, change)).status).toBe(400)
    const token = { network: 'ethereum', code: 'NEW', symbol: 'NEW', name: 'New', decimals: 6 }
    const created = made(await bench.vault.admin.post('/tokens', { ...token, contractAddress: fakeAddress('new') }))
    const { body } = await alone.get(`${bench.url}/withheld-tokens`)
    expect(body.items.map(({ tokenId }) => tokenId)).toContain(created.id)
  },
  amount: nothingWrites('/transfers', ['patch', 'put', 'delete']),
  summed: nothingWrites('/payouts', ['patch', 'put', 'delete']),
  usdRate: async () => {
    const rate = { usdRate: '1', asOf: bench.test.clock.now().toISOString(), source: 'manual' }
    expect((await bench.vault.admin.post(`/tokens/${bench.vault.tokens.usdt.id}/rates`, rate)).status).toBe(202)
  },
  available: async () => {
    const tokenId = bench.vault.tokens.eth.id
    const body = { addressId: world.folders[0]!.address.id, tokenId, amount: '1000', reason: 'More' }
    expect((await alone.post(`${bench.url}/adjustments`, body)).status).toBe(202)
  },
  networkSlug: async () => {
    const { id } = bench.vault.networks.ethereum
    expect((await bench.vault.admin.patch(`/networks/${id}`, { slug: 'other' })).status).toBe(400)
  },
  sourceAddressId: orderHasNo('sourceAddressId'),
  sourceAddress: async () => {
    const { address } = world.folders[0]!
    const url = `${bench.url}/addresses/${address.id}` as const
    expect((await alone.patch(url, { address: fakeAddress('anybody') })).status).toBe(400)
  },
  addressGroupIds: () => {
    const { folder, other } = world.folders[0]!
    return isNotForOne(() => alone.post(`${bench.url}/address-groups/${folder.id}/members`, { addressId: other.id }))
  },
  routeVariants: nothingWrites('/addresses/{id}/segments', ['patch', 'put', 'post']),
  destination: nothingWrites('/transfers', ['patch', 'put', 'delete']),
  destinationType: policiesDecide('counterparties', counterparty()),
  counterparty: policiesDecide('counterparties', counterparty()),
  destinationAddedAt: policiesDecide('counterparties', counterparty()),
  isFirstPayment: nothingWrites('/recipients', ['patch', 'put', 'post', 'delete'], ['checkRecipients']),
  isLookAlike: policiesDecide('counterparties', counterparty()),
  counterpartyGroupIds: policiesDecide('counterparty-groups', { code: 'anybody', name: 'Anybody' }),
  category: () =>
    isNotForOne(() =>
      alone.patch(`${bench.url}/operation-categories/${world.payroll.id}`, { editScope: 'vault_members' }),
    ),
  maxFee: nothingWrites('/transfers', ['patch', 'put', 'delete']),
  riskScore: nothingWrites('screening', ['patch', 'put', 'post', 'delete']),
  velocity: nothingWrites('/transfers', ['patch', 'put', 'delete']),
}

describe('T83 each fact', () => {
  it('has a row in docs/governance.md and a test', async () => {
    const source = await readFile(new URL('../selectors/facts.ts', import.meta.url), 'utf8')
    const file = ts.createSourceFile('facts.ts', source, ts.ScriptTarget.Latest)
    const type = file.statements.find(
      (statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === 'Facts',
    )
    const { members } = (type as ts.TypeAliasDeclaration).type as ts.TypeLiteralNode
    const facts = members.map((member) => (member.name as ts.Identifier).text)
    const manual = await readFile(new URL('../../../../../docs/governance.md', import.meta.url), 'utf8')
    const table = manual.slice(manual.indexOf('## What policies see'), manual.indexOf('### What one person does'))
    expect([...table.matchAll(/^\| `(\w+)` /gm)].map(([, fact]) => fact)).toEqual(facts)
    expect(Object.keys(rows)).toEqual(facts)
  })

  it.each(Object.entries(rows))('%s is not changed by one person alone', (_, attack) => attack())
})

describe('T83 tokens and users of the platform', () => {
  it('two platform administrators must agree on a change of the names of a token', async () => {
    const { id } = bench.vault.tokens.usdt
    const url = `/tokens/${id}` as const
    const [operator, second] = [
      bench.vault.admin,
      await bench.test.signIn('second@platform.org', { isPlatformAdmin: true }),
    ]
    for (const change of [{ symbol: 'USDC' }, { name: 'USD Coin', enabled: false }, { dustLimit: '1000' }]) {
      const { status, body } = await operator.patch(url, change)
      expect(status, JSON.stringify(body)).toBe(202)
      const held = body as unknown as { id: string }
      expect((await operator.patch(url, change)).status).toBe(409)
      expect((await operator.post(`/platform-changes/${held.id}/confirm`)).status).toBe(403)
      expect((await second.post(`/platform-changes/${held.id}/reject`)).status).toBe(200)
    }
    const { body } = await operator.patch(url, { symbol: 'USDT0' })
    const held = body as unknown as { id: string }
    expect((await second.post(`/platform-changes/${held.id}/confirm`)).status).toBe(200)
    expect((await second.post(`/platform-changes/${held.id}/confirm`)).status).toBe(409)
    const { items } = (await operator.get('/tokens?search=USDT0')).body
    expect(items).toEqual([expect.objectContaining({ id, symbol: 'USDT0' })])
    expect((await operator.patch(url, { enabled: false })).status).toBe(200)
  })

  it('two platform administrators must agree to enable a member of the vault', async () => {
    const { member, vault } = bench
    const second = await bench.test.signIn('second@platform.org', { isPlatformAdmin: true })
    expect((await vault.admin.post(`/users/${member.userId}/disable`, { reason: 'Left' })).status).toBe(200)
    const { status, body } = await vault.admin.post(`/users/${member.userId}/enable`, { reason: 'Back' })
    expect(status, JSON.stringify(body)).toBe(202)
    const { id } = body as unknown as { id: string }
    expect((await vault.admin.post(`/platform-changes/${id}/confirm`)).status).toBe(403)
    expect((await second.post(`/platform-changes/${id}/confirm`)).status).toBe(200)
    expect(await bench.sql('select id from users where id = $1 and disabled_at is null', [member.userId])).toHaveLength(
      1,
    )
  })
})
