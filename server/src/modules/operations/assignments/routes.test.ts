import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import { newId } from '../../../lib/ids.ts'
import type { Address, Answer, Deposit } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, createVaultFixture, ensureGroup, profileOf } from '../../../testing/fixtures.ts'
import { patiently } from '../../../testing/patiently.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { findInitiator } from '../../rules/decisions/decide.ts'
import { operationViewer, rightsOf } from '../categories/rights.ts'
import { findAssignment, listAssignments } from './queries.ts'

let bench: TransferBench
let admin: Person
/** Sees the address by a grant, and owns no address. */
let viewer: Person
let bystander: Person
let stranger: Person
let address: Address
let transferId: string
let depositId: string
const base = '/vaults/main-vault'
const path = (id = transferId, type = 'transfer') => `${base}/operations/${type}/${id}/categories` as const

beforeAll(async () => {
  bench = await createTransferBench()
  admin = bench.vault.admin
  viewer = await addMember(bench.test, bench.vault, 'viewer@example.org', ['accounting'])
  bystander = await addMember(bench.test, bench.vault, 'bystander@example.org')
  stranger = (await createVaultFixture(bench.test, { code: 'other-vault', adminEmail: 'other@example.org' })).admin
  address = await bench.fundedAddress()
  await share(address.id, viewer)
  transferId = (await bench.order(address.id, '1')).body.id
  depositId = (await bench.owner.get(`${base}/deposits?addressId=${address.id}`)).body.items[0]!.id
})
afterAll(() => bench.close())

async function share(addressId: string, person: Person): Promise<void> {
  const now = bench.test.clock.now()
  await bench.sql(
    `insert into address_grants (vault_id, id, address_id, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
     values ($1, $2, $3, 'user', $4, true, false, $5, $6)`,
    [bench.vault.id, newId(now), addressId, person.userId, bench.owner.userId, now],
  )
}

let counter = 0
const open = { appliesTo: 'both', viewScope: 'vault_members', assignScope: 'vault_members', editScope: 'vault_members' }

async function category(more: object = {}, fields: object[] = [], grants: object[] = []) {
  counter += 1
  const body = { key: `category_${counter}`, name: `Category ${counter}`, ...open, ...more }
  const { id } = expectStatus(await admin.post(`${base}/operation-categories`, body), 201)
  for (const field of fields) expectStatus(await admin.post(`${base}/operation-categories/${id}/fields`, field), 201)
  if (grants.length > 0) expectStatus(await admin.put(`${base}/operation-categories/${id}/grants`, { grants }), 200)
  return expectStatus(await admin.get(`${base}/operation-categories/${id}`), 200)
}

function expectStatus<Body>(answer: Answer<Body>, status: number): Body {
  expect(answer.status, JSON.stringify(answer.body)).toBe(status)
  return answer.body
}

type Path = `/vaults/${string}/operations/${string}/${string}/categories`
const put = (by: Person, { id }: { id: string }, values: object = {}, operation: Path = path()) =>
  by.put(`${operation}/${id}`, { values })
const order = async () => expectStatus(await bench.order(address.id, '1'), 201).id as string
const invoice = { key: 'invoice', label: 'Invoice', type: 'text', required: true }
const net = { key: 'net', label: 'Net', type: 'number', scale: 2 }
const salary = { key: 'salary', label: 'Salary', type: 'number', scale: 0, sensitive: true }

