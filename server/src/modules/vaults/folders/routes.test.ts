import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createPolicy,
  createVaultFixture,
  ensureGroup,
  profileOf,
  type VaultFixture,
} from '../../../testing/fixtures.ts'

let test: TestApp
let vault: VaultFixture
let manager: Person
let viewer: Person
let other: Person
let financeId: string

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  await allowAll(vault, 'create_address')
  manager = await addMember(test, vault, 'treasurer@example.org')
  viewer = await addMember(test, vault, 'auditor@example.org', ['finance'])
  other = await addMember(test, vault, 'payroll@example.org')
  financeId = await ensureGroup(vault, 'finance')
})
afterAll(() => test.close())

const addresses = '/vaults/main-vault/addresses'
const folders = '/vaults/main-vault/address-groups'
const toUser = (person: Person, more: object = {}) => ({ subjectType: 'user', subjectId: person.userId, ...more })
const toGroup = (id: string, more: object = {}) => ({ subjectType: 'group', subjectId: id, ...more })

async function createFolder(body: object = {}, by = manager) {
  const answer = await by.post(folders, { name: 'A folder', ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

async function put(folderId: string, addressId: string, by = manager) {
  const answer = await by.post(`${folders}/${folderId}/members`, { addressId })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

async function share(folderId: string, body: object, by = manager) {
  const answer = await by.post(`${folders}/${folderId}/grants`, body)
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status)
  return answer.body
}

const read = async (folderId: string, by = manager) => (await by.get(`${folders}/${folderId}`)).body

async function idsOf(
  by: Person,
  url: `/vaults/${string}/${'addresses' | 'address-groups'}?${string}`,
): Promise<string[]> {
  const answer = await by.get(url)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.items.map(({ id }) => id)
}

async function audited(targetId: string): Promise<{ action: string; details: unknown }[]> {
  const rows = await test.deps.db
    .selectFrom('audit_records')
    .select(['action', 'content'])
    .where('target_id', '=', targetId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ action, content }) => ({ action, details: JSON.parse(content).details }))
}

describe('folders', () => {
  it('are created by any member, who manages them', async () => {
    const { status, body } = await other.post(folders, {
      name: 'Payroll',
      description: 'What pays salaries',
      color: '#1d4ed8',
      emoji: '🧾',
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      vaultId: vault.id,
      name: 'Payroll',
      description: 'What pays salaries',
      color: '#1d4ed8',
      emoji: '🧾',
      createdById: other.userId,
      createdBy: profileOf(other),
      createdAt: expect.any(String),
      updatedAt: body.createdAt,
      memberCount: 0,
      access: 'manager',
      sharing: { isShared: false, participantCount: 0 },
    })
    expect(await read(body.id, other)).toEqual(body)
    expect(await audited(body.id)).toEqual([{ action: 'address_group.created', details: { name: 'Payroll' } }])
  })

  it('take a new name and looks, and null clears', async () => {
    const folder = await createFolder({ name: 'Before', emoji: '🏦' })
    test.clock.advance(1_000)
    const changed = await manager.patch(`${folders}/${folder.id}`, { name: 'After', emoji: null, color: '#fff' })
    expect(changed.status).toBe(200)
    expect(changed.body).toEqual({
      ...folder,
      name: 'After',
      emoji: null,
      color: '#fff',
      updatedAt: changed.body.updatedAt,
    })
    expect(changed.body.updatedAt > folder.updatedAt).toBe(true)
    expect(await read(folder.id)).toEqual(changed.body)
    expect((await manager.patch(`${folders}/${folder.id}`, { name: 'After' })).body).toEqual(changed.body)
    expect((await audited(folder.id)).slice(1)).toEqual([
      {
        action: 'address_group.updated',
        details: {
          changes: {
            before: { name: 'Before', emoji: '🏦', color: null },
            after: { name: 'After', emoji: null, color: '#fff' },
          },
        },
      },
    ])
  })

  it('hold addresses, each once, and count them', async () => {
    const folder = await createFolder()
    const [first, second] = [await createAddress(manager, { label: 'First' }), await createAddress(manager)]
    expect(await put(folder.id, first.id)).toEqual({
      groupId: folder.id,
      addressId: first.id,
      createdAt: expect.any(String),
      address: { id: first.id, address: first.address, label: 'First' },
    })
    await put(folder.id, second.id)
    const again = await manager.post(`${folders}/${folder.id}/members`, { addressId: first.id })
    expect([again.status, again.body.message]).toEqual([409, 'The address is already in the folder'])
    expect((await read(folder.id)).memberCount).toBe(2)

    const page = (await manager.get(`${folders}/${folder.id}/members?limit=1`)).body
    const rest = (await manager.get(`${folders}/${folder.id}/members?limit=1&cursor=${page.nextCursor}`)).body
    const held = [...page.items, ...rest.items].map(({ addressId }) => addressId)
    expect(held).toEqual([second.id, first.id])
    expect(rest.nextCursor).toBeNull()

    const removed = await manager.delete(`${folders}/${folder.id}/members/${first.id}`)
    expect([removed.status, removed.body]).toEqual([204, ''])
    expect((await manager.delete(`${folders}/${folder.id}/members/${first.id}`)).status).toBe(404)
    expect(await idsOf(manager, `${addresses}?folderId=${folder.id}`)).toEqual([second.id])
    expect((await audited(folder.id)).slice(1)).toEqual([
      { action: 'address_group.member_added', details: { addressId: first.id } },
      { action: 'address_group.member_added', details: { addressId: second.id } },
      { action: 'address_group.member_removed', details: { addressId: first.id } },
    ])
  })

  it('are deleted with their grants, and their addresses stay', async () => {
    const folder = await createFolder()
    const address = await createAddress(manager)
    await put(folder.id, address.id)
    await share(folder.id, toUser(viewer))
    expect((await viewer.get(`${addresses}/${address.id}`)).status).toBe(200)
    const deleted = await manager.delete(`${folders}/${folder.id}`)
    expect([deleted.status, deleted.body]).toEqual([204, ''])
    for (const person of [manager, viewer, vault.admin]) {
      expect((await person.get(`${folders}/${folder.id}`)).status).toBe(404)
      expect(await idsOf(person, `${addresses}?folderId=${folder.id}`)).toEqual([])
    }
    expect((await viewer.get(`${addresses}/${address.id}`)).status).toBe(404)
    expect((await manager.get(`${addresses}/${address.id}`)).status).toBe(200)
    expect((await audited(folder.id)).at(-1)).toEqual({
      action: 'address_group.deleted',
      details: { name: 'A folder' },
    })
    expect((await manager.delete(`${folders}/${folder.id}`)).status).toBe(404)
  })

  it('cannot be deleted while a rule of a policy names them, and a policy cannot name a deleted folder', async () => {
    const [folder, spare] = [await createFolder(), await createFolder()]
    const rules = (...ids: string[]) => [
      { conditionType: 'exclude', selectors: [{ selectorType: 'addressGroup', value: ids }] },
    ]
    const policy = await createPolicy(vault, {
      code: 'only-from-the-folder',
      name: 'Only from the folder',
      actionType: 'transfer',
      effect: 'block',
      enabled: false,
      rules: rules(spare.id, folder.id),
    })
    expect((await manager.delete(`${folders}/${folder.id}`)).status).toBe(409)
    expect((await read(folder.id)).name).toBe('A folder')
    await vault.admin.patch(`/policies/${policy.id}`, { rules: rules(spare.id) })
    expect((await manager.delete(`${folders}/${folder.id}`)).status).toBe(204)
    const gone = await vault.admin.patch(`/policies/${policy.id}`, { rules: rules(spare.id, folder.id) })
    expect([gone.status, gone.body.details]).toEqual([
      400,
      [{ field: 'rules.0.selectors.0.value.1', message: 'is not a folder of the vault' }],
    ])
  })
})

describe('a shared folder', () => {
  it('shares its addresses for as long as they are in it', async () => {
    const folder = await createFolder()
    const [inside, outside] = [await createAddress(manager), await createAddress(manager)]
    await put(folder.id, inside.id)
    const answer = await manager.post(`${folders}/${folder.id}/grants`, toUser(viewer))
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      vaultId: vault.id,
      groupId: folder.id,
      subjectType: 'user',
      subjectId: viewer.userId,
      subject: { id: viewer.userId, name: 'auditor', username: null, image: null, color: null, emoji: null },
      canView: true,
      canTransfer: false,
      grantorId: manager.userId,
      grantor: profileOf(manager),
      createdAt: expect.any(String),
    })
    const seen = async () => {
      const statuses = [inside, outside].map(async ({ id }) => (await viewer.get(`${addresses}/${id}`)).status)
      return Promise.all(statuses)
    }
    expect(await seen()).toEqual([200, 404])
    await put(folder.id, outside.id)
    expect(await seen()).toEqual([200, 200])
    expect(await idsOf(viewer, `${addresses}?folderId=${folder.id}`)).toEqual([outside.id, inside.id])
    await manager.delete(`${folders}/${folder.id}/members/${inside.id}`)
    expect(await seen()).toEqual([404, 200])
    expect(await idsOf(viewer, `${addresses}?access=shared`)).not.toContain(inside.id)
    await manager.delete(`${folders}/${folder.id}/grants/${answer.body.id}`)
    expect(await seen()).toEqual([404, 404])
    const grant = {
      grantId: answer.body.id,
      subjectType: 'user',
      subjectId: viewer.userId,
      canView: true,
      canTransfer: false,
    }
    const recorded = await audited(folder.id)
    expect(recorded).toContainEqual({ action: 'address_group.shared', details: grant })
    expect(recorded.at(-1)).toEqual({ action: 'address_group.unshared', details: grant })
  })

  it('has only the rights of the new grant when it is shared again, for its addresses too', async () => {
    const folder = await createFolder()
    const address = await createAddress(manager)
    await put(folder.id, address.id)
    const canTransfer = async () => (await viewer.get(`${addresses}/${address.id}`)).body.access.canTransfer
    const first = await manager.post(`${folders}/${folder.id}/grants`, toGroup(financeId, { canTransfer: true }))
    expect([first.status, await canTransfer()]).toEqual([201, true])
    const second = await manager.post(`${folders}/${folder.id}/grants`, toGroup(financeId))
    expect([second.status, await canTransfer()]).toEqual([200, false])
    expect(second.body).toEqual({ ...first.body, canTransfer: false })
    expect((await manager.get(`${folders}/${folder.id}/grants`)).body.items).toEqual([second.body])
  })

  it('counts people: each once, by name or group, without the manager, services, leavers and the disabled', async () => {
    const folder = await createFolder()
    const count = async () => (await read(folder.id)).sharing
    expect(await count()).toEqual({ isShared: false, participantCount: 0 })

    const teamId = await ensureGroup(vault, 'team')
    const members: Person[] = []
    for (const name of ['one', 'two', 'three']) {
      members.push(await addMember(test, vault, `${name}@example.org`, ['team']))
    }
    await vault.admin.post(`/policy-groups/${teamId}/members`, { userId: manager.userId })
    await vault.admin.post(`/policy-groups/${teamId}/members`, { userId: 'a machine elsewhere' })
    await vault.admin.post('/vaults/main-vault/service-tokens', { name: 'Reporting', groupIds: [teamId] })

    await share(folder.id, toUser(members[0]!))
    expect(await count()).toEqual({ isShared: true, participantCount: 1 })
    const toTeam = await share(folder.id, toGroup(teamId))
    expect(await count()).toEqual({ isShared: true, participantCount: 3 })
    const outsider = await addMember(test, vault, 'passing@example.org', ['temporary'])
    await share(folder.id, toUser(outsider))
    expect((await count()).participantCount).toBe(4)
    await vault.admin.delete(`/policy-groups/${await ensureGroup(vault, 'temporary')}/members/${outsider.userId}`)
    expect((await count()).participantCount).toBe(3)
    const disable = (disabled_at: Date | null) =>
      test.deps.db.updateTable('users').set({ disabled_at }).where('id', '=', members[2]!.userId).execute()
    await disable(test.clock.now())
    expect((await count()).participantCount).toBe(2)
    await disable(null)

    await share(folder.id, toGroup(vault.groups.everyone))
    const people = await test.deps.db
      .selectFrom('policy_group_memberships as m')
      .innerJoin('users as u', 'u.id', 'm.user_id')
      .select('u.id')
      .distinct()
      .where('m.vault_id', '=', vault.id)
      .where('u.kind', '=', 'person')
      .where('u.id', '<>', manager.userId)
      .execute()
    expect((await count()).participantCount).toBe(people.length)
    expect(people.length).toBeGreaterThanOrEqual(6)

    for (const { id } of (await manager.get(`${folders}/${folder.id}/grants`)).body.items) {
      if (id !== toTeam.id) await manager.delete(`${folders}/${folder.id}/grants/${id}`)
    }
    expect(await count()).toEqual({ isShared: true, participantCount: 3 })
  })

  it('reaches no person when it is shared with an empty group', async () => {
    const folder = await createFolder()
    await share(folder.id, toGroup(await ensureGroup(vault, 'empty')))
    expect((await read(folder.id)).sharing).toEqual({ isShared: true, participantCount: 0 })
  })

  it('is listed for the people with access, and shows how they have it', async () => {
    const mine = await createFolder({ name: 'Mine' }, viewer)
    const [granted, byGroup, hidden] = [await createFolder(), await createFolder(), await createFolder()]
    await share(granted.id, toUser(viewer))
    await share(byGroup.id, toGroup(financeId))
    const seen = new Map<string, string>()
    for (const folder of (await viewer.get(`${folders}?limit=100`)).body.items) seen.set(folder.id, folder.access)
    expect([mine, granted, byGroup, hidden].map(({ id }) => seen.get(id))).toEqual([
      'manager',
      'granted',
      'granted',
      undefined,
    ])
    expect((await read(hidden.id, vault.admin)).access).toBe('admin')
    await share(hidden.id, toUser(vault.admin))
    expect((await read(hidden.id, vault.admin)).access).toBe('granted')
    // The sharing state of a folder does not depend on the access of the viewer.
    expect(await read(granted.id)).toMatchObject({
      access: 'manager',
      sharing: { isShared: true, participantCount: 1 },
    })

    const all = await idsOf(vault.admin, `${folders}?limit=100`)
    expect(all).toEqual(expect.arrayContaining([mine.id, granted.id, byGroup.id, hidden.id]))
    const paged: string[] = []
    let cursor = ''
    do {
      const { body } = await vault.admin.get(`${folders}?limit=4${cursor}`)
      paged.push(...body.items.map(({ id }) => id))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect(paged).toEqual(all)
  })

  it('T47 leaving the group ends it on the next request', async () => {
    const groupId = await ensureGroup(vault, 'leavers')
    const leaver = await addMember(test, vault, 'leaver@example.org', ['members', 'leavers'])
    const folder = await createFolder()
    const address = await createAddress(manager)
    await put(folder.id, address.id)
    await share(folder.id, toGroup(groupId))
    expect(await idsOf(leaver, `${addresses}?folderId=${folder.id}`)).toEqual([address.id])
    await vault.admin.delete(`/policy-groups/${groupId}/members/${leaver.userId}`)
    expect(await idsOf(leaver, `${addresses}?folderId=${folder.id}`)).toEqual([])
    expect((await leaver.get(`${addresses}/${address.id}`)).status).toBe(404)
    expect((await leaver.get(`${folders}/${folder.id}`)).status).toBe(404)
  })
})

