import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import type { Address, Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let admin: Person
let viewer: Person
let address: Address
const base = '/vaults/main-vault'

beforeAll(async () => {
  bench = await createTransferBench()
  admin = bench.vault.admin
  viewer = await addMember(bench.test, bench.vault, 'viewer@example.org')
  address = await bench.fundedAddress()
  const now = bench.test.clock.now()
  await bench.sql(
    `insert into address_grants (vault_id, id, address_id, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
     values ($1, $2, $3, 'user', $4, true, true, $5, $6)`,
    [bench.vault.id, newId(now), address.id, viewer.userId, bench.owner.userId, now],
  )
})
afterAll(() => bench.close())

let counter = 0
const open = { appliesTo: 'both', viewScope: 'vault_members', assignScope: 'vault_members', editScope: 'vault_members' }

async function category(more: object = {}, fields: object[] = []): Promise<{ id: string; key: string }> {
  counter += 1
  const body = { key: `category_${counter}`, name: `Category ${counter}`, ...open, ...more }
  const created = expectStatus(await admin.post(`${base}/operation-categories`, body), 201)
  for (const field of fields) {
    expectStatus(await admin.post(`${base}/operation-categories/${created.id}/fields`, field), 201)
  }
  return created
}

function expectStatus<Body>(answer: Answer<Body>, status: number): Body {
  expect(answer.status, JSON.stringify(answer.body)).toBe(status)
  return answer.body
}

const order = async (by = bench.owner) => expectStatus(await bench.order(address.id, '1', {}, by), 201).id as string
const patch = (by: Person, id: string, body: object, type = 'transfer') =>
  by.patch(`${base}/operations/${type}/${id}/metadata`, body)
const assign = async (id: string, { id: categoryId }: { id: string }, by = admin) =>
  expectStatus(await by.put(`${base}/operations/transfer/${id}/categories/${categoryId}`, { values: {} }), 201)
const keysOf = async (id: string, by = admin) =>
  (await by.get(`${base}/operations/transfer/${id}/categories`)).body.items.map(({ key }) => key)
const nothing = { category: null, tags: [], paymentPurpose: null, note: null }
const text = (more: object = {}) => ({ key: 'invoice', label: 'Invoice', type: 'text', ...more })

describe('the metadata of an operation', () => {
  it('change one by one, are cleared by null, and leave a record of the earlier values', async () => {
    const id = await order()
    const { key } = await category()
    const all = { category: key, tags: ['march', 'payroll'], paymentPurpose: 'Invoice 4711', note: 'Agreed' }
    expect(expectStatus(await patch(bench.owner, id, all), 200)).toEqual(all)
    expect((await bench.read(id)).metadata).toEqual(all)
    expect(expectStatus(await patch(bench.owner, id, { note: null }), 200)).toEqual({ ...all, note: null })
    const cleared = { category: null, tags: null, paymentPurpose: null }
    expect(expectStatus(await patch(bench.owner, id, cleared), 200)).toEqual(nothing)
    expect(expectStatus(await patch(bench.owner, id, {}), 200)).toEqual(nothing)
    const records = await bench.sql(
      `select content from audit_records where target_id = $1 and action = 'operation.metadata_updated' order by id`,
      [id],
    )
    expect(records.map(({ content }) => JSON.parse(content).details)).toEqual([
      { before: nothing, after: all },
      { before: { note: 'Agreed' }, after: { note: null } },
      {
        before: { category: key, tags: ['march', 'payroll'], paymentPurpose: 'Invoice 4711' },
        after: { category: null, tags: [], paymentPurpose: null },
      },
    ])
  })

  it('may be of deposits, too', async () => {
    const [deposit] = (await bench.owner.get(`${base}/deposits?addressId=${address.id}`)).body.items
    const { key } = await category({ appliesTo: 'deposit' })
    const body = { category: key, paymentPurpose: 'Sale', note: null, tags: ['shop'] }
    expect(expectStatus(await patch(bench.owner, deposit!.id, body, 'deposit'), 200)).toEqual(body)
    expect((await bench.owner.get(`${base}/deposits/${deposit!.id}`)).body.metadata).toEqual(body)
  })

  it('change no money, and no vote that was given', async () => {
    const waiting = (await bench.order(address.id, '200')).body
    expectStatus(await bench.act(bench.firstApprover, waiting.id, 'approve'), 200)
    const before = await bench.balances(address.id)
    const { key } = await category()
    expectStatus(await patch(bench.owner, waiting.id, { category: key, note: 'Seen' }), 200)
    expect(await bench.balances(address.id)).toEqual(before)
    expectStatus(await bench.act(bench.secondApprover, waiting.id, 'approve'), 200)
    expect(await bench.read(waiting.id)).toMatchObject({ status: 'pending', payloadHash: waiting.payloadHash })
    await bench.expectSoundLedger()
  })

  it('name the first category, which is replaced', async () => {
    const id = await order()
    const [a, b, c] = [await category(), await category(), await category()]
    for (const assigned of [a, b]) await assign(id, assigned)
    expect((await patch(bench.owner, id, { category: a.key })).body.category).toBe(a.key)
    expect(await keysOf(id)).toEqual([a.key, b.key])
    expect((await patch(bench.owner, id, { category: c.key })).body.category).toBe(c.key)
    expect(await keysOf(id)).toEqual([c.key, b.key])
    expect((await patch(bench.owner, id, { category: b.key })).body.category).toBe(b.key)
    expect(await keysOf(id)).toEqual([b.key])
    await assign(id, a)
    expect((await patch(bench.owner, id, { category: null })).body.category).toBe(a.key)
    expect(await keysOf(id)).toEqual([a.key])
  })

  it('assign with defaults', async () => {
    const id = await order()
    const newCategory = await category({}, [text({ required: true, defaultJson: 'none yet' })])
    expectStatus(await patch(bench.owner, id, { category: newCategory.key }), 200)
    const { values } = (await admin.get(`${base}/operations/transfer/${id}/categories`)).body.items[0]!
    expect(values).toEqual({ invoice: 'none yet' })
  })

  it('twenty concurrent changes are all kept', async () => {
    const id = await order()
    const categories = await Promise.all(Array.from({ length: 4 }, () => category()))
    const answers = await Promise.all([
      ...categories.map(({ key }) => patch(bench.owner, id, { category: key })),
      ...Array.from({ length: 8 }, (_, i) => patch(bench.owner, id, { note: `note ${i}` })),
      ...Array.from({ length: 8 }, (_, i) => patch(bench.owner, id, { tags: [`tag ${i}`] })),
    ])
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const keys = await keysOf(id)
    expect(keys).toHaveLength(1)
    const { metadata } = await bench.read(id)
    expect(metadata).toMatchObject({ category: keys[0], note: expect.stringMatching(/^note \d$/) })
    expect(metadata.tags).toHaveLength(1)
  })
})

describe('metadata are refused', () => {
  it.each<[string, () => Promise<{ key: string }>, string]>([
    ['an unknown category', async () => ({ key: 'nothing' }), 'category: is not an active category of this vault'],
    [
      'an archived category',
      async () => {
        const newCategory = await category()
        expectStatus(await admin.patch(`${base}/operation-categories/${newCategory.id}`, { archived: true }), 200)
        return newCategory
      },
      'category: is not an active category of this vault',
    ],
    [
      'a category that the owner may not see',
      () => category({ viewScope: 'restricted' }),
      'category: is not an active category of this vault',
    ],
    [
      'a category for deposits',
      () => category({ appliesTo: 'deposit' }),
      'category: is a category for operations of type deposit',
    ],
    [
      'a category that needs values',
      () => category({}, [text({ required: true })]),
      'category: needs values: assign it by PUT …/categories/{categoryId}',
    ],
    [
      'a category that needs approval',
      () => category({ approvalScope: 'assign_and_edit', approvalThreshold: 1 }),
      'category: needs approval: assign it by PUT …/categories/{categoryId}',
    ],
  ])('with %s: 400, and nothing of them is written', async (_name, make, message) => {
    const id = await order()
    const { key } = await make()
    const answer = await patch(bench.owner, id, { note: 'not this', category: key })
    expect([answer.status, answer.body.message]).toEqual([400, message])
    expect((await bench.read(id)).metadata).toEqual(nothing)
  })

  it('without the rights of assigning and unassigning: 403', async () => {
    const id = await order()
    const closed = await category({ assignScope: 'restricted', editScope: 'restricted' })
    expect((await patch(bench.owner, id, { category: closed.key })).status).toBe(403)
    await assign(id, closed)
    const free = await category()
    expect((await patch(bench.owner, id, { category: null })).status).toBe(403)
    expect((await patch(bench.owner, id, { category: free.key })).status).toBe(403)
    expect(await keysOf(id)).toEqual([closed.key])
  })

  it('when the first category needs approval to be taken off: 400', async () => {
    const id = await order()
    const newCategory = await category({ approvalScope: 'edit', approvalThreshold: 1 })
    await assign(id, newCategory)
    const answer = await patch(bench.owner, id, { category: null })
    expect(answer.body.details).toEqual([
      {
        field: 'category',
        message: `${newCategory.key} needs approval to be replaced: unassign it by DELETE …/categories/{categoryId}`,
      },
    ])
    expect(await keysOf(id)).toEqual([newCategory.key])
  })

  it('T41 with a field that is not metadata: 400', async () => {
    const id = await order()
    for (const body of [{ status: 'confirmed' }, { amount: '0' }, { tags: ['a', 'a'] }, { note: 7 }]) {
      expect((await patch(bench.owner, id, body)).status).toBe(400)
    }
  })

  it('T39 each reader is shown the first category that they may see', async () => {
    const id = await order()
    const [mine, shared] = [await category({ viewScope: 'owner_only' }), await category()]
    for (const assigned of [mine, shared]) await assign(id, assigned)
    const readBy = async (by: Person) => {
      const list = (await by.get(`${base}/transfers?includeShared=true&limit=100`)).body.items
      const listed = list.find((item) => item.id === id)
      return [(await bench.read(id, by)).metadata.category, listed!.metadata.category]
    }
    expect(await readBy(bench.owner)).toEqual([mine.key, mine.key])
    expect(await readBy(viewer)).toEqual([shared.key, shared.key])
  })
})
