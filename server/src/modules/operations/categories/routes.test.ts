import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import {
  approversPerCategoryMax,
  fieldsPerCategoryMax,
  grantsPerCategoryMax,
  optionsPerFieldMax,
} from '../../../lib/limits.ts'
import type { Answer, AnswerOf } from '../../../testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createVaultFixture,
  deposit,
  ensureGroup,
  profileOf,
  type VaultFixture,
} from '../../../testing/fixtures.ts'
import { findCategoryByKey } from './queries.ts'

let test: TestApp
let vault: VaultFixture
let admin: Person
/** Granted canEdit by name or by the group `controllers`, depending on the test. */
let controller: Person
let clerk: Person
let otherVault: VaultFixture

const base = '/vaults/main-vault/operation-categories'

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  admin = vault.admin
  controller = await addMember(test, vault, 'controller@example.org', ['controllers'])
  clerk = await addMember(test, vault, 'clerk@example.org', ['clerks'])
  otherVault = await createVaultFixture(test, { code: 'other-vault', adminEmail: 'other-operator@example.org' })
  await allowAll(vault, 'create_address')
})
afterAll(() => test.close())

let made = 0
async function createCategory(body: Record<string, unknown> = {}) {
  made += 1
  const answer = await admin.post(base, { key: `category_${made}`, name: `Category ${made}`, ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

async function addField(categoryId: string, body: Record<string, unknown>) {
  const answer = await admin.post(`${base}/${categoryId}/fields`, { label: 'Label', ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

async function grant(categoryId: string, ...grants: Record<string, unknown>[]) {
  const answer = await admin.put(`${base}/${categoryId}/grants`, { grants })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const editorGrant = () => ({ subjectType: 'user', subjectUserId: controller.userId, canEdit: true })
const read = async (id: string, by = admin) => (await by.get(`${base}/${id}`)).body
const versionOf = async (id: string): Promise<number> => (await read(id)).version
/** The status with the field of a 400 or the message of any other answer. */
const refusal = ({ status, body }: Answer) => [status, body.details?.[0]?.field ?? body.message]

const options = [
  { value: 'EUR', label: 'Euro' },
  { value: 'USD', label: 'US dollar' },
]

/** Records values under field keys, as an assignment to an operation would. */
async function recordValues(categoryId: string, values: Record<string, string>): Promise<void> {
  const { address } = await createAddress(admin)
  await deposit(test, { address, amount: '1' })
  const operation = await test.deps.db
    .selectFrom('operations')
    .select(['id', 'created_at'])
    .where('vault_id', '=', vault.id)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  await test.deps.db
    .insertInto('category_assignments')
    .values({
      vault_id: vault.id,
      id: newId(),
      operation_id: operation.id,
      operation_type: 'deposit',
      operation_created_at: operation.created_at,
      category_id: categoryId,
      values: JSON.stringify(values),
      assigned_by_id: admin.userId,
      created_at: operation.created_at,
      updated_at: operation.created_at,
    })
    .execute()
}

async function audited(categoryId: string): Promise<{ action: string; details: Record<string, unknown> }[]> {
  const rows = await test.deps.db
    .selectFrom('audit_records')
    .select(['action', 'content'])
    .where('target_id', '=', categoryId)
    .where('chain', '=', vault.id)
    .execute()
  const records = rows.map(({ action, content }) => ({ action, details: JSON.parse(content).details }))
  return records.sort((a, b) => Number(a.details.version ?? 1) - Number(b.details.version ?? 1))
}

describe('categories', () => {
  it('are created with defaults, read, changed, archived and brought back', async () => {
    const { status, body } = await admin.post(base, { key: 'payroll', name: 'Payroll' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: body.id,
      vaultId: vault.id,
      key: 'payroll',
      name: 'Payroll',
      description: null,
      emoji: null,
      color: null,
      appliesTo: 'both',
      viewScope: 'vault_members',
      assignScope: 'owner_only',
      editScope: 'owner_only',
      approvalScope: 'none',
      approvalThreshold: 0,
      allowInitiatorApproval: false,
      isSystem: false,
      archived: false,
      version: 1,
      createdById: admin.userId,
      createdBy: profileOf(admin),
      updatedById: admin.userId,
      updatedBy: profileOf(admin),
      createdAt: body.createdAt,
      updatedAt: body.createdAt,
      fields: [],
      grants: [],
      approvers: [],
    })
    expect(await read(body.id, clerk)).toEqual(body)

    test.clock.advance(1000)
    const change = {
      name: 'Salaries',
      description: 'Who works here',
      emoji: '💶',
      color: '#1d4ed8',
      appliesTo: 'transfer',
      viewScope: 'restricted',
      assignScope: 'vault_members',
      editScope: 'restricted',
      approvalScope: 'assign_and_edit',
      approvalThreshold: 2,
      allowInitiatorApproval: true,
    }
    const changed = await admin.patch(`${base}/${body.id}`, change)
    expect(changed.status).toBe(200)
    expect(changed.body).toEqual({ ...body, ...change, version: 2, updatedAt: changed.body.updatedAt })
    expect(changed.body.updatedAt > body.updatedAt).toBe(true)

    const archived = await admin.patch(`${base}/${body.id}`, { archived: true })
    expect(archived.body).toMatchObject({ ...change, archived: true, version: 3 })
    const back = await admin.patch(`${base}/${body.id}`, { archived: false, emoji: null })
    expect(back.body).toMatchObject({ ...change, emoji: null, archived: false, version: 4 })
    expect(await read(body.id)).toEqual(back.body)

    expect((await audited(body.id)).map(({ action }) => action)).toEqual([
      'category.created',
      'category.updated',
      'category.updated',
      'category.updated',
    ])
    expect((await audited(body.id))[2]!.details).toEqual({
      category: 'payroll',
      version: 3,
      changes: { before: { archived: false }, after: { archived: true } },
    })
  })

  it('are listed by state and operation type, page by page', async () => {
    const ids: Record<string, string> = {}
    for (const appliesTo of ['transfer', 'deposit', 'both']) ids[appliesTo] = (await createCategory({ appliesTo })).id
    const gone = (await createCategory({ appliesTo: 'transfer' })).id
    await admin.patch(`${base}/${gone}`, { archived: true })
    const walk = async (query: string): Promise<string[]> => {
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const answer: AnswerOf<'get', typeof base> = await clerk.get(
          `${base}?limit=2&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
        )
        expect(answer.status).toBe(200)
        seen.push(...answer.body.items.map(({ id }) => id))
        cursor = answer.body.nextCursor
      }
      return seen
    }
    const ours = async (query: string) => (await walk(query)).filter((id) => [...Object.values(ids), gone].includes(id))
    const { transfer, deposit: incoming, both } = ids
    expect(await ours('')).toEqual([gone, both, incoming, transfer])
    expect(await ours('archived=false')).toEqual([both, incoming, transfer])
    expect(await ours('archived=true')).toEqual([gone])
    expect(await ours('appliesTo=transfer')).toEqual([gone, both, transfer])
    expect(await ours('appliesTo=transfer&archived=false')).toEqual([both, transfer])
    expect(await ours('appliesTo=deposit')).toEqual([both, incoming])
    expect(await ours('appliesTo=both')).toEqual([both])
    const all = await walk('')
    expect(new Set(all).size).toBe(all.length)
    const { nextCursor } = (await clerk.get(`${base}?limit=1&archived=false`)).body
    expect((await clerk.get(`${base}?limit=2&archived=false&cursor=${nextCursor}`)).status).toBe(200)
    for (const query of ['', 'archived=true&', 'archived=false&appliesTo=both&']) {
      const { status, body } = await clerk.get(`${base}?${query}cursor=${nextCursor}`)
      expect([query, status, body.details?.[0]?.field]).toEqual([query, 400, 'cursor'])
    }
  })

  it('step their version once with each of 20 concurrent changes, and lose none', async () => {
    const { id } = await createCategory()
    // Ten requests change one setting each: a request that wrote back what it had read before would undo the others.
    const settings = {
      name: 'Raced',
      description: 'All at once',
      emoji: '🏁',
      color: '#123456',
      appliesTo: 'deposit',
      viewScope: 'restricted',
      assignScope: 'vault_members',
      editScope: 'restricted',
      approvalThreshold: 3,
      allowInitiatorApproval: true,
    }
    const keys = Array.from({ length: 10 }, (_, i) => `field_${i}`)
    const [edits, additions] = await Promise.all([
      Promise.all(Object.entries(settings).map(([name, value]) => admin.patch(`${base}/${id}`, { [name]: value }))),
      Promise.all(keys.map((key) => admin.post(`${base}/${id}/fields`, { key, label: key, type: 'text' }))),
    ])
    expect(edits.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(additions.map(({ status }) => status)).toEqual(Array(10).fill(201))
    const after = await read(id)
    expect(after).toMatchObject({ ...settings, version: 21 })
    expect(after.fields.map(({ key }) => key).sort()).toEqual(keys)
    expect(new Set(edits.map(({ body }) => body.version)).size).toBe(10)
    expect((await audited(id)).map(({ details }) => details.version ?? 1)).toEqual(
      Array.from({ length: 21 }, (_, i) => i + 1),
    )
  })

  it('are found by their key', async () => {
    const { id, key } = await createCategory()
    expect((await findCategoryByKey(test.deps.db, vault.id, key))?.id).toBe(id)
    expect(await findCategoryByKey(test.deps.db, otherVault.id, key)).toBeNull()
    expect(await findCategoryByKey(test.deps.db, vault.id, '__proto__')).toBeNull()
  })

  it('ask for one vote, or for as many as before, where an approval comes without a threshold', async () => {
    const body = { key: 'one_vote', name: 'One vote', approvalScope: 'assign_and_edit' }
    const created = await admin.post(base, body)
    expect([created.status, created.body]).toEqual([201, expect.objectContaining({ ...body, approvalThreshold: 1 })])
    const { id } = await createCategory()
    const patch = async (body: object) => {
      const { approvalScope, approvalThreshold } = (await admin.patch(`${base}/${id}`, body)).body
      return [approvalScope, approvalThreshold]
    }
    expect(await patch({ approvalScope: 'edit' })).toEqual(['edit', 1])
    expect((await audited(id)).at(-1)!.details).toMatchObject({
      changes: { after: { approvalScope: 'edit', approvalThreshold: 1 } },
    })
    expect(await patch({ approvalThreshold: 3 })).toEqual(['edit', 3])
    expect(await patch({ approvalScope: 'none' })).toEqual(['none', 3])
    expect(await patch({ approvalScope: 'assign_and_edit' })).toEqual(['assign_and_edit', 3])
  })
})

describe('fields', () => {
  it('are added with defaults, changed, archived and deleted, each in one version step', async () => {
    const { id } = await createCategory()
    const { status, body } = await admin.post(`${base}/${id}/fields`, { key: 'cost_center', label: 'CC', type: 'text' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: body.id,
      categoryId: id,
      key: 'cost_center',
      label: 'CC',
      type: 'text',
      required: false,
      optionsJson: null,
      scale: null,
      currencyFieldKey: null,
      unit: null,
      defaultJson: null,
      helpText: null,
      sensitive: false,
      orderIndex: 0,
      archived: false,
      createdAt: body.createdAt,
      updatedAt: body.createdAt,
    })
    expect(await read(id)).toMatchObject({ version: 2, fields: [body] })

    test.clock.advance(1000)
    const change = { label: 'Cost center', required: true, defaultJson: 'cc', helpText: 'As booked', sensitive: true }
    const changed = await admin.patch(`${base}/${id}/fields/${body.id}`, { ...change, orderIndex: -5, archived: true })
    expect(changed.status).toBe(200)
    expect(changed.body).toEqual({
      ...body,
      ...change,
      orderIndex: -5,
      archived: true,
      updatedAt: changed.body.updatedAt,
    })
    expect(changed.body.updatedAt > body.updatedAt).toBe(true)
    expect(await read(id)).toMatchObject({ version: 3, fields: [changed.body] })
    expect((await admin.patch(`${base}/${id}/fields/${body.id}`, { archived: false })).body.archived).toBe(false)
    expect((await admin.delete(`${base}/${id}/fields/${body.id}`)).status).toBe(204)
    expect(await read(id)).toMatchObject({ version: 5, fields: [] })
    expect((await admin.delete(`${base}/${id}/fields/${body.id}`)).status).toBe(404)
    expect((await audited(id)).map(({ action }) => action)).toEqual([
      'category.created',
      'category.field_added',
      'category.field_updated',
      'category.field_updated',
      'category.field_deleted',
    ])
    expect((await audited(id))[2]!.details).toMatchObject({
      fieldId: body.id,
      key: 'cost_center',
      changes: { before: { label: 'CC' }, after: { label: 'Cost center' } },
    })
  })

  it('keep the settings of their type', async () => {
    const { id } = await createCategory()
    const currencies = await addField(id, { key: 'currency', type: 'select', optionsJson: options, defaultJson: 'EUR' })
    expect(currencies).toMatchObject({ optionsJson: options, defaultJson: 'EUR', scale: null })
    const linked = { key: 'net', type: 'currency', currencyFieldKey: 'currency', unit: 'k' }
    expect(await addField(id, linked)).toMatchObject({ scale: 2, currencyFieldKey: 'currency', unit: 'k' })
    expect(await addField(id, { key: 'yen', type: 'currency', scale: 0 })).toMatchObject({ scale: 0 })
    const weight = await addField(id, { key: 'weight', type: 'number', scale: 3, unit: 'kg', defaultJson: '-1.25' })
    expect(weight).toMatchObject({ scale: 3, unit: 'kg', defaultJson: '-1.25' })
    expect(await addField(id, { key: 'any', type: 'number' })).toMatchObject({ scale: null })
    expect(await addField(id, { key: 'size', type: 'text', unit: 'EU' })).toMatchObject({ unit: 'EU' })
    expect(await addField(id, { key: 'paid', type: 'boolean', defaultJson: false })).toMatchObject({
      defaultJson: false,
    })
    const cleared = await admin.patch(`${base}/${id}/fields/${weight.id}`, {
      scale: null,
      unit: null,
      defaultJson: null,
    })
    expect(cleared.body).toMatchObject({ scale: null, unit: null, defaultJson: null })
    const net = (await read(id)).fields.find(({ key }) => key === 'net')
    const defaulted = await admin.patch(`${base}/${id}/fields/${net!.id}`, { scale: null, currencyFieldKey: null })
    expect(defaulted.body).toMatchObject({ scale: 2, currencyFieldKey: null })
  })

  it('are sorted by order, equal orders by creation, up to the limits of an order', async () => {
    const { id } = await createCategory()
    const order = { b: 7, a: 7, last: Number.MAX_SAFE_INTEGER, first: Number.MIN_SAFE_INTEGER, zero: undefined }
    for (const [key, orderIndex] of Object.entries(order)) {
      await addField(id, { key, type: 'text', ...(orderIndex === undefined ? {} : { orderIndex }) })
      test.clock.advance(1)
    }
    const { fields } = await read(id)
    expect(fields.map(({ key, orderIndex }) => [key, orderIndex])).toEqual([
      ['first', Number.MIN_SAFE_INTEGER],
      ['zero', 0],
      ['b', 7],
      ['a', 7],
      ['last', Number.MAX_SAFE_INTEGER],
    ])
  })

  it('that are required may come to a category that is in use', async () => {
    const { id } = await createCategory()
    await addField(id, { key: 'old', type: 'text' })
    await recordValues(id, { old: 'x' })
    expect(await addField(id, { key: 'later', type: 'text', required: true })).toMatchObject({ required: true })
  })

  it('with recorded values are archived, not deleted, and keep their scale', async () => {
    const { id } = await createCategory()
    const used = await addField(id, { key: 'net', type: 'number', scale: 2 })
    const unused = await addField(id, { key: 'gross', type: 'number', scale: 2 })
    const choice = await addField(id, { key: 'choice', type: 'select', optionsJson: options })
    await recordValues(id, { net: '1.50', choice: 'USD' })
    const version = await versionOf(id)
    expect(refusal(await admin.delete(`${base}/${id}/fields/${used.id}`))).toEqual([
      409,
      'The field has recorded values; archive it instead',
    ])
    expect(refusal(await admin.patch(`${base}/${id}/fields/${used.id}`, { scale: 3 }))).toEqual([
      409,
      'The scale cannot be changed because the field has recorded values',
    ])
    expect(await versionOf(id)).toBe(version)
    expect((await admin.patch(`${base}/${id}/fields/${used.id}`, { scale: 2, label: 'Net' })).status).toBe(200)
    expect((await admin.patch(`${base}/${id}/fields/${used.id}`, { archived: true })).status).toBe(200)
    expect((await admin.patch(`${base}/${id}/fields/${unused.id}`, { scale: 3 })).body.scale).toBe(3)
    expect((await admin.delete(`${base}/${id}/fields/${unused.id}`)).status).toBe(204)
    // An option in use may be removed; recorded values keep it.
    const fewer = await admin.patch(`${base}/${id}/fields/${choice.id}`, { optionsJson: [options[0]] })
    expect(fewer.body.optionsJson).toEqual([options[0]])
    expect((await admin.delete(`${base}/${id}/fields/${choice.id}`)).status).toBe(409)
  })
})

describe('grants and approvers', () => {
  it('are replaced as a whole; remaining people keep their grant', async () => {
    const { id } = await createCategory()
    const clerks = await ensureGroup(vault, 'clerks')
    const first = await grant(
      id,
      { subjectType: 'user', subjectUserId: controller.userId, canAssign: true },
      { subjectType: 'group', subjectGroupId: clerks, canView: false, canEdit: true, subjectUserId: null },
    )
    expect(first.version).toBe(2)
    expect(first.grants).toEqual([
      {
        id: first.grants[0]!.id,
        vaultId: vault.id,
        categoryId: id,
        subjectType: 'user',
        subjectUserId: controller.userId,
        subjectGroupId: null,
        canView: true,
        canAssign: true,
        canEdit: false,
        user: profileOf(controller),
        grantorId: admin.userId,
        grantor: profileOf(admin),
        status: 'active',
        createdAt: first.updatedAt,
      },
      {
        id: first.grants[1]!.id,
        vaultId: vault.id,
        categoryId: id,
        subjectType: 'group',
        subjectUserId: null,
        subjectGroupId: clerks,
        canView: false,
        canAssign: false,
        canEdit: true,
        user: null,
        grantorId: admin.userId,
        grantor: profileOf(admin),
        status: 'active',
        createdAt: first.updatedAt,
      },
    ])

    test.clock.advance(1000)
    const second = await addMember(test, vault, 'second-admin@example.org', ['administrators'])
    const replaced = await second.put(`${base}/${id}/grants`, {
      grants: [
        { subjectType: 'group', subjectGroupId: vault.groups.everyone },
        { subjectType: 'group', subjectGroupId: clerks, canView: true, canAssign: false, canEdit: true },
        { subjectType: 'user', subjectUserId: controller.userId, canAssign: true },
      ],
    })
    expect(replaced.status).toBe(200)
    const [kept, changed] = first.grants
    expect(replaced.body.version).toBe(3)
    expect(replaced.body.grants.slice(0, 2)).toEqual([
      kept,
      { ...changed, canView: true, grantorId: second.userId, grantor: profileOf(second) },
    ])
    expect(replaced.body.grants[2]).toMatchObject({ subjectGroupId: vault.groups.everyone, grantorId: second.userId })

    const cleared = await grant(id)
    expect([cleared.version, cleared.grants]).toEqual([4, []])
    const [, , step] = await audited(id)
    expect(step).toMatchObject({
      action: 'category.grants_replaced',
      details: { version: 3, before: [{ subject: `user:${controller.userId}`, canAssign: true }, {}] },
    })
  })

  it('name approvers, in their order', async () => {
    const { id } = await createCategory()
    const clerks = await ensureGroup(vault, 'clerks')
    const first = await admin.put(`${base}/${id}/approvers`, {
      approvers: [
        { kind: 'group', groupId: clerks },
        { kind: 'user', userId: controller.userId, groupId: null },
      ],
    })
    expect(first.status).toBe(200)
    expect(first.body.version).toBe(2)
    const [group, user] = first.body.approvers
    expect([group, user]).toEqual([
      {
        id: group!.id,
        categoryId: id,
        kind: 'group',
        userId: null,
        groupId: clerks,
        user: null,
        createdAt: group!.createdAt,
      },
      {
        id: user!.id,
        categoryId: id,
        kind: 'user',
        userId: controller.userId,
        groupId: null,
        user: { userId: controller.userId, kind: 'person', name: 'controller', image: null },
        createdAt: group!.createdAt,
      },
    ])
    test.clock.advance(1000)
    const second = await admin.put(`${base}/${id}/approvers`, {
      approvers: [
        { kind: 'user', userId: clerk.userId },
        { kind: 'user', userId: controller.userId },
      ],
    })
    expect(second.body.approvers).toEqual([user, expect.objectContaining({ userId: clerk.userId })])
    expect(second.body.version).toBe(3)
    expect((await audited(id)).at(-1)).toMatchObject({
      action: 'category.approvers_replaced',
      details: {
        before: [`group:${clerks}`, `user:${controller.userId}`],
        after: [`user:${clerk.userId}`, `user:${controller.userId}`],
      },
    })
  })

  it('keep a group that approves from being deleted, until somebody else approves', async () => {
    const { id } = await createCategory()
    const reviewers = await ensureGroup(vault, 'reviewers')
    await admin.put(`${base}/${id}/approvers`, { approvers: [{ kind: 'group', groupId: reviewers }] })
    expect(refusal(await admin.delete(`/policy-groups/${reviewers}`))).toEqual([
      409,
      'The group approves for policies or categories; name other approvers first',
    ])
    await admin.put(`${base}/${id}/approvers`, { approvers: [] })
    expect((await admin.delete(`/policy-groups/${reviewers}`)).status).toBe(204)
  })

  it('are refused for strangers, twice, for nothing and beyond their limit', async () => {
    const { id } = await createCategory()
    const stranger = otherVault.admin.userId
    const foreignGroup = otherVault.groups.everyone
    const user = { subjectType: 'user', subjectUserId: controller.userId }
    const put = async (...grants: unknown[]) => refusal(await admin.put(`${base}/${id}/grants`, { grants }))
    expect(await put(user, { subjectType: 'user', subjectUserId: stranger })).toEqual([400, 'grants.1.subjectUserId'])
    expect(await put({ subjectType: 'group', subjectGroupId: foreignGroup })).toEqual([400, 'grants.0.subjectGroupId'])
    expect(await put({ subjectType: 'group', subjectGroupId: 'nothing' })).toEqual([400, 'grants.0.subjectGroupId'])
    expect(await put({ subjectType: 'user' })).toEqual([400, 'grants.0.subjectUserId'])
    expect(await put({ subjectType: 'group', subjectUserId: controller.userId })).toEqual([
      400,
      'grants.0.subjectGroupId',
    ])
    expect(await put({ ...user, subjectGroupId: vault.groups.everyone })).toEqual([400, 'grants.0.subjectGroupId'])
    expect(await put(user, user)).toEqual([400, 'grants.1'])
    expect(await put({ ...user, canView: false })).toEqual([400, 'grants.0'])
    expect(await put({ ...user, subject: 'user:x' })).toEqual([400, 'grants.0.subject'])
    expect(await put({ subjectType: 'everyone' })).toEqual([400, 'grants.0.subjectType'])
    expect(await put(...Array(grantsPerCategoryMax + 1).fill(user))).toEqual([400, 'grants'])

    const approver = { kind: 'user', userId: controller.userId }
    const name = async (...approvers: unknown[]) => refusal(await admin.put(`${base}/${id}/approvers`, { approvers }))
    expect(await name({ kind: 'user', userId: stranger })).toEqual([400, 'approvers.0.userId'])
    expect(await name(approver, { kind: 'group', groupId: foreignGroup })).toEqual([400, 'approvers.1.groupId'])
    expect(await name({ kind: 'group' })).toEqual([400, 'approvers.0.groupId'])
    expect(await name({ ...approver, groupId: vault.groups.everyone })).toEqual([400, 'approvers.0.groupId'])
    expect(await name(approver, approver)).toEqual([400, 'approvers.1'])
    expect(await name(...Array(approversPerCategoryMax + 1).fill(approver))).toEqual([400, 'approvers'])
    expect(await read(id)).toMatchObject({ version: 1, grants: [], approvers: [] })
  })
})

describe('the service refuses', () => {
  it('a key twice, also at the same time, and a malformed key', async () => {
    const { key } = await createCategory()
    expect(refusal(await admin.post(base, { key, name: 'x' }))).toEqual([
      409,
      `The vault already has a category with the key ${key}`,
    ])
    const answers = await Promise.all([1, 2, 3, 4].map(() => admin.post(base, { key: 'raced', name: 'x' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    const elsewhere = await otherVault.admin.post('/vaults/other-vault/operation-categories', { key, name: 'x' })
    expect(elsewhere.status).toBe(201)
    const { id } = await createCategory()
    for (const wrong of ['__proto__', '', 'A', '1a', '_a', 'a-b', 'a b', 'a\n', 'ä', 'a'.repeat(65)]) {
      expect(refusal(await admin.post(base, { key: wrong, name: 'x' })), wrong).toEqual([400, 'key'])
      const field = { key: wrong, label: 'x', type: 'text' }
      expect(refusal(await admin.post(`${base}/${id}/fields`, field)), wrong).toEqual([400, 'key'])
    }
    for (const right of ['constructor', 'prototype', 'a'.repeat(64)]) {
      expect(await addField(id, { key: right, type: 'text' })).toMatchObject({ key: right })
    }
    expect(refusal(await admin.post(`${base}/${id}/fields`, { key: 'constructor', label: 'x', type: 'date' }))).toEqual(
      [409, 'The category already has a field with the key constructor'],
    )
  })

  it('invalid settings of a category', async () => {
    const { id, key } = await createCategory()
    const patch = async (body: Record<string, unknown>) => refusal(await admin.patch(`${base}/${id}`, body))
    expect(await patch({ key: 'renamed' })).toEqual([400, 'key'])
    expect(await patch({ fields: [] })).toEqual([400, 'fields'])
    expect(await patch({ isSystem: true })).toEqual([400, 'isSystem'])
    expect(await patch({ version: 7 })).toEqual([400, 'version'])
    expect(await patch({ name: '' })).toEqual([400, 'name'])
    expect(await patch({ name: 'x'.repeat(201) })).toEqual([400, 'name'])
    expect(await patch({ color: 'red' })).toEqual([400, 'color'])
    expect(await patch({ appliesTo: 'everything' })).toEqual([400, 'appliesTo'])
    expect(await patch({ viewScope: 'public' })).toEqual([400, 'viewScope'])
    expect(await patch({ approvalThreshold: -1 })).toEqual([400, 'approvalThreshold'])
    expect(await patch({ approvalThreshold: 1.5 })).toEqual([400, 'approvalThreshold'])
    expect(await patch({ approvalScope: 'edit', approvalThreshold: 0 })).toEqual([400, 'approvalThreshold'])
    const noVotes = { key: 'no_votes', name: 'x', approvalScope: 'assign_and_edit', approvalThreshold: 0 }
    expect(refusal(await admin.post(base, noVotes))).toEqual([400, 'approvalThreshold'])
    expect(refusal(await admin.post(base, { name: 'x' }))).toEqual([400, 'key'])
    expect(refusal(await admin.get(`${base}?archived=maybe`))).toEqual([400, 'archived'])
    expect(refusal(await admin.get(`${base}?state=live`))).toEqual([400, 'state'])
    expect(await read(id)).toMatchObject({ key, version: 1 })
    // A threshold stays while approval is required, and cannot be removed.
    expect((await admin.patch(`${base}/${id}`, { approvalScope: 'edit', approvalThreshold: 1 })).status).toBe(200)
    expect(await patch({ approvalThreshold: 0 })).toEqual([400, 'approvalThreshold'])
    expect((await admin.patch(`${base}/${id}`, { approvalScope: 'none', approvalThreshold: 0 })).status).toBe(200)
  })

  const currency = { type: 'currency', currencyFieldKey: 'currency' }
  const wrongFields: [label: string, body: Record<string, unknown>, field: string][] = [
    ['no label', { label: undefined }, 'label'],
    ['an empty label', { label: '' }, 'label'],
    ['a label that is too long', { label: 'x'.repeat(201) }, 'label'],
    ['an unknown type', { type: 'object' }, 'type'],
    ['a select without options', { type: 'select' }, 'optionsJson'],
    ['a select with no options', { type: 'select', optionsJson: [] }, 'optionsJson'],
    ['an option twice', { type: 'select', optionsJson: [...options, options[0]] }, 'optionsJson.2.value'],
    ['an option without a value', { type: 'select', optionsJson: [{ value: '', label: 'x' }] }, 'optionsJson.0.value'],
    ['an option with more', { type: 'select', optionsJson: [{ ...options[0], color: 'red' }] }, 'optionsJson.0.color'],
    [
      'too many options',
      {
        type: 'select',
        optionsJson: Array.from({ length: optionsPerFieldMax + 1 }, (_, i) => ({ value: `${i}`, label: 'x' })),
      },
      'optionsJson',
    ],
    ['options of a text', { optionsJson: options }, 'optionsJson'],
    ['a scale of a text', { scale: 2 }, 'scale'],
    ['a scale that is too large', { type: 'number', scale: 19 }, 'scale'],
    ['a negative scale', { type: 'number', scale: -1 }, 'scale'],
    ['a unit that is too long', { unit: 'x'.repeat(17) }, 'unit'],
    ['a help text that is too long', { helpText: 'x'.repeat(501) }, 'helpText'],
    ['an order beyond what a number holds', { orderIndex: 9007199254740992 }, 'orderIndex'],
    ['a default of another type', { type: 'boolean', defaultJson: 'true' }, 'defaultJson'],
    ['a default that is not an option', { type: 'select', optionsJson: options, defaultJson: 'GBP' }, 'defaultJson'],
    ['a default that is a JSON number too long', { type: 'number', defaultJson: 1234567890.1234567 }, 'defaultJson'],
    ['a default of a currency that is a JSON number', { type: 'currency', defaultJson: 1.5 }, 'defaultJson'],
    ['a default with too many digits', { type: 'currency', defaultJson: '1.005' }, 'defaultJson'],
    ['a default that is not a day', { type: 'date', defaultJson: '2024-02-30' }, 'defaultJson'],
    ['a default that is an object', { defaultJson: { a: 1 } }, 'defaultJson'],
    ['archived at once', { archived: true }, 'archived'],
    ['an unknown member', { placeholder: 'x' }, 'placeholder'],
  ]
  it.each(wrongFields)('a field with %s', async (_, body, field) => {
    const { id } = await createCategory()
    const answer = await admin.post(`${base}/${id}/fields`, { key: 'a', label: 'A', type: 'text', ...body })
    expect(refusal(answer)).toEqual([400, field])
    expect(answer.body.code).toBe(400)
    expect(await read(id)).toMatchObject({ version: 1, fields: [] })
  })

  it('a currency field that is missing or of the wrong type, with code CATEGORY_FIELD_LINK', async () => {
    const { id } = await createCategory()
    const link = async (body: Record<string, unknown>, of = id) => {
      const answer = await admin.post(`${base}/${of}/fields`, { key: 'net', label: 'Net', ...currency, ...body })
      return [answer.status, answer.body.code, answer.body.details?.[0]]
    }
    const refused = (message: string) => [400, 'CATEGORY_FIELD_LINK', { field: 'currencyFieldKey', message }]
    expect(await link({})).toEqual(refused('names no field of the category'))
    expect(await link({ currencyFieldKey: 'net' })).toEqual(refused('names no field of the category'))
    expect(await link({ currencyFieldKey: '__proto__' })).toEqual(refused('names no field of the category'))
    const other = await createCategory()
    await addField(other.id, { key: 'currency', type: 'text' })
    expect(await link({})).toEqual(refused('names no field of the category'))
    await addField(id, { key: 'day', type: 'date' })
    const wrong = 'names a field that is neither a select nor a text'
    expect(await link({ currencyFieldKey: 'day' })).toEqual(refused(wrong))
    const currencyField = await addField(id, { key: 'currency', type: 'text' })
    expect(await link({ type: 'number' })).toEqual(refused('belongs to a currency'))
    await admin.patch(`${base}/${id}/fields/${currencyField.id}`, { archived: true })
    expect(await link({})).toEqual(refused('names a field that is archived'))
    await admin.patch(`${base}/${id}/fields/${currencyField.id}`, { archived: false })
    const net = await addField(id, { key: 'net', ...currency })
    const version = await versionOf(id)
    const relinked = await admin.patch(`${base}/${id}/fields/${net.id}`, { currencyFieldKey: 'day' })
    expect([relinked.status, relinked.body.code]).toEqual([400, 'CATEGORY_FIELD_LINK'])
    expect(await versionOf(id)).toBe(version)
  })

  it('to archive or delete the field that holds the currency of another', async () => {
    const { id } = await createCategory()
    const holder = await addField(id, { key: 'currency', type: 'select', optionsJson: options })
    const amount = await addField(id, { key: 'net', ...currency })
    const message = 'The field holds the currency of net'
    const archive = (archived: boolean, { id: fieldId } = holder) =>
      admin.patch(`${base}/${id}/fields/${fieldId}`, { archived })
    expect(refusal(await archive(true))).toEqual([409, message])
    expect(refusal(await admin.delete(`${base}/${id}/fields/${holder.id}`))).toEqual([409, message])
    expect((await admin.patch(`${base}/${id}/fields/${holder.id}`, { label: 'In' })).status).toBe(200)
    // Once the amount is archived its currency may be archived too; the currency must then be restored first.
    expect((await archive(true, amount)).status).toBe(200)
    expect((await archive(true)).status).toBe(200)
    expect((await admin.patch(`${base}/${id}/fields/${amount.id}`, { label: 'Was net' })).status).toBe(200)
    expect(refusal(await admin.delete(`${base}/${id}/fields/${holder.id}`))).toEqual([409, message])
    expect((await archive(false, amount)).body.code).toBe('CATEGORY_FIELD_LINK')
    expect((await archive(false)).status).toBe(200)
    expect((await archive(false, amount)).status).toBe(200)
    expect((await admin.patch(`${base}/${id}/fields/${amount.id}`, { currencyFieldKey: null })).status).toBe(200)
    expect((await admin.delete(`${base}/${id}/fields/${holder.id}`)).status).toBe(204)
  })

  it('another key or type of a field, and settings that no longer fit', async () => {
    const { id } = await createCategory()
    const field = await addField(id, { key: 'choice', type: 'select', optionsJson: options, defaultJson: 'USD' })
    const patch = async (body: Record<string, unknown>) =>
      refusal(await admin.patch(`${base}/${id}/fields/${field.id}`, body))
    expect(await patch({ key: 'renamed' })).toEqual([400, 'key'])
    expect(await patch({ type: 'text' })).toEqual([400, 'type'])
    expect(await patch({ optionsJson: null })).toEqual([400, 'optionsJson'])
    expect(await patch({ optionsJson: [options[0]] })).toEqual([400, 'defaultJson'])
    expect(await patch({ scale: 2 })).toEqual([400, 'scale'])
    expect(await versionOf(id)).toBe(2)
  })

  it('more fields than a category may have, archived ones included', async () => {
    const { id } = await createCategory()
    const rows = Array.from({ length: fieldsPerCategoryMax }, (_, i) => ({
      vault_id: vault.id,
      id: newId(),
      category_id: id,
      key: `field_${i}`,
      label: 'x',
      type: 'text',
      required: false,
      sensitive: false,
      order_index: i,
      archived: i % 2 === 0,
      created_at: new Date(),
      updated_at: new Date(),
    }))
    await test.deps.db.insertInto('category_fields').values(rows).execute()
    const full = await admin.post(`${base}/${id}/fields`, { key: 'one_more', label: 'x', type: 'text' })
    expect(refusal(full)).toEqual([409, 'A category has at most 100 fields'])
    await admin.delete(`${base}/${id}/fields/${rows[0]!.id}`)
    expect(await addField(id, { key: 'one_more', type: 'text' })).toMatchObject({ key: 'one_more' })
  })

  it('any change of an archived category but to restore it', async () => {
    const { id } = await createCategory()
    const field = await addField(id, { key: 'a', type: 'text' })
    await admin.patch(`${base}/${id}`, { archived: true })
    const version = await versionOf(id)
    for (const answer of [
      await admin.patch(`${base}/${id}`, { name: 'x' }),
      await admin.patch(`${base}/${id}`, {}),
      await admin.patch(`${base}/${id}`, { archived: true }),
      await admin.post(`${base}/${id}/fields`, { key: 'b', label: 'x', type: 'text' }),
      await admin.patch(`${base}/${id}/fields/${field.id}`, { label: 'x' }),
      await admin.delete(`${base}/${id}/fields/${field.id}`),
      await admin.put(`${base}/${id}/grants`, { grants: [editorGrant()] }),
      await admin.put(`${base}/${id}/approvers`, { approvers: [] }),
    ]) {
      expect(refusal(answer)).toEqual([409, 'The category is archived'])
    }
    expect(await versionOf(id)).toBe(version)
    expect((await admin.patch(`${base}/${id}`, { archived: false })).body).toMatchObject({ version: version + 1 })
  })

  it('to archive a system category', async () => {
    const { id } = await createCategory()
    await test.deps.db.updateTable('operation_categories').set({ is_system: true }).where('id', '=', id).execute()
    expect(refusal(await admin.patch(`${base}/${id}`, { archived: true }))).toEqual([
      409,
      'A system category cannot be archived',
    ])
    expect((await admin.patch(`${base}/${id}`, { name: 'Built in', archived: false })).body).toMatchObject({
      name: 'Built in',
      isSystem: true,
      version: 2,
    })
  })
})

/** One request to every endpoint that writes to the category, with a valid body. */
async function everyWrite(
  by: Person,
  id: string,
  fieldId: string,
  at: `/vaults/${string}/operation-categories` = base,
): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {}
  statuses.update = (await by.patch(`${at}/${id}`, { name: 'x' })).status
  statuses.addField = (await by.post(`${at}/${id}/fields`, { key: `k${newId()}`, label: 'x', type: 'text' })).status
  statuses.updateField = (await by.patch(`${at}/${id}/fields/${fieldId}`, { label: 'x' })).status
  statuses.deleteField = (await by.delete(`${at}/${id}/fields/${fieldId}`)).status
  statuses.grants = (await by.put(`${at}/${id}/grants`, { grants: [] })).status
  statuses.approvers = (await by.put(`${at}/${id}/approvers`, { approvers: [] })).status
  return statuses
}

describe('T39 access', () => {
  it('read: members; create, grant and name approvers: administrators; edit: those and who is granted canEdit', async () => {
    const { id } = await createCategory()
    const field = await addField(id, { key: 'a', type: 'text' })
    const forbidden = { update: 403, addField: 403, updateField: 403, deleteField: 403, grants: 403, approvers: 403 }
    expect(await everyWrite(clerk, id, field.id)).toEqual(forbidden)
    expect((await clerk.post(base, { key: 'mine', name: 'x' })).status).toBe(403)
    expect((await clerk.get(base)).status).toBe(200)

    // The rights to view and to assign do not include the right to edit.
    await grant(id, { subjectType: 'user', subjectUserId: clerk.userId, canAssign: true })
    expect(await everyWrite(clerk, id, field.id)).toEqual(forbidden)

    const editing = { update: 200, addField: 201, updateField: 200, deleteField: 204, grants: 403, approvers: 403 }
    await grant(id, editorGrant())
    expect(await everyWrite(controller, id, field.id)).toEqual(editing)
    expect((await controller.post(base, { key: 'mine', name: 'x' })).status).toBe(403)
    expect((await read(id)).updatedById).toBe(controller.userId)
    const other = await createCategory()
    expect((await controller.patch(`${base}/${other.id}`, { name: 'x' })).status).toBe(403)
  })

  it('a grant to a group counts for its members, and no longer once it is taken back (T47)', async () => {
    const { id } = await createCategory()
    const controllers = await ensureGroup(vault, 'controllers')
    await grant(id, { subjectType: 'group', subjectGroupId: controllers, canEdit: true })
    expect((await controller.patch(`${base}/${id}`, { name: 'x' })).status).toBe(200)
    expect((await clerk.patch(`${base}/${id}`, { name: 'x' })).status).toBe(403)
    await grant(id)
    expect((await controller.patch(`${base}/${id}`, { name: 'x' })).status).toBe(403)

    const temporary = await addMember(test, vault, 'temporary@example.org', ['controllers', 'clerks'])
    await grant(id, { subjectType: 'group', subjectGroupId: controllers, canEdit: true })
    expect((await temporary.patch(`${base}/${id}`, { name: 'x' })).status).toBe(200)
    expect((await admin.delete(`/policy-groups/${controllers}/members/${temporary.userId}`)).status).toBe(204)
    expect((await temporary.patch(`${base}/${id}`, { name: 'x' })).status).toBe(403)
  })

  it('who is granted canEdit cannot raise themselves (T35)', async () => {
    const { id } = await createCategory({ viewScope: 'restricted', approvalScope: 'edit', approvalThreshold: 1 })
    const secret = await addField(id, { key: 'salary', type: 'currency', sensitive: true })
    await grant(id, editorGrant())
    const before = await read(id)
    for (const change of [
      { viewScope: 'vault_members' },
      { assignScope: 'vault_members' },
      { editScope: 'restricted' },
      { approvalScope: 'none' },
      { approvalThreshold: 1 },
      { allowInitiatorApproval: true },
    ]) {
      const answer = await controller.patch(`${base}/${id}`, { name: 'x', ...change })
      expect(refusal(answer)).toEqual([403, `Only administrators of the vault may change ${Object.keys(change)[0]}`])
    }
    const uncover = await controller.patch(`${base}/${id}/fields/${secret.id}`, { sensitive: false })
    expect(refusal(uncover)).toEqual([403, 'Only administrators of the vault may turn off sensitive'])
    expect(await read(id)).toEqual(before)
    const relabelled = await controller.patch(`${base}/${id}/fields/${secret.id}`, { label: 'Pay', sensitive: true })
    expect(relabelled.body).toMatchObject({ label: 'Pay', sensitive: true })
    expect((await admin.patch(`${base}/${id}/fields/${secret.id}`, { sensitive: false })).body.sensitive).toBe(false)
    expect((await controller.patch(`${base}/${id}/fields/${secret.id}`, { sensitive: true })).status).toBe(200)
  })

  it('a member sees the grants of themselves and their groups; a member who may edit sees all grants', async () => {
    const { id } = await createCategory()
    const clerks = await ensureGroup(vault, 'clerks')
    const { grants } = await grant(
      id,
      editorGrant(),
      { subjectType: 'group', subjectGroupId: clerks, canAssign: true },
      { subjectType: 'group', subjectGroupId: vault.groups.everyone },
    )
    expect((await read(id, clerk)).grants).toEqual(grants.slice(1))
    expect((await read(id, controller)).grants).toEqual(grants)
    const bystander = await addMember(test, vault, 'bystander@example.org', ['bystanders'])
    expect((await read(id, bystander)).grants).toEqual([grants[2]])
    const listed = (await bystander.get(`${base}?limit=1`)).body.items[0]
    expect([listed!.id, listed!.grants]).toEqual([id, [grants[2]]])
  })

  it('an id of another vault and an unknown id give the same answer, and strangers get no hint', async () => {
    const { id } = await createCategory()
    const field = await addField(id, { key: 'a', type: 'text' })
    const foreign = await otherVault.admin.post('/vaults/other-vault/operation-categories', {
      key: 'theirs',
      name: 'x',
    })
    const theirs = await otherVault.admin.post(`/vaults/other-vault/operation-categories/${foreign.body.id}/fields`, {
      key: 'b',
      label: 'x',
      type: 'text',
    })
    const missing = { update: 404, addField: 404, updateField: 404, deleteField: 404, grants: 404, approvers: 404 }
    expect(await everyWrite(admin, foreign.body.id, theirs.body.id)).toEqual(missing)
    expect(await everyWrite(admin, 'nothing', 'nothing')).toEqual(missing)
    for (const unknown of [foreign.body.id, 'nothing']) {
      const answer = await admin.get(`${base}/${unknown}`)
      expect([answer.status, answer.body.message]).toEqual([404, 'Operation category not found'])
    }
    for (const unknown of [theirs.body.id, 'nothing']) {
      const answer = await admin.patch(`${base}/${id}/fields/${unknown}`, { label: 'x' })
      expect([answer.status, answer.body.message]).toEqual([404, 'Category field not found'])
      expect((await admin.delete(`${base}/${id}/fields/${unknown}`)).status).toBe(404)
    }
    // A field is found in its own category only.
    const sibling = await createCategory()
    expect((await admin.patch(`${base}/${sibling.id}/fields/${field.id}`, { label: 'x' })).status).toBe(404)

    const refused = { update: 403, addField: 403, updateField: 403, deleteField: 403, grants: 403, approvers: 403 }
    expect(await everyWrite(otherVault.admin, id, field.id)).toEqual(refused)
    expect((await otherVault.admin.get(base)).status).toBe(403)
    expect((await otherVault.admin.get(`${base}/${id}`)).status).toBe(403)
    expect((await test.anonymous.get(base)).status).toBe(401)
    expect((await test.anonymous.post(base, { key: 'x', name: 'x' })).status).toBe(401)
  })
})