describe('addresses of a folder', () => {
  it('are listed for its manager, people with a grant and administrators only', async () => {
    const folder = await createFolder()
    const [first, second] = [await createAddress(manager), await createAddress(manager)]
    await createAddress(manager)
    await put(folder.id, first.id)
    await put(folder.id, second.id)
    await share(folder.id, toUser(viewer))
    const both = [second.id, first.id]
    const of = (by: Person, more = '') => idsOf(by, `${addresses}?folderId=${folder.id}${more}`)
    expect([await of(manager), await of(viewer), await of(vault.admin)]).toEqual([both, both, both])
    expect([await of(manager, '&access=own'), await of(viewer, '&access=own')]).toEqual([both, []])
    expect([await of(manager, '&access=shared'), await of(viewer, '&access=shared')]).toEqual([[], both])
    expect(await of(vault.admin, `&userId=${manager.userId}`)).toEqual(both)
    expect(await of(vault.admin, `&userId=${viewer.userId}`)).toEqual([])
    // A folder that one may not see is answered like a folder that does not exist.
    expect(await of(other)).toEqual([])
    expect(await idsOf(other, `${addresses}?folderId=${newId()}`)).toEqual([])
  })

  it('T39 are hidden to whom only an address in it is shared with', async () => {
    const folder = await createFolder()
    const address = await createAddress(manager)
    await put(folder.id, address.id)
    expect((await manager.post(`${addresses}/${address.id}/grants`, toUser(other))).status).toBe(201)
    expect((await other.get(`${addresses}/${address.id}`)).status).toBe(200)
    expect(await idsOf(other, `${addresses}?folderId=${folder.id}`)).toEqual([])
    expect((await other.get(`${folders}/${folder.id}`)).status).toBe(404)
  })
})