describe('category assignments', () => {
  it('are made, read, edited and removed, with an audit record of the operation each', async () => {
    const { id: categoryId, key } = await category({}, [invoice, net])
    const made = expectStatus(await put(bench.owner, { id: categoryId }, { invoice: '4711', net: '1500' }), 201)
    expect(made).toEqual({
      id: made.id,
      categoryId,
      key,
      values: { invoice: '4711', net: '1500.00' },
      redacted: false,
      version: 1,
      assignedById: bench.owner.userId,
      assignedBy: profileOf(bench.owner),
      createdAt: made.createdAt,
      updatedAt: made.createdAt,
    })
    const edited = expectStatus(await put(viewer, { id: categoryId }, { net: null, invoice: '4712' }), 200)
    expect(edited).toMatchObject({ id: made.id, values: { invoice: '4712' }, version: 2, createdAt: made.createdAt })
    expect((await bench.owner.get(path())).body).toEqual({ items: [edited] })
    expect((await bench.owner.delete(`${path()}/${categoryId}`)).status).toBe(204)
    expect((await bench.owner.get(path())).body).toEqual({ items: [] })

    const records = await bench.sql(
      `select action, content from audit_records where target_id = $1 and action like 'category_assignment.%' order by id`,
      [transferId],
    )
    const by = { categoryId, categoryKey: key }
    const [first, second] = [{ invoice: '4711', net: '1500.00' }, { invoice: '4712' }]
    expect(records.map(({ action, content }) => [action, JSON.parse(content).details])).toEqual([
      ['category_assignment.assigned', { ...by, before: null, after: first }],
      ['category_assignment.edited', { ...by, before: first, after: second }],
      ['category_assignment.unassigned', { ...by, before: second, after: null }],
    ])
  })

  it('are listed in the order in which they were assigned', async () => {
    const id = await order()
    const categories = [await category(), await category(), await category()]
    for (const category of categories.toReversed()) expectStatus(await put(bench.owner, category, {}, path(id)), 201)
    const { items } = (await bench.owner.get(path(id))).body
    expect(items.map(({ key }) => key)).toEqual(categories.toReversed().map(({ key }) => key))
  })

  it('may be of deposits, too', async () => {
    const newCategory = await category({ appliesTo: 'deposit' })
    expectStatus(await put(bench.owner, newCategory, {}, path(depositId, 'deposit')), 201)
    expect((await bench.owner.get(`${base}/deposits/${depositId}`)).body.metadata.category).toBe(newCategory.key)
    const { items } = (await bench.owner.get(`${base}/deposits?addressId=${address.id}`)).body
    expect((items[0] as Deposit).metadata.category).toBe(newCategory.key)
  })

  it('keep the value of an archived field, and refuse a new one', async () => {
    const newCategory = await category({}, [invoice, net])
    expectStatus(await put(bench.owner, newCategory, { invoice: '1', net: '5' }), 201)
    const field = newCategory.fields.find(({ key }) => key === 'net')!
    const archived = await admin.patch(`${base}/operation-categories/${newCategory.id}/fields/${field.id}`, {
      archived: true,
    })
    expectStatus(archived, 200)
    expect((await put(bench.owner, newCategory, { invoice: '2' })).body.values).toEqual({ invoice: '2', net: '5.00' })
    expect((await put(bench.owner, newCategory, { invoice: '2', net: '5.00' })).status).toBe(200)
    expect((await put(bench.owner, newCategory, { net: '6' })).body.message).toBe('values.net: is archived')
  })

  it('begin with defaults', async () => {
    const newCategory = await category({}, [
      { ...net, defaultJson: '7' },
      { ...invoice, defaultJson: 'none yet' },
    ])
    expect((await put(bench.owner, newCategory)).body.values).toEqual({ invoice: 'none yet', net: '7.00' })
  })

  it('take a JSON number of a field of type number, as a value and as a default', async () => {
    const number = { ...net, type: 'number', scale: 2 }
    const newCategory = await category({}, [
      { ...number, key: 'weight' },
      { ...number, key: 'count', defaultJson: 5 },
      { ...number, key: 'ratio', scale: null },
    ])
    expect(newCategory.fields.find(({ key }) => key === 'count')!.defaultJson).toBe(5)
    const values = { weight: 12.5, ratio: 0.000001 }
    expect((await put(bench.owner, newCategory, values)).body.values).toEqual({
      weight: '12.50',
      count: '5.00',
      ratio: '0.000001',
    })
  })

  it('may be put again under an Idempotency-Key', async () => {
    const newCategory = await category()
    const again = () =>
      bench.owner.put(`${path()}/${newCategory.id}`, { values: {} }, { 'idempotency-key': 'the-same' })
    expect([(await again()).status, (await again()).status]).toEqual([201, 201])
    expect((await put(bench.owner, newCategory)).body.version).toBe(2)
  })

  it('lists the categories that the caller may assign to an operation', async () => {
    const wanted = await category({ appliesTo: 'transfer' })
    const both = await category()
    const forDeposits = await category({ appliesTo: 'deposit' })
    const owned = await category({ assignScope: 'owner_only' })
    const hidden = await category({ viewScope: 'restricted' })
    const archived = await category()
    expectStatus(await admin.patch(`${base}/operation-categories/${archived.id}`, { archived: true }), 200)
    const all = [wanted, both, forDeposits, owned, hidden, archived].map(({ id }) => id)
    const available = async (by: Person, operation = path()) => {
      const { items } = expectStatus(await by.get(`${operation}/available`), 200)
      const ids: string[] = items.map(({ id }) => id)
      return all.map((id) => ids.includes(id))
    }
    expect(await available(bench.owner)).toEqual([true, true, false, true, false, false])
    expect(await available(viewer)).toEqual([true, true, false, false, false, false])
    expect(await available(admin)).toEqual([true, true, false, true, true, false])
    expect(await available(bench.owner, path(depositId, 'deposit'))).toEqual([false, true, true, true, false, false])
  })
})

