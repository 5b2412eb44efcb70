import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import type { Answer } from '../../../testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import {
  addMember,
  allowAll as allowAllOf,
  createAddress,
  createVaultFixture,
  ensureGroup,
  fixtureRoutes,
  type VaultFixture,
} from '../../../testing/fixtures.ts'
import { decide } from '../decisions/decide.ts'
import { insertMemberships } from '../policy-groups/memberships.ts'
import type { Facts } from '../selectors/facts.ts'

let test: TestApp
let vault: VaultFixture
let otherVault: VaultFixture
let admin: Person
let member: Person
let stranger: Person
let treasury: string

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  otherVault = await createVaultFixture(test, { code: 'other-vault', adminEmail: 'other-operator@example.org' })
  admin = vault.admin
  stranger = otherVault.admin
  member = await addMember(test, vault, 'treasurer@example.org', ['treasury'])
  treasury = await ensureGroup(vault, 'treasury')
})
afterAll(() => test.close())

const evmAddress = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const bitcoinAddress = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'

let counter = 0
const nextCode = () => `code-${++counter}`
const allowAll = (more: object = {}) => ({
  code: nextCode(),
  name: 'Small payments',
  actionType: 'transfer',
  effect: 'allow',
  ...more,
})
const createPolicy = (body: object, { by = admin, groupId = treasury } = {}) =>
  by.post(`/policy-groups/${groupId}/policies`, body)
const createdPolicy = async (body: object, options = {}) => {
  const answer = await createPolicy(body, options)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}
const createdGroup = async (code = nextCode(), at: { vault: VaultFixture } = { vault }) => {
  const answer = await at.vault.admin.post(`/vaults/${at.vault.code}/policy-groups`, { code, name: 'A group' })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}
const auditOf = async (targetId: string) => {
  const rows = await test.deps.db
    .selectFrom('audit_records')
    .select(['action', 'actor_id', 'chain', 'content'])
    .where('target_id', '=', targetId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ content, ...row }) => ({ ...row, details: JSON.parse(content).details }))
}
const amountAbove = (value: string) => ({
  conditionType: 'require',
  selectors: [{ selectorType: 'amount', value: { op: 'gt', value } }],
})
const fieldsOf = (answer: Answer) => answer.body.details.map(({ field }) => field)