describe('refused requests', () => {
  it.each([
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a blank name', { name: '  ' }, 'name'],
    ['a name of 201 characters', { name: 'x'.repeat(201) }, 'name'],
    ['a name that is null', { name: null }, 'name'],
    ['a value that is not a colour', { name: 'x', color: 'blue' }, 'color'],
    ['T41 another manager', { name: 'x', createdById: 'x' }, 'createdById'],
    ['an unknown field', { name: 'x', members: [] }, 'members'],
  ])('answers 400 to %s', async (_, body, field) => {
    const answer = await manager.post(folders, body)
    expect([answer.status, answer.body.details[0]!.field]).toEqual([400, field])
    if (field === 'name' && !('name' in body)) return
    const folder = await createFolder()
    const patched = await manager.patch(`${folders}/${folder.id}`, body)
    expect([patched.status, patched.body.details[0]!.field]).toEqual([400, field])
  })

  it('takes a name of 200 characters', async () => {
    expect((await createFolder({ name: 'x'.repeat(200) })).name).toHaveLength(200)
  })

  it('T39 an address of another owner answers like an address that does not exist, even if the caller sees it', async () => {
    const folder = await createFolder({}, viewer)
    const shared = await createAddress(manager)
    await manager.post(`${addresses}/${shared.id}/grants`, toUser(viewer, { canTransfer: true }))
    const hidden = await createAddress(manager)
    const answers = await Promise.all(
      [shared.id, hidden.id, newId()].map((addressId) => viewer.post(`${folders}/${folder.id}/members`, { addressId })),
    )
    for (const { status, body } of answers) {
      expect([status, body.details]).toEqual([400, [{ field: 'addressId', message: 'is not an address of yours' }]])
    }
    // An administrator, too, puts only their own addresses into a folder.
    const ofAdmin = await createFolder({}, vault.admin)
    const byAdmin = await vault.admin.post(`${folders}/${ofAdmin.id}/members`, { addressId: hidden.id })
    expect([byAdmin.status, byAdmin.body.details[0]!.field]).toEqual([400, 'addressId'])
    expect((await read(folder.id, viewer)).memberCount).toBe(0)
  })

  it.each([
    ['themselves', () => toUser(manager)],
    ['a user who is not a member', () => ({ subjectType: 'user', subjectId: newId() })],
    ['a group that does not exist', () => toGroup(newId())],
  ])('answers 400 to a grant to %s', async (_, body) => {
    const folder = await createFolder()
    const answer = await manager.post(`${folders}/${folder.id}/grants`, body())
    expect([answer.status, answer.body.details[0]!.field]).toEqual([400, 'subjectId'])
    expect((await read(folder.id)).sharing.isShared).toBe(false)
  })
})