describe('category assignments are refused', () => {
  it.each([
    ['an unknown field', { invoice: '1', amount: '1' }, 'values.amount'],
    ['no value of a required field', { net: '1' }, 'values.invoice'],
    ['an empty value of a required field', { invoice: '  ' }, 'values.invoice'],
    ['a text that is not a plain number', { invoice: '1', net: '1e3' }, 'values.net'],
    ['too many digits', { invoice: '1', net: '1.005' }, 'values.net'],
    ['a JSON number that is rounded', { invoice: '1', net: 1234567890123456 }, 'values.net'],
    ['a JSON number as a currency', { invoice: '1', fee: 1 }, 'values.fee'],
  ])('with %s: 400', async (_name, values, field) => {
    const newCategory = await category({}, [invoice, net, { key: 'fee', label: 'Fee', type: 'currency' }])
    const answer = await put(bench.owner, newCategory, values)
    expect([answer.status, answer.body.details?.[0]?.field]).toEqual([400, field])
    expect((await bench.owner.get(path())).body.items.some(({ key }) => key === newCategory.key)).toBe(false)
  })

  it('T37 with keys of prototypes: 400', async () => {
    const newCategory = await category({}, [net])
    for (const key of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      const answer = await bench.owner.put(`${path()}/${newCategory.id}`, `{"values":{"${key}":"1"}}`, {
        'content-type': 'application/json',
      })
      expect([key, answer.status]).toEqual([key, 400])
    }
  })

  it('of a category for other operations 400, of an archived one 409, without an assignment 404', async () => {
    const forDeposits = await category({ appliesTo: 'deposit' })
    expect((await put(bench.owner, forDeposits)).body.message).toBe(
      'categoryId: is a category for operations of type deposit',
    )
    const archived = await category()
    const assigned = await category()
    expectStatus(await put(bench.owner, assigned), 201)
    for (const { id } of [archived, assigned]) {
      expectStatus(await admin.patch(`${base}/operation-categories/${id}`, { archived: true }), 200)
    }
    expect((await put(bench.owner, archived)).status).toBe(409)
    expect((await put(bench.owner, assigned)).status).toBe(409)
    expect((await bench.owner.delete(`${path()}/${assigned.id}`)).status).toBe(204)
    expect((await bench.owner.delete(`${path()}/${assigned.id}`)).status).toBe(404)
    expect((await bench.owner.delete(`${path()}/nothing`)).status).toBe(404)
    expect((await put(bench.owner, { id: 'nothing' })).status).toBe(404)
  })

  it('T39 for an operation that the caller does not see, of the other type, or of another vault: 404', async () => {
    const newCategory = await category()
    const foreign = `/vaults/other-vault/operations/transfer/${transferId}/categories` as const
    const attempts: [Person, Path][] = [
      [bystander, path()],
      [bystander, path(depositId, 'deposit')],
      [bench.owner, path(transferId, 'deposit')],
      [bench.owner, path(depositId, 'transfer')],
      [bench.owner, path('nothing')],
      [stranger, foreign],
    ]
    for (const [by, operation] of attempts) {
      const answers = [
        await by.get(operation),
        await by.get(`${operation}/available`),
        await put(by, newCategory, {}, operation),
        await by.delete(`${operation}/${newCategory.id}`),
        await by.patch(operation.replace('/categories', '/metadata'), { note: 'mine' }),
      ]
      const statuses = answers.map(({ status }) => status)
      expect(statuses, operation).toEqual(Array(5).fill(404))
    }
    expect((await bench.owner.get(`${base}/operations/payment/${transferId}/categories`)).status).toBe(400)
  })

  it('T39 an approver of the transfer sees its categories, except those that only the owner may see', async () => {
    const { id } = (await bench.order(address.id, '200')).body
    const [visible, hidden] = [await category(), await category({ viewScope: 'owner_only' })]
    for (const assigned of [visible, hidden]) expectStatus(await put(bench.owner, assigned, {}, path(id)), 201)
    const { items } = expectStatus(await bench.firstApprover.get(path(id)), 200)
    expect(items.map(({ key }) => key)).toEqual([visible.key])
    expect((await bench.firstApprover.get(path())).status).toBe(404)
  })

  it('T39 of a visible category without the right: 403; of a hidden category, assigned or not: 404', async () => {
    const locked = await category({ assignScope: 'restricted', editScope: 'owner_only' })
    expect((await put(viewer, locked)).status).toBe(403)
    expect((await put(bench.owner, locked)).status).toBe(403)
    expectStatus(await put(admin, locked), 201)
    expect((await put(viewer, locked)).status).toBe(403)
    expect((await viewer.delete(`${path()}/${locked.id}`)).status).toBe(403)
    expect((await put(bench.owner, locked)).status).toBe(200)

    const hidden = await category({ viewScope: 'owner_only' })
    const seen = async () => {
      const answers = [
        await put(viewer, hidden),
        await viewer.delete(`${path()}/${hidden.id}`),
        await put(viewer, { id: 'nothing' }),
      ]
      return answers.map(({ status, body }) => [status, body.message])
    }
    const unknown = Array(3).fill([404, 'Operation category not found'])
    expect(await seen()).toEqual(unknown)
    expectStatus(await put(bench.owner, hidden), 201)
    expect(await seen()).toEqual(unknown)
    const keys = async (by: Person) => (await by.get(path())).body.items.map(({ key }) => key)
    expect(await keys(viewer)).not.toContain(hidden.key)
    expect(await keys(bench.owner)).toContain(hidden.key)
    expect(await keys(admin)).toContain(hidden.key)
  })

  it('T39 grants to a person or a group give each right on a restricted category by itself', async () => {
    const accounting = await ensureGroup(bench.vault, 'accounting')
    const scopes = { viewScope: 'restricted', assignScope: 'restricted', editScope: 'restricted' }
    const granted = (rights: object) => ({ subjectType: 'group', subjectGroupId: accounting, canView: true, ...rights })
    const assignable = await category(scopes, [], [granted({ canAssign: true })])
    const editable = await category(scopes, [], [granted({ canEdit: true })])
    expect((await put(bench.owner, assignable)).status).toBe(404)
    expectStatus(await put(viewer, assignable), 201)
    expect((await put(viewer, assignable)).status).toBe(403)
    expect((await put(viewer, editable)).status).toBe(403)
    expectStatus(await put(admin, editable), 201)
    expect((await put(viewer, editable)).status).toBe(200)
    expect((await viewer.delete(`${path()}/${editable.id}`)).status).toBe(204)
  })

  it('T39 sensitive values are null for viewers who may not edit them, whether or not they are set', async () => {
    const bonus = { ...salary, key: 'bonus', label: 'Bonus' }
    const newCategory = await category({ editScope: 'owner_only' }, [invoice, salary, bonus])
    const made = expectStatus(await put(viewer, newCategory, { invoice: '1', salary: '9000' }), 201)
    expect([made.values, made.redacted]).toEqual([{ invoice: '1', salary: null, bonus: null }, true])
    const read = async (by: Person) => {
      const { values, redacted } = (await by.get(path())).body.items.find(({ key }) => key === newCategory.key)!
      return [values, redacted]
    }
    expect(await read(viewer)).toEqual([{ invoice: '1', salary: null, bonus: null }, true])
    expect(await read(bench.owner)).toEqual([{ invoice: '1', salary: '9000' }, false])
    expect(await read(admin)).toEqual([{ invoice: '1', salary: '9000' }, false])
  })

  it('T39 SQL and rule agree on the viewers of an assignment', async () => {
    const id = await order()
    const operation = { vault_id: bench.vault.id, id, owner_id: bench.owner.userId, initiator_id: bench.owner.userId }
    const { db } = bench.test.deps
    const seesOnly = { subjectType: 'user', subjectUserId: viewer.userId, canView: true }
    const blind = { subjectType: 'user', subjectUserId: viewer.userId, canView: false, canAssign: true }
    const categories = [
      await category({ viewScope: 'owner_only' }),
      await category({ viewScope: 'vault_members' }),
      await category({ viewScope: 'restricted' }),
      await category({ viewScope: 'restricted' }, [], [seesOnly]),
      await category({ viewScope: 'restricted' }, [], [blind]),
    ]
    for (const category of categories) expectStatus(await put(admin, category, {}, path(id)), 201)
    const seen: Record<string, string[]> = {}
    for (const person of [bench.owner, viewer, bystander, admin]) {
      const membership = (await findInitiator(db, bench.vault.id, person.userId))!
      const viewer = { ...membership, readsAll: membership.isAdmin, vault: { id: bench.vault.id } }
      const bySql = (await listAssignments(db, visibleScopeOf(viewer), operation)).map(({ key }) => key)
      const byRule: string[] = []
      for (const category of categories) {
        const row = (await findAssignment(db, operation, category.id))!
        if (rightsOf(row, operationViewer(viewer, operation)).canView) byRule.push(row.key)
      }
      expect(bySql).toEqual(byRule)
      seen[person.email] = bySql
    }
    const keys = categories.map(({ key }) => key)
    expect(seen).toEqual({
      'owner@example.org': [keys[0], keys[1]],
      'viewer@example.org': [keys[1], keys[3]],
      'bystander@example.org': [keys[1]],
      'operator@example.org': keys,
    })
  })
})

describe('at the same time', () => {
  it('twenty edits are twenty versions, and none is lost', async () => {
    const fields = Array.from({ length: 20 }, (_, i) => ({ key: `field_${i}`, label: `Field ${i}`, type: 'text' }))
    const newCategory = await category({}, fields)
    expectStatus(await put(bench.owner, newCategory), 201)
    const edits = await Promise.all(
      fields.map(({ key }, i) => patiently(() => put(bench.owner, newCategory, { [key]: `value ${i}` }))),
    )
    expect(edits.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(edits.map(({ body }) => body.version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 2),
    )
    const { items } = (await bench.owner.get(path())).body
    const { values, version } = items.find(({ key }) => key === newCategory.key)!
    expect(version).toBe(21)
    expect(values).toEqual(Object.fromEntries(fields.map(({ key }, i) => [key, `value ${i}`])))
  })

  it('ten who assign make one assignment', async () => {
    const newCategory = await category()
    const answers = await Promise.all(Array.from({ length: 10 }, () => patiently(() => put(bench.owner, newCategory))))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201])
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  })
})