describe('policy groups', () => {
  it('are created, read, listed, changed and deleted, each with its audit record', async () => {
    const created = await admin.post('/vaults/main-vault/policy-groups', {
      code: 'payroll',
      name: 'Payroll',
      description: 'Salaries',
      color: '#1d4ed8',
    })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      id: expect.stringMatching(/^c[0-9a-z]{24}$/),
      vaultId: vault.id,
      code: 'payroll',
      name: 'Payroll',
      description: 'Salaries',
      logoUri: null,
      color: '#1d4ed8',
      emoji: null,
      isSystem: false,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      policies: [],
      memberships: [],
    })
    const { id } = created.body
    const path = `/policy-groups/${id}` as const
    const policy = await createdPolicy(allowAll(), { groupId: id })
    const membership = await admin.post(`${path}/members`, { userId: 'payroll-robot' })

    const read = await member.get(path)
    expect(read.body.policies).toEqual([
      {
        id: policy.id,
        code: policy.code,
        name: 'Small payments',
        actionType: 'transfer',
        effect: 'allow',
        enabled: true,
        createdAt: policy.createdAt,
      },
    ])
    const { groupId, ...short } = membership.body
    expect(groupId).toBe(id)
    expect(read.body.memberships).toEqual([short])

    const list = await member.get('/vaults/main-vault/policy-groups')
    expect(list.body.items[0]).toMatchObject({ id, code: 'payroll', _count: { policies: 1, memberships: 1 } })
    expect(list.body.items.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['administrators', 'everyone', 'treasury']),
    )

    const changed = await admin.patch(path, { code: 'wages', name: 'Wages', description: null })
    expect(changed.body).toMatchObject({ code: 'wages', name: 'Wages', description: null, color: '#1d4ed8' })
    expect((await admin.patch(path, { name: 'Wages' })).status).toBe(200)
    expect((await admin.get(path)).body).toMatchObject({ code: 'wages', policies: [{ id: policy.id }] })

    expect((await admin.delete(path)).status).toBe(409)
    expect((await admin.delete(`/policies/${policy.id}`)).status).toBe(204)
    expect((await admin.delete(path)).status).toBe(204)
    expect((await admin.get(path)).status).toBe(404)

    const records = await auditOf(id)
    expect(records.map(({ action }) => action)).toEqual([
      'policy_group.created',
      'membership.added',
      'policy_group.updated',
      'policy_group.deleted',
    ])
    for (const record of records) expect(record).toMatchObject({ actor_id: admin.userId, chain: vault.id })
    expect(records[2]?.details).toEqual({
      before: { code: 'payroll', name: 'Payroll', description: 'Salaries' },
      after: { code: 'wages', name: 'Wages', description: null },
    })
    expect(records[3]?.details.before).toMatchObject({ code: 'wages', userIds: ['payroll-robot'] })
  })

  it('are paged without gap or repetition', async () => {
    await createdGroup()
    await createdGroup()
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`
      const { body } = await member.get(`/vaults/main-vault/policy-groups?limit=2${query}`)
      seen.push(...body.items.map(({ id }) => id))
      cursor = body.nextCursor
    } while (cursor !== null)
    const all = await member.get('/vaults/main-vault/policy-groups?limit=100')
    expect(seen).toEqual(all.body.items.map(({ id }) => id))
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('keep their codes unique within the vault only', async () => {
    await createdGroup('unique')
    const again = await admin.post('/vaults/main-vault/policy-groups', { code: 'unique', name: 'X' })
    expect(again.status).toBe(409)
    expect((await admin.patch(`/policy-groups/${treasury}`, { code: 'unique' })).status).toBe(409)
    expect((await createdGroup('unique', { vault: otherVault })).vaultId).toBe(otherVault.id)
  })

  it('of the system stay, keep their code, and may be renamed', async () => {
    for (const id of Object.values(vault.groups)) {
      expect((await admin.delete(`/policy-groups/${id}`)).status).toBe(409)
      expect((await admin.patch(`/policy-groups/${id}`, { code: 'renamed' })).status).toBe(409)
      const renamed = await admin.patch(`/policy-groups/${id}`, { description: 'Built in' })
      expect(renamed.body).toMatchObject({ isSystem: true, description: 'Built in' })
    }
  })

  it('cannot be deleted while approvers or rules of policies name them', async () => {
    const approving = await createdGroup()
    const named = await createdGroup()
    const body = allowAll({
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId: approving.id }],
      rules: [{ conditionType: 'exclude', selectors: [{ selectorType: 'initiatorGroup', value: [named.id] }] }],
    })
    const policy = await createdPolicy(body)
    expect((await admin.delete(`/policy-groups/${approving.id}`)).body.message).toMatch(/approves/)
    expect((await admin.delete(`/policy-groups/${named.id}`)).body.message).toMatch(/rule/)
    await admin.patch(`/policies/${policy.id}`, { rules: [], approvers: [] })
    expect((await admin.delete(`/policy-groups/${approving.id}`)).status).toBe(204)
    expect((await admin.delete(`/policy-groups/${named.id}`)).status).toBe(204)
  })

  it('cannot be deleted while a policy that names them is being created', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await createdGroup()
      const owner = await createdGroup()
      const approvers = [{ kind: 'group', groupId: id }]
      const body = allowAll({ effect: 'requireApproval', approvalThreshold: 1, approvers })
      const [deleted, created, inside] = await Promise.all([
        admin.delete(`/policy-groups/${id}`),
        createPolicy(body),
        Promise.all([admin.delete(`/policy-groups/${owner.id}`), createPolicy(allowAll(), { groupId: owner.id })]),
      ])
      expect([
        [204, 400],
        [409, 201],
      ]).toContainEqual([deleted.status, created.status])
      expect([
        [204, 404],
        [409, 201],
      ]).toContainEqual(inside.map(({ status }) => status))
    }
  })

  it('T41 reject fields that clients cannot set', async () => {
    for (const stray of [{ isSystem: true }, { vaultId: otherVault.id }, { memberships: [] }, { id: 'x' }]) {
      const field = Object.keys(stray)[0]
      const created = await admin.post('/vaults/main-vault/policy-groups', { code: nextCode(), name: 'X', ...stray })
      expect([created.status, ...fieldsOf(created)]).toEqual([400, field])
      const changed = await admin.patch(`/policy-groups/${treasury}`, stray)
      expect([changed.status, ...fieldsOf(changed)]).toEqual([400, field])
    }
    const misspelt = await admin.get('/vaults/main-vault/policy-groups?cod=x')
    expect(misspelt.status).toBe(400)
    for (const body of [{ name: 'No code' }, { code: 'Bad Code', name: 'X' }, { code: nextCode(), name: ' ' }]) {
      expect((await admin.post('/vaults/main-vault/policy-groups', body)).status).toBe(400)
    }
  })
})

describe('memberships', () => {
  it('are added for any string and removed again', async () => {
    const { id } = await createdGroup()
    const userId = 'robot/1 ünïcode?&'
    const added = await admin.post(`/policy-groups/${id}/members`, { userId })
    expect(added.status).toBe(201)
    expect(added.body).toEqual({
      id: expect.any(String),
      groupId: id,
      userId,
      user: null,
      createdAt: expect.any(String),
    })
    expect((await admin.post(`/policy-groups/${id}/members`, { userId })).status).toBe(409)
    const path = `/policy-groups/${id}/members/${encodeURIComponent(userId)}` as const
    expect((await admin.delete(path)).status).toBe(204)
    expect((await admin.delete(path)).status).toBe(404)
    const records = (await auditOf(id)).slice(1)
    expect(records.map(({ action, details }) => [action, details.userId])).toEqual([
      ['membership.added', userId],
      ['membership.removed', userId],
    ])
  })

  it('need a user id of 1 to 128 characters', async () => {
    for (const body of [{}, { userId: '' }, { userId: 'x'.repeat(129) }, { userId: 7 }]) {
      const answer = await admin.post(`/policy-groups/${treasury}/members`, body)
      expect([answer.status, ...fieldsOf(answer)]).toEqual([400, 'userId'])
    }
    const { id } = await createdGroup()
    const longest = 'ü'.repeat(128)
    expect((await admin.post(`/policy-groups/${id}/members`, { userId: longest })).status).toBe(201)
    expect((await admin.delete(`/policy-groups/${id}/members/${encodeURIComponent(longest)}`)).status).toBe(204)
  })

  it('of everyone are never stored', async () => {
    const { everyone } = vault.groups
    expect((await admin.post(`/policy-groups/${everyone}/members`, { userId: 'someone' })).status).toBe(409)
    await test.deps.db.transaction().execute((trx) =>
      insertMemberships(trx, {
        vaultId: vault.id,
        groupIds: [treasury, everyone, otherVault.groups.administrators, treasury],
        userId: 'invited',
        now: test.clock.now(),
      }),
    )
    expect(await membershipsOf('invited')).toEqual([treasury])
  })

  it('of the last administrator who can sign in cannot be removed', async () => {
    const path = `/policy-groups/${vault.groups.administrators}/members` as const
    expect((await admin.delete(`${path}/${admin.userId}`)).status).toBe(409)
    expect((await admin.post(path, { userId: 'no-user-of-ours' })).status).toBe(201)
    expect((await admin.delete(`${path}/${admin.userId}`)).status).toBe(409)
    expect((await admin.delete(`${path}/no-user-of-ours`)).status).toBe(204)
  })

  it('of the last person among the administrators cannot be removed while the others are services or held', async () => {
    const alone = await createVaultFixture(test, { code: 'alone', adminEmail: 'alone@example.org' })
    const groupIds = [alone.groups.administrators]
    const path = `/policy-groups/${alone.groups.administrators}/members` as const
    const token = await alone.admin.post(`/vaults/${alone.code}/service-tokens`, { name: 'CI', groupIds })
    expect(token.status, JSON.stringify(token.body)).toBe(201)
    const held = await addMember(test, alone, 'held@example.org', ['administrators'])
    // A hold by a person would hold that person, too, until somebody else confirms it.
    await sql`insert into holds (vault_id, id, subject_type, subject_id, reason, placed_by_id, created_at)
      values (${alone.id}, ${newId(test.clock.now())}, 'user', ${held.userId}, 'Stop', ${held.userId}, now())`.execute(
      test.deps.db,
    )
    const refused = { status: 409, body: { reason: 'last_administrator' } }
    expect(await alone.admin.delete(`${path}/${alone.admin.userId}`)).toMatchObject(refused)
    expect(await alone.admin.delete(`/vaults/${alone.code}/members/${alone.admin.userId}`)).toMatchObject(refused)
    expect((await alone.admin.delete(`${path}/${held.userId}`)).status).toBe(204)
  })

  it('of two administrators who remove each other at once: one stays', async () => {
    const contested = await createVaultFixture(test, { code: 'contested', adminEmail: 'first@example.org' })
    const path = `/policy-groups/${contested.groups.administrators}/members` as const
    for (let round = 0; round < 5; round += 1) {
      const first = contested.admin
      const second = await addMember(test, contested, `second-${round}@example.org`, ['administrators'])
      const answers = await Promise.all([
        first.delete(`${path}/${second.userId}`),
        second.delete(`${path}/${first.userId}`),
      ])
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
      expect(statuses[0]).toBe(204)
      // The other administrator is no longer a member and gets a 404, or is the last administrator and gets a 409.
      expect([404, 409]).toContain(statuses[1])
      const left = await test.deps.db
        .selectFrom('policy_group_memberships')
        .select('user_id')
        .where('group_id', '=', contested.groups.administrators)
        .execute()
      expect(left).toHaveLength(1)
      contested.admin = left[0]?.user_id === first.userId ? first : second
    }
  })

  it('of administrators removed by each of themselves at once: the last one stays', async () => {
    const contested = await createVaultFixture(test, { code: 'contested-2', adminEmail: 'third@example.org' })
    const path = `/policy-groups/${contested.groups.administrators}/members` as const
    const others = await Promise.all(
      ['a', 'b', 'c'].map((name) => addMember(test, contested, `leaver-${name}@example.org`, ['administrators'])),
    )
    const everybody = [contested.admin, ...others]
    const answers = await Promise.all(everybody.map((person) => person.delete(`${path}/${person.userId}`)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 204, 204, 409])
  })

  it('T47 T33 removing a membership ends power on the next request', async () => {
    const person = await addMember(test, vault, 'leaving@example.org', ['administrators', 'leavers'])
    const policy = await createdPolicy(allowAll(), { by: person })
    expect((await person.patch(`/policies/${policy.id}`, { enabled: false })).status).toBe(200)

    await admin.delete(`/policy-groups/${vault.groups.administrators}/members/${person.userId}`)
    expect((await person.get(`/policies/${policy.id}`)).status).toBe(200)
    expect((await person.patch(`/policies/${policy.id}`, { enabled: true })).status).toBe(403)
    expect((await createPolicy(allowAll(), { by: person })).status).toBe(403)
    expect((await person.delete(`/policies/${policy.id}`)).status).toBe(403)
    expect((await person.post('/vaults/main-vault/policy-groups', { code: nextCode(), name: 'X' })).status).toBe(403)

    const leavers = await ensureGroup(vault, 'leavers')
    await admin.delete(`/policy-groups/${leavers}/members/${person.userId}`)
    expect((await person.get(`/policies/${policy.id}`)).status).toBe(404)
    expect((await person.get(`/policy-groups/${leavers}`)).status).toBe(404)
    expect((await person.get('/vaults/main-vault/policies')).status).toBe(403)
  })

  async function membershipsOf(userId: string): Promise<string[]> {
    const rows = await test.deps.db
      .selectFrom('policy_group_memberships')
      .select('group_id')
      .where('user_id', '=', userId)
      .execute()
    return rows.map(({ group_id }) => group_id)
  }
})

describe('policies', () => {
  it('are created with every field, and read with the same fields', async () => {
    const body = {
      code: 'large-payments',
      name: 'Large payments',
      description: 'Two treasurers look at it',
      logoUri: 'https://example.org/policy.png',
      color: '#fff',
      emoji: '🏦',
      actionType: 'transfer',
      effect: 'requireApproval',
      approvalThreshold: 2,
      adminBypass: true,
      allowInitiatorApproval: true,
      enabled: false,
      rules: [
        {
          conditionType: 'require',
          selectors: [
            { selectorType: 'amount', value: { op: 'between', min: '1000', max: '50000.5' } },
            { selectorType: 'token', value: 'USDT' },
          ],
        },
        { conditionType: 'exclude', selectors: [{ selectorType: 'initiatorGroup', value: [treasury] }] },
      ],
      approvers: [
        { kind: 'user', userId: member.userId },
        { kind: 'group', groupId: vault.groups.administrators },
      ],
    }
    const policy = await createdPolicy(body)
    const { rules, approvers, ...fields } = body
    expect(policy).toEqual({
      ...fields,
      id: expect.stringMatching(/^c[0-9a-z]{24}$/),
      groupId: treasury,
      blockReason: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: policy.createdAt,
      rules: rules.map(({ conditionType, selectors }, i) => ({
        id: policy.rules[i]!.id,
        policyId: policy.id,
        conditionType,
        createdAt: policy.createdAt,
        selectors: selectors.map((selector) => ({
          id: expect.any(String),
          ruleId: policy.rules[i]!.id,
          ...selector,
        })),
      })),
      approvers: approvers.map(({ kind, userId = null, groupId = null }: Record<string, unknown>) => ({
        id: expect.any(String),
        kind,
        userId,
        groupId,
        threshold: null,
        user: userId === null ? null : { userId, kind: 'person', name: 'treasurer', image: null },
        createdAt: policy.createdAt,
      })),
      group: { id: treasury, code: 'treasury', name: 'treasury', vaultId: vault.id },
    })
    expect((await member.get(`/policies/${policy.id}`)).body).toEqual(policy)
    const { group, ...listed } = (await member.get('/vaults/main-vault/policies?limit=1')).body.items[0]!
    expect(group).toEqual({ id: treasury, code: 'treasury', name: 'treasury' })
    expect({ ...listed, group: policy.group }).toEqual({ ...policy, _count: { rules: 2 } })
    expect(await auditOf(policy.id)).toMatchObject([
      { action: 'policy.created', actor_id: admin.userId, chain: vault.id, details: { after: { rules, approvers } } },
    ])
  })

  it('have defaults for fields that are left out', async () => {
    expect(await createdPolicy(allowAll())).toMatchObject({
      description: null,
      blockReason: null,
      approvalThreshold: 0,
      adminBypass: false,
      allowInitiatorApproval: false,
      enabled: true,
      rules: [],
      approvers: [],
    })
  })

  it('change only in the named fields; rules and approvers are replaced as a whole', async () => {
    const policy = await createdPolicy(
      allowAll({
        approvalThreshold: 1,
        rules: [amountAbove('1'), amountAbove('2')],
        approvers: [
          { kind: 'user', userId: member.userId },
          { kind: 'user', userId: admin.userId },
        ],
      }),
    )
    const path = `/policies/${policy.id}` as const
    const renamed = await admin.patch(path, { name: 'Renamed' })
    expect(renamed.body).toEqual({ ...policy, name: 'Renamed', updatedAt: renamed.body.updatedAt })

    const replaced = await admin.patch(path, {
      rules: [amountAbove('3')],
      approvers: [{ kind: 'user', userId: admin.userId }],
    })
    expect(replaced.body.rules).toHaveLength(1)
    expect(replaced.body.rules[0]!.selectors[0]!.value).toEqual({ op: 'gt', value: '3' })
    expect(replaced.body.approvers).toMatchObject([{ kind: 'user', userId: admin.userId, groupId: null }])
    expect((await admin.get(path)).body).toEqual(replaced.body)

    const blocking = await admin.patch(path, {
      effect: 'block',
      blockReason: 'Not now',
      approvalThreshold: 0,
      approvers: [],
    })
    expect(blocking.body).toMatchObject({ effect: 'block', blockReason: 'Not now', approvers: [] })
    await admin.patch(path, { name: 'Renamed' })

    const records = await auditOf(policy.id)
    expect(records.map(({ action }) => action)).toEqual([
      'policy.created',
      'policy.updated',
      'policy.updated',
      'policy.updated',
    ])
    expect(records[1]?.details).toEqual({ before: { name: policy.name }, after: { name: 'Renamed' } })
    expect(records[2]?.details.after).toEqual({
      rules: [amountAbove('3')],
      approvers: [{ kind: 'user', userId: admin.userId }],
    })
  })

  it('are deleted with their approvers', async () => {
    const policy = await createdPolicy(
      allowAll({ approvalThreshold: 1, approvers: [{ kind: 'user', userId: member.userId }] }),
    )
    expect((await admin.delete(`/policies/${policy.id}`)).status).toBe(204)
    expect((await admin.get(`/policies/${policy.id}`)).status).toBe(404)
    expect((await admin.delete(`/policies/${policy.id}`)).status).toBe(404)
    expect((await auditOf(policy.id)).at(-1)).toMatchObject({
      action: 'policy.deleted',
      details: { before: { code: policy.code } },
    })
  })

  it('are filtered and paged', async () => {
    const blocking = await createdPolicy(allowAll({ effect: 'block', enabled: false, actionType: 'create_address' }))
    const idsOf = async (query: string) => {
      const answer = await member.get(`/vaults/main-vault/policies?limit=100${query}`)
      expect(answer.status).toBe(200)
      return answer.body.items.map(({ id }) => id)
    }
    expect(await idsOf('&effect=block&enabled=false&actionType=create_address')).toEqual([blocking.id])
    expect(await idsOf('&enabled=true')).not.toContain(blocking.id)
    expect(await idsOf('&enabled=false')).toContain(blocking.id)
    expect(await idsOf('&effect=allow')).not.toContain(blocking.id)
    const all = await idsOf('')
    const first = await member.get('/vaults/main-vault/policies?limit=2')
    const second = await member.get(`/vaults/main-vault/policies?limit=2&cursor=${first.body.nextCursor}`)
    expect([...first.body.items, ...second.body.items].map(({ id }) => id)).toEqual(all.slice(0, 4))
    for (const query of ['effect=deny', 'enabled=yes', 'actionType=pay', 'limit=101', 'cursor=x', 'efect=allow']) {
      expect((await member.get(`/vaults/main-vault/policies?${query}`)).status, query).toBe(400)
    }
  })

  it('keep their codes unique in the vault', async () => {
    const { code, id } = await createdPolicy(allowAll())
    const other = await createdPolicy(allowAll())
    expect((await createPolicy(allowAll({ code }), { groupId: vault.groups.everyone })).status).toBe(409)
    expect((await admin.patch(`/policies/${other.id}`, { code })).status).toBe(409)
    expect((await admin.patch(`/policies/${id}`, { code })).status).toBe(200)
    await createdPolicy(allowAll({ code }), { by: stranger, groupId: otherVault.groups.everyone })
  })

  it('are created once when a request is repeated with its Idempotency-Key', async () => {
    const body = allowAll()
    const headers = { 'idempotency-key': 'create-policy-once' }
    const path = `/policy-groups/${treasury}/policies` as const
    const [first, second] = [await admin.post(path, body, headers), await admin.post(path, body, headers)]
    expect(second.body).toEqual(first.body)
    expect(second.headers['idempotency-replayed']).toBe('true')
  })

  const approval = { effect: 'requireApproval', approvalThreshold: 1 }
  const faults: [name: string, fields: () => object, field: string][] = [
    ['threshold 0 with requireApproval', () => ({ ...approval, approvalThreshold: 0 }), 'approvalThreshold'],
    ['no threshold with requireApproval', () => ({ effect: 'requireApproval' }), 'approvalThreshold'],
    ['a negative threshold', () => ({ ...approval, approvalThreshold: -1 }), 'approvalThreshold'],
    ['a fractional threshold', () => ({ ...approval, approvalThreshold: 1.5 }), 'approvalThreshold'],
    ['a threshold in text', () => ({ ...approval, approvalThreshold: '1' }), 'approvalThreshold'],
    ['a threshold above the limit', () => ({ ...approval, approvalThreshold: 101 }), 'approvalThreshold'],
    [
      'the same approver twice',
      () => ({
        ...approval,
        approvers: [
          { kind: 'user', userId: member.userId },
          { kind: 'user', userId: member.userId },
        ],
      }),
      'approvers.1',
    ],
    [
      'an approver outside the vault',
      () => ({ ...approval, approvers: [{ kind: 'user', userId: stranger.userId }] }),
      'approvers.0.userId',
    ],
    [
      'an approving group of another vault',
      () => ({ ...approval, approvers: [{ kind: 'group', groupId: otherVault.groups.everyone }] }),
      'approvers.0.groupId',
    ],
    ['an approver without id', () => ({ ...approval, approvers: [{ kind: 'user' }] }), 'approvers.0.userId'],
    [
      'an approver of both kinds',
      () => ({ ...approval, approvers: [{ kind: 'user', userId: member.userId, groupId: treasury }] }),
      'approvers.0.groupId',
    ],
    ['approvers without votes to cast', () => ({ approvers: [{ kind: 'user', userId: member.userId }] }), 'approvers'],
    ['a threshold on a block', () => ({ effect: 'block', approvalThreshold: 1 }), 'approvalThreshold'],
    [
      'approvers on a block',
      () => ({ effect: 'block', approvers: [{ kind: 'user', userId: member.userId }] }),
      'approvers',
    ],
    ['a block reason on an allow', () => ({ blockReason: 'No' }), 'blockReason'],
    ['an unknown effect', () => ({ effect: 'deny' }), 'effect'],
    ['an unknown action', () => ({ actionType: 'constructor' }), 'actionType'],
    ['a rule without selectors', () => ({ rules: [{ conditionType: 'any', selectors: [] }] }), 'rules.0.selectors'],
    [
      'an unknown condition',
      () => ({ rules: [{ ...amountAbove('1'), conditionType: 'all' }] }),
      'rules.0.conditionType',
    ],
    ['an unknown selector', () => ({ rules: [rule('toString', 'x')] }), 'rules.0.selectors.0.selectorType'],
    [
      'a category that the vault does not have',
      () => ({ rules: [amountAbove('1'), rule('category', ['nothing'])] }),
      'rules.1.selectors.0.value.0',
    ],
    [
      'a selector foreign to the action',
      () => ({ actionType: 'create_address', rules: [amountAbove('1')] }),
      'rules.0.selectors.0.selectorType',
    ],
    [
      'a selector without value',
      () => ({ rules: [{ conditionType: 'any', selectors: [{ selectorType: 'token' }] }] }),
      'rules.0.selectors.0.value',
    ],
    [
      'an amount that is a number',
      () => ({ rules: [rule('amount', { op: 'gt', value: 1.5 })] }),
      'rules.0.selectors.0.value.value',
    ],
    [
      'a group that the vault does not have',
      () => ({ rules: [rule('initiatorGroup', [treasury, otherVault.groups.everyone])] }),
      'rules.0.selectors.0.value.1',
    ],
    [
      'a single group that does not exist',
      () => ({ rules: [rule('initiatorGroup', 'treasury')] }),
      'rules.0.selectors.0.value',
    ],
    [
      'a counterparty that the vault does not have',
      () => ({ rules: [rule('counterparty', ['nobody'])] }),
      'rules.0.selectors.0.value.0',
    ],
    [
      'a folder that the vault does not have',
      () => ({ rules: [rule('addressGroup', ['nobody'])] }),
      'rules.0.selectors.0.value.0',
    ],
    [
      'a counterparty group that the vault does not have',
      () => ({ rules: [rule('counterpartyGroup', 'nobody')] }),
      'rules.0.selectors.0.value',
    ],
    [
      'a variant that the vault does not have',
      () => ({
        rules: [
          rule('routeVariant', [
            { route: 'purpose', variant: 'ops' },
            { route: 'purpose', variant: 'ethereum' },
          ]),
        ],
      }),
      'rules.0.selectors.0.value.1',
    ],
    ['a misspelt token', () => ({ rules: [rule('token', ['USDT', 'usdt'])] }), 'rules.0.selectors.0.value.1'],
    ['an id that is not a token', () => ({ rules: [rule('token', vault.id)] }), 'rules.0.selectors.0.value'],
    ['a misspelt network', () => ({ rules: [rule('network', 'Ethereum')] }), 'rules.0.selectors.0.value'],
    [
      'an incomplete destination',
      () => ({ rules: [rule('destination', evmAddress.slice(0, -1))] }),
      'rules.0.selectors.0.value',
    ],
    [
      'a destination with a wrong checksum',
      () => ({ rules: [rule('destination', [evmAddress, evmAddress.replace('0x7', '0xA')])] }),
      'rules.0.selectors.0.value.1',
    ],
    [
      'a destination on a network that the vault does not have',
      () => ({ rules: [rule('destination', [evmAddress, bitcoinAddress])] }),
      'rules.0.selectors.0.value.1',
    ],
    [
      'a source address that the vault does not have',
      () => ({ rules: [rule('sourceAddress', [evmAddress, vault.id])] }),
      'rules.0.selectors.0.value.0',
    ],
    [
      'an initiator who is not a member of the vault',
      () => ({ rules: [rule('initiator', [member.userId, stranger.userId])] }),
      'rules.0.selectors.0.value.1',
    ],
    ['T41 its own id', () => ({ id: 'x' }), 'id'],
    ['T41 another group', () => ({ groupId: vault.groups.everyone }), 'groupId'],
    ['T41 an id of a rule', () => ({ rules: [{ ...amountAbove('1'), id: 'x' }] }), 'rules.0.id'],
  ]
  it.each(faults)('T34 refuse %s, at creation and as a change', async (_name, fields, field) => {
    const refused = await createPolicy(allowAll(fields()))
    expect([refused.status, fieldsOf(refused)[0]]).toEqual([400, field])
    const policy = await createdPolicy(allowAll())
    const changed = await admin.patch(`/policies/${policy.id}`, fields())
    expect([changed.status, fieldsOf(changed)[0]]).toEqual([400, field])
    expect((await admin.get(`/policies/${policy.id}`)).body).toEqual(policy)
  })

  it('name every fault at once', async () => {
    const answer = await createPolicy(allowAll({ blockReason: 'x', rules: [rule('token', []), rule('amount', '1')] }))
    expect(fieldsOf(answer)).toEqual(['blockReason', 'rules.0.selectors.0.value', 'rules.1.selectors.0.value'])
  })

  it('T34 name objects of their vault, in any spelling, and stay when these are deleted', async () => {
    const network = { ...fixtureRoutes.network, variants: [{ id: 0, code: 'bitcoin', name: 'Bitcoin' }] }
    network.variants.push(...fixtureRoutes.network.variants)
    const code = 'two-networks'
    const two = await createVaultFixture(test, { code, adminEmail: admin.email, routes: { ...fixtureRoutes, network } })
    const payer = await addMember(test, two, 'payer@example.org', ['payers'])
    const payers = await ensureGroup(two, 'payers')
    const coin = { network: 'bitcoin', code: 'BTC', symbol: '₿', name: 'Bitcoin', decimals: 8, contractAddress: null }
    const btc = (await admin.post('/tokens', coin)).body
    await allowAllOf(two, 'create_address')
    const source = await createAddress(payer, { vault: code, token: 'USDT' })
    const upper = `0x${evmAddress.slice(2).toUpperCase()}`
    const values: [selectorType: string, value: string[], statusInMainVault: number][] = [
      ['token', ['USDT', two.tokens.eth.id], 201],
      ['token', ['BTC'], 400],
      ['token', [btc.id], 400],
      ['network', ['ethereum'], 201],
      ['network', ['bitcoin'], 400],
      ['destination', [evmAddress, evmAddress.toLowerCase(), upper], 201],
      ['destination', [bitcoinAddress, bitcoinAddress.toUpperCase()], 400],
      ['sourceAddress', [source.id], 400],
      ['sourceAddress', [source.address, source.address.toLowerCase()], 400],
      ['initiator', [admin.userId], 201],
      ['initiator', [payer.userId], 400],
    ]
    for (const [selectorType, value, statusInMainVault] of values) {
      const rules = [rule(selectorType, value)]
      const policy = await createdPolicy(allowAll({ effect: 'block', enabled: false, rules }), { groupId: payers })
      const again = await admin.patch(`/policies/${policy.id}`, { rules })
      expect([again.status, again.body.rules[0]!.selectors[0]!.value]).toEqual([200, value])
      const { status } = await createPolicy(allowAll({ effect: 'block', enabled: false, rules }))
      expect([selectorType, value, status]).toEqual([selectorType, value, statusInMainVault])
    }

    const leaver = await addMember(test, two, 'leaver@example.org', ['payers'])
    const stale = await createdPolicy(allowAll({ rules: [rule('initiator', leaver.userId)] }), { groupId: payers })
    expect((await admin.delete(`/policy-groups/${payers}/members/${leaver.userId}`)).status).toBe(204)
    expect((await admin.patch(`/policies/${stale.id}`, { name: 'Renamed' })).status).toBe(200)
    const payload = { fromAddressId: source.id, toAddress: evmAddress, amount: '1' }
    const simulated = await payer.post('/vaults/two-networks/policies/simulate', { actionType: 'transfer', payload })
    expect(simulated.body.trace).toMatchObject([{ policyId: stale.id, matched: false, inDoubt: false }])
  })

  it('T34 name recipients that their network can pay, also beside a network of unknown rules', async () => {
    const network = { ...fixtureRoutes.network, variants: [{ id: 0, code: 'bitcoin', name: 'Bitcoin' }] }
    network.variants.push({ id: 2, code: 'litecoin', name: 'Litecoin' }, { id: 1, code: 'testnet', name: 'Testnet' })
    const code = 'coins'
    const coins = await createVaultFixture(test, {
      code,
      adminEmail: admin.email,
      routes: { ...fixtureRoutes, network },
    })
    const groupId = await ensureGroup(coins, 'payers')
    const litecoinAddress = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'
    const legacy = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
    const required = (slug: string, value: string[]) => {
      const selectors = [
        { selectorType: 'network', value: slug },
        { selectorType: 'destination', value },
      ]
      return { conditionType: 'require', selectors }
    }
    const write = (rules: object[]) => createPolicy(allowAll({ enabled: false, rules }), { groupId })
    for (const value of [
      bitcoinAddress,
      bitcoinAddress.toUpperCase(),
      litecoinAddress,
      legacy,
      'an-address-of-no-known-form',
    ])
      expect([value, (await write([rule('destination', [value])])).status]).toEqual([value, 201])
    const faulty = [
      bitcoinAddress.replace(/4$/, '5'),
      bitcoinAddress.replace('w5', 'W5'),
      litecoinAddress.replace(/9$/, '8'),
      legacy.replace(/a$/, 'b'),
    ]
    for (const value of faulty) {
      const refused = await write([amountAbove('1'), rule('destination', [bitcoinAddress, value])])
      expect([value, refused.status, fieldsOf(refused)]).toEqual([value, 400, ['rules.1.selectors.0.value.1']])
    }
    expect((await write([required('litecoin', [litecoinAddress])])).status).toBe(201)
    expect((await write([rule('network', 'litecoin'), rule('destination', bitcoinAddress)])).status).toBe(201)
    const other = await write([required('litecoin', [litecoinAddress, bitcoinAddress])])
    expect([other.status, fieldsOf(other)]).toEqual([400, ['rules.0.selectors.1.value.1']])
  })

  it('may have a threshold above the number of their approvers', async () => {
    const user = { kind: 'user', userId: member.userId }
    for (const approvers of [[], [user], [user, { kind: 'group', groupId: treasury }]]) {
      const { id } = await createdPolicy(allowAll({ ...approval, approvers }))
      expect((await admin.patch(`/policies/${id}`, { approvalThreshold: 5 })).status).toBe(200)
      await createdPolicy(allowAll({ ...approval, approvalThreshold: 5, approvers }))
    }
  })

  it('are checked as a whole when they are changed, not only in the named fields', async () => {
    const policy = await createdPolicy(allowAll(approval))
    const lowered = await admin.patch(`/policies/${policy.id}`, { approvalThreshold: 0 })
    expect([lowered.status, fieldsOf(lowered)[0]]).toEqual([400, 'approvalThreshold'])
    const amountPolicy = await createdPolicy(allowAll({ rules: [amountAbove('1')] }))
    const moved = await admin.patch(`/policies/${amountPolicy.id}`, { actionType: 'create_address' })
    expect([moved.status, fieldsOf(moved)[0]]).toEqual([400, 'rules.0.selectors.0.selectorType'])
  })

  it('T37 prototype keys in a selector value are refused', async () => {
    const body = (key: string) =>
      JSON.stringify(allowAll({ rules: [amountAbove('1')] })).replace('"gt"', `"gt","${key}":{}`)
    for (const key of ['__proto__', 'constructor', 'toString']) {
      const answer = await admin.post(`/policy-groups/${treasury}/policies`, body(key))
      expect(answer.status, key).toBe(400)
    }
  })

  function rule(selectorType: string, value: unknown) {
    return { conditionType: 'require', selectors: [{ selectorType, value }] }
  }
})

describe('decide', () => {
  const facts = (person: Person, more: Partial<Facts> = {}): Facts => ({
    now: test.clock.now(),
    initiatorId: person.userId,
    initiatorGroupIds: [],
    amount: '10',
    ...more,
  })
  const ask = (person: Person, groupIds: string[], { isAdmin = false, more = {} } = {}) =>
    decide(test.deps.db, {
      vaultId: vault.id,
      actionType: 'transfer',
      initiator: { userId: person.userId, kind: 'person', groupIds, isAdmin },
      facts: facts(person, more),
    })

  it('asks the enabled policies of the action in the groups of the initiator', async () => {
    const { id: groupId } = await createdGroup()
    const { id: elsewhere } = await createdGroup()
    expect(await ask(member, [groupId])).toEqual({
      effect: 'deny',
      blockReason: null,
      decisionPolicy: null,
      requirements: [],
      trace: [],
      policies: [],
      facts: expect.objectContaining({ amount: '10', initiatorId: member.userId }),
    })
    const small = await createdPolicy(allowAll({ rules: [amountAbove('5')] }), { groupId })
    await createdPolicy(allowAll({ effect: 'block' }), { groupId: elsewhere })
    await createdPolicy(allowAll({ effect: 'block', enabled: false }), { groupId })
    await createdPolicy(allowAll({ effect: 'block', actionType: 'create_address' }), { groupId })
    const allowed = await ask(member, [groupId])
    expect(allowed).toMatchObject({
      effect: 'allow',
      decisionPolicy: { id: small.id, code: small.code, name: small.name },
      trace: [
        { policyId: small.id, matched: true, rules: [{ selectors: [{ expected: { op: 'gt' }, observed: '10' }] }] },
      ],
      policies: [{ id: small.id, rules: [{ conditionType: 'require' }], approvers: [] }],
    })
    const kept = { ...allowed, facts: { ...allowed.facts, now: allowed.facts.now.toISOString() } }
    expect(JSON.parse(JSON.stringify(allowed))).toEqual(kept)
    expect(await ask(member, [groupId], { more: { amount: '5' } })).toMatchObject({
      effect: 'deny',
      trace: [{ matched: false }],
      policies: [],
    })

    const votes = await createdPolicy(
      allowAll({
        effect: 'requireApproval',
        approvalThreshold: 2,
        adminBypass: true,
        approvers: [
          { kind: 'user', userId: admin.userId },
          { kind: 'group', groupId: treasury },
        ],
      }),
      { groupId },
    )
    const requirement = {
      policyId: votes.id,
      policyCode: votes.code,
      policyName: votes.name,
      threshold: 2,
      bypassed: false,
      allowInitiator: false,
      approvers: [
        { kind: 'user', id: admin.userId },
        { kind: 'group', id: treasury },
      ],
      groupId,
    }
    const held = await ask(member, [groupId])
    expect(held).toMatchObject({ effect: 'approval', decisionPolicy: { id: votes.id }, requirements: [requirement] })
    expect(await ask(admin, [groupId], { isAdmin: true })).toMatchObject({
      effect: 'allow',
      requirements: [{ ...requirement, bypassed: true }],
    })
    const blocking = await createdPolicy(allowAll({ effect: 'block', blockReason: 'Audit week' }), { groupId })
    expect(await ask(admin, [groupId], { isAdmin: true })).toMatchObject({
      effect: 'block',
      blockReason: 'Audit week',
      decisionPolicy: { id: blocking.id },
    })
  })
})

describe('permissions', () => {
  const reads = (group: string, policy: string) => [
    ['get', '/vaults/main-vault/policy-groups'],
    ['get', '/vaults/main-vault/policies'],
    ['get', `/policy-groups/${group}`],
    ['get', `/policies/${policy}`],
  ]
  const writes = (group: string, policy: string) =>
    [
      ['post', '/vaults/main-vault/policy-groups', { code: 'x', name: 'X' }],
      ['patch', `/policy-groups/${group}`, { name: 'X' }],
      ['post', `/policy-groups/${group}/members`, { userId: 'x' }],
      ['delete', `/policy-groups/${group}/members/x`],
      ['post', `/policy-groups/${group}/policies`, allowAll()],
      ['patch', `/policies/${policy}`, { name: 'X' }],
      ['delete', `/policies/${policy}`],
      ['delete', `/policy-groups/${group}`],
    ] as const
  const send = (person: Person | TestApp['anonymous'], [method, url, body]: readonly unknown[]) =>
    person[method as 'post'](url as string, body)

  it('T39 read: members; write: administrators; strangers learn nothing', async () => {
    const group = await createdGroup()
    const policy = await createdPolicy(allowAll(), { groupId: group.id })
    const expired = test.client({ authorization: `Bearer ${'x'.repeat(43)}` })
    for (const request of [...reads(group.id, policy.id), ...writes(group.id, policy.id)]) {
      const label = `${request[0]} ${request[1]}`
      const isRead = request[0] === 'get'
      const isVaultPath = String(request[1]).startsWith('/vaults/')
      expect((await send(test.anonymous, request)).status, label).toBe(401)
      expect((await send(expired, request)).status, label).toBe(401)
      expect((await send(stranger, request)).status, label).toBe(isVaultPath ? 403 : 404)
      expect((await send(member, request)).status, label).toBe(isRead ? 200 : 403)
      if (isRead) expect((await send(admin, request)).status, label).toBe(200)
    }
    expect((await admin.get(`/policies/${policy.id}`)).body).toEqual(policy)
    expect((await admin.get(`/policy-groups/${group.id}`)).body).toMatchObject({ name: 'A group', memberships: [] })
  })

  it('T40 changes in another vault do not change the lists of a vault', async () => {
    const before = await member.get('/vaults/main-vault/policies?limit=100')
    const groupsBefore = await member.get('/vaults/main-vault/policy-groups?limit=100')
    await createdPolicy(allowAll(), { by: stranger, groupId: otherVault.groups.everyone })
    await createdGroup(nextCode(), { vault: otherVault })
    expect((await member.get('/vaults/main-vault/policies?limit=100')).body).toEqual(before.body)
    expect((await member.get('/vaults/main-vault/policy-groups?limit=100')).body).toEqual(groupsBefore.body)
  })
})