describe('permissions', () => {
  /** Every request on a folder, by name. */
  const requests = (folderId: string, grantId: string, inside: string, outside: string) => {
    const folderUrl = `${folders}/${folderId}` as const
    return {
      read: (by: Person) => by.get(folderUrl),
      members: (by: Person) => by.get(`${folderUrl}/members`),
      grants: (by: Person) => by.get(`${folderUrl}/grants`),
      rename: (by: Person) => by.patch(folderUrl, { name: 'Taken' }),
      add: (by: Person) => by.post(`${folderUrl}/members`, { addressId: outside }),
      remove: (by: Person) => by.delete(`${folderUrl}/members/${inside}`),
      share: (by: Person) => by.post(`${folderUrl}/grants`, toUser(other)),
      unshare: (by: Person) => by.delete(`${folderUrl}/grants/${grantId}`),
      delete: (by: Person) => by.delete(folderUrl),
    }
  }

  it('T39 answers 401, 403 and 404 by the caller, and changes nothing except for the manager', async () => {
    const folder = await createFolder()
    const [inside, outside] = [await createAddress(manager), await createAddress(manager)]
    await put(folder.id, inside.id)
    const grant = await share(folder.id, toUser(viewer, { canTransfer: true }))
    const stranger = await test.signIn('stranger@example.org')
    const all = requests(folder.id, grant.id, inside.id, outside.id)
    const unknown = requests(newId(), grant.id, inside.id, outside.id)
    const statuses = async (by: Person, of = all) => {
      const found: Record<string, number> = {}
      for (const [name, request] of Object.entries(of)) found[name] = (await request(by)).status
      return found
    }
    const every = (status: number) => Object.fromEntries(Object.keys(all).map((name) => [name, status]))
    const before = await read(folder.id)
    expect(await statuses(test.anonymous as Person)).toEqual(every(401))
    expect(await statuses(stranger)).toEqual(every(403))
    expect(await statuses(other)).toEqual(every(404))
    expect(await statuses(viewer)).toEqual({ ...every(403), read: 200, members: 200 })
    expect(await statuses(vault.admin)).toEqual({ ...every(403), read: 200, members: 200, grants: 200 })
    expect(await statuses(manager, unknown)).toEqual(every(404))
    expect(await read(folder.id)).toEqual(before)
    expect((await manager.get(`${folders}/${folder.id}/grants`)).body.items).toEqual([grant])
    // The manager comes last, because their requests change the folder.
    expect(await statuses(manager)).toEqual({
      ...every(200),
      add: 201,
      remove: 204,
      share: 201,
      unshare: 204,
      delete: 204,
    })
  })

  it('T39 does not find a folder through another vault, and reads nothing of it there', async () => {
    const elsewhere = await createVaultFixture(test, { code: 'elsewhere', adminEmail: 'elsewhere@example.org' })
    const folder = await createFolder()
    await put(folder.id, (await createAddress(manager)).id)
    const strange = '/vaults/elsewhere/address-groups'
    expect((await elsewhere.admin.get(`${strange}/${folder.id}`)).status).toBe(404)
    expect((await elsewhere.admin.get(`${strange}/${folder.id}/members`)).status).toBe(404)
    expect((await elsewhere.admin.delete(`${strange}/${folder.id}`)).status).toBe(404)
    expect(await idsOf(elsewhere.admin, `${strange}?`)).toEqual([])
    expect(await idsOf(elsewhere.admin, `/vaults/elsewhere/addresses?folderId=${folder.id}`)).toEqual([])
    expect((await read(folder.id)).memberCount).toBe(1)
  })

  it('T39 a grant is not deleted through another folder', async () => {
    const [folder, another] = [await createFolder(), await createFolder()]
    const grant = await share(folder.id, toUser(viewer))
    expect((await manager.delete(`${folders}/${another.id}/grants/${grant.id}`)).status).toBe(404)
    expect((await manager.get(`${folders}/${folder.id}/grants`)).body.items).toEqual([grant])
  })

  it('a folder that is deleted while it is filled ends consistently', async () => {
    for (let round = 0; round < 5; round += 1) {
      const folder = await createFolder()
      const address = await createAddress(manager)
      const [added, deleted] = await Promise.all([
        manager.post(`${folders}/${folder.id}/members`, { addressId: address.id }),
        manager.delete(`${folders}/${folder.id}`),
      ])
      expect(deleted.status).toBe(204)
      expect([201, 404]).toContain(added.status)
      expect((await manager.get(`${folders}/${folder.id}`)).status).toBe(404)
    }
  })
})
