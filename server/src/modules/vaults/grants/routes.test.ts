import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createVaultFixture,
  ensureGroup,
  profileOf,
  type VaultFixture,
} from '../../../testing/fixtures.ts'

let test: TestApp
let vault: VaultFixture
let owner: Person
let viewer: Person
let other: Person
let financeId: string

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  await allowAll(vault, 'create_address')
  owner = await addMember(test, vault, 'treasurer@example.org')
  viewer = await addMember(test, vault, 'auditor@example.org', ['finance'])
  other = await addMember(test, vault, 'payroll@example.org')
  financeId = await ensureGroup(vault, 'finance')
})
afterAll(() => test.close())

const addresses = '/vaults/main-vault/addresses'
const grantsOf = (id: string) => `${addresses}/${id}/grants` as const
const toUser = (person: Person, more: object = {}) => ({ subjectType: 'user', subjectId: person.userId, ...more })
const toGroup = (id: string, more: object = {}) => ({ subjectType: 'group', subjectId: id, ...more })

async function share(addressId: string, body: object, by = owner) {
  const answer = await by.post(grantsOf(addressId), body)
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status)
  return answer.body
}

async function idsSeen(by: Person, query: string): Promise<string[]> {
  const answer = await by.get(`${addresses}?limit=100&${query}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.items.map(({ id }) => id)
}

async function audited(targetId: string): Promise<{ action: string; details: unknown }[]> {
  const rows = await test.deps.db
    .selectFrom('audit_records')
    .select(['action', 'content'])
    .where('target_id', '=', targetId)
    .where('action', 'like', 'address.%shared')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ action, content }) => ({ action, details: JSON.parse(content).details }))
}

describe('a grant', () => {
  it('to a user shows the address to them, and names the user', async () => {
    const address = await createAddress(owner, { label: 'Shared' })
    expect((await viewer.get(`${addresses}/${address.id}`)).status).toBe(404)
    const { status, body } = await owner.post(grantsOf(address.id), toUser(viewer))
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      vaultId: vault.id,
      addressId: address.id,
      subjectType: 'user',
      subjectId: viewer.userId,
      subject: { id: viewer.userId, name: 'auditor', username: null, image: null, color: null, emoji: null },
      canView: true,
      canTransfer: false,
      grantorId: owner.userId,
      grantor: profileOf(owner),
      createdAt: expect.any(String),
    })
    const seen = await viewer.get(`${addresses}/${address.id}`)
    expect(seen.body.access).toEqual({ isOwner: false, isAdmin: false, canView: true, canTransfer: false })
    expect(seen.body.owner.id).toBe(owner.userId)
    expect((await owner.get(grantsOf(address.id))).body).toEqual({ items: [body], nextCursor: null })
  })

  it('to a group reaches its members, and to everyone all of the vault', async () => {
    const [toFinance, toAll] = [await createAddress(owner), await createAddress(owner)]
    const grant = await share(toFinance.id, toGroup(financeId, { canTransfer: true }))
    expect(grant.subject).toEqual({ id: financeId, code: 'finance', name: 'finance' })
    const { everyone } = vault.groups
    const { subject } = await share(toAll.id, toGroup(everyone))
    expect(subject).toEqual({ id: everyone, code: 'everyone', name: 'Everyone' })

    const shown = await viewer.get(`${addresses}/${toFinance.id}`)
    expect(shown.body.access).toEqual({ isOwner: false, isAdmin: false, canView: true, canTransfer: true })
    expect(await idsSeen(viewer, 'access=shared')).toEqual(expect.arrayContaining([toFinance.id, toAll.id]))
    expect(await idsSeen(other, 'access=shared')).toEqual([toAll.id])
    expect((await other.get(`${addresses}/${toFinance.id}`)).status).toBe(404)
  })

  it('replaces the rights of an earlier grant to the same subject', async () => {
    const address = await createAddress(owner)
    const first = await owner.post(grantsOf(address.id), toUser(other, { canView: true, canTransfer: true }))
    const second = await owner.post(grantsOf(address.id), toUser(other))
    expect([first.status, second.status]).toEqual([201, 200])
    expect(second.body).toEqual({ ...first.body, canTransfer: false })
    expect((await owner.get(grantsOf(address.id))).body.items).toEqual([second.body])
    expect((await other.get(`${addresses}/${address.id}`)).body.access.canTransfer).toBe(false)
    const rights = { grantId: first.body.id, subjectType: 'user', subjectId: other.userId, canView: true }
    expect(await audited(address.id)).toEqual([
      { action: 'address.shared', details: { ...rights, canTransfer: true } },
      { action: 'address.shared', details: { ...rights, canTransfer: false } },
    ])
  })

  it('is made once by requests at the same time', async () => {
    const address = await createAddress(owner)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.post(grantsOf(address.id), toGroup(financeId))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201])
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  })

  it('is made once by requests with the same Idempotency-Key', async () => {
    const address = await createAddress(owner)
    const key = { 'idempotency-key': 'grant-1' }
    const first = await owner.post(grantsOf(address.id), toUser(viewer), key)
    const again = await owner.post(grantsOf(address.id), toUser(viewer), key)
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(await audited(address.id)).toHaveLength(1)
  })

  it('to a service and to a member without an account works as to any member', async () => {
    const address = await createAddress(owner)
    const created = await vault.admin.post('/vaults/main-vault/service-tokens', {
      name: 'Reporting',
      groupIds: [financeId],
    })
    const service = test.client({ authorization: `Bearer ${created.body.token}` })
    await share(address.id, { subjectType: 'user', subjectId: created.body.userId })
    expect((await service.get(`${addresses}/${address.id}`)).status).toBe(200)
    await vault.admin.post(`/policy-groups/${financeId}/members`, { userId: 'a machine elsewhere' })
    const { subject } = await share(address.id, { subjectType: 'user', subjectId: 'a machine elsewhere' })
    expect(subject).toEqual({
      id: 'a machine elsewhere',
      name: null,
      username: null,
      image: null,
      color: null,
      emoji: null,
    })
  })

  it('is listed newest first, page by page', async () => {
    const address = await createAddress(owner)
    const made: string[] = []
    for (const person of [viewer, other, vault.admin]) made.unshift((await share(address.id, toUser(person))).id)
    const first = (await owner.get(`${grantsOf(address.id)}?limit=2`)).body
    const second = (await owner.get(`${grantsOf(address.id)}?limit=2&cursor=${first.nextCursor}`)).body
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(made)
    expect(second.nextCursor).toBeNull()
  })
})

describe('revoking a grant', () => {
  it('ends its access on the next request, and leaves a record', async () => {
    const address = await createAddress(owner)
    const grant = await share(address.id, toUser(viewer, { canTransfer: true }))
    const deleted = await owner.delete(`${grantsOf(address.id)}/${grant.id}`)
    expect([deleted.status, deleted.body]).toEqual([204, ''])
    expect((await viewer.get(`${addresses}/${address.id}`)).status).toBe(404)
    expect(await idsSeen(viewer, 'access=shared')).not.toContain(address.id)
    expect((await owner.get(grantsOf(address.id))).body.items).toEqual([])
    expect(await audited(address.id)).toEqual([
      expect.objectContaining({ action: 'address.shared' }),
      {
        action: 'address.unshared',
        details: {
          grantId: grant.id,
          subjectType: 'user',
          subjectId: viewer.userId,
          canView: true,
          canTransfer: true,
        },
      },
    ])
    expect((await owner.delete(`${grantsOf(address.id)}/${grant.id}`)).status).toBe(404)
  })

  it('leaves the access of another grant', async () => {
    const address = await createAddress(owner)
    const byName = await share(address.id, toUser(viewer, { canTransfer: true }))
    await share(address.id, toGroup(financeId))
    await owner.delete(`${grantsOf(address.id)}/${byName.id}`)
    const { access } = (await viewer.get(`${addresses}/${address.id}`)).body
    expect([access.canView, access.canTransfer]).toEqual([true, false])
  })

  it('T47 leaving a group ends its grants on the next request', async () => {
    const groupId = await ensureGroup(vault, 'leavers')
    const leaver = await addMember(test, vault, 'leaver@example.org', ['members', 'leavers'])
    const address = await createAddress(owner)
    await share(address.id, toGroup(groupId))
    expect(await idsSeen(leaver, 'access=shared')).toContain(address.id)
    await vault.admin.delete(`/policy-groups/${groupId}/members/${leaver.userId}`)
    expect(await idsSeen(leaver, 'access=shared')).not.toContain(address.id)
    expect((await leaver.get(`${addresses}/${address.id}`)).status).toBe(404)
  })

  it('T47 leaving the vault ends the grants of a member', async () => {
    const leaver = await addMember(test, vault, 'gone@example.org', ['temporary'])
    const address = await createAddress(owner)
    await share(address.id, toUser(leaver, { canTransfer: true }))
    expect((await leaver.get(`${addresses}/${address.id}`)).status).toBe(200)
    await vault.admin.delete(`/policy-groups/${await ensureGroup(vault, 'temporary')}/members/${leaver.userId}`)
    expect((await leaver.get(`${addresses}/${address.id}`)).status).toBe(403)
  })

  it('the deletion of a group removes its grants', async () => {
    const groupId = await ensureGroup(vault, 'short-lived')
    const address = await createAddress(owner)
    await share(address.id, toGroup(groupId))
    await share(address.id, toUser(viewer))
    expect((await vault.admin.delete(`/policy-groups/${groupId}`)).status).toBe(204)
    const { items } = (await owner.get(grantsOf(address.id))).body
    expect(items.map(({ subjectId }) => subjectId)).toEqual([viewer.userId])
  })
})

describe('the list of addresses', () => {
  it('contains own addresses, shared addresses, or both, each address once', async () => {
    const [first, second] = [
      await addMember(test, vault, 'first@example.org'),
      await addMember(test, vault, 'second@example.org'),
    ]
    await vault.admin.post(`/policy-groups/${await ensureGroup(vault, 'pairs')}/members`, { userId: first.userId })
    const mine = await createAddress(first, { label: 'Mine' })
    const theirs = await createAddress(second, { label: 'Theirs' })
    const hidden = await createAddress(second)
    // One address is shared with the same person by name, by a group and by everyone; the own address with a group of the owner.
    const { everyone } = vault.groups
    for (const body of [toUser(first), toGroup(await ensureGroup(vault, 'pairs')), toGroup(everyone)]) {
      await share(theirs.id, body, second)
    }
    await share(mine.id, toGroup(everyone), first)
    const all = await idsSeen(first, 'access=all')
    const shared = await idsSeen(first, 'access=shared')
    expect(await idsSeen(first, '')).toEqual([mine.id])
    expect(await idsSeen(first, 'access=own')).toEqual([mine.id])
    expect(shared).toContain(theirs.id)
    expect(shared).not.toContain(mine.id)
    expect(all).not.toContain(hidden.id)
    expect(new Set(all).size).toBe(all.length)
    expect([...all].sort()).toEqual([mine.id, ...shared].sort())
    // Newest first across both parts, and the same page by page.
    expect(all.indexOf(theirs.id)).toBeLessThan(all.indexOf(mine.id))
    const paged: string[] = []
    let cursor = ''
    do {
      const { body } = await first.get(`${addresses}?access=all&limit=2${cursor}`)
      paged.push(...body.items.map(({ id }) => id))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect(paged).toEqual(all)
  })

  it('T40 is searched within the scope', async () => {
    const reader = await addMember(test, vault, 'searcher@example.org')
    const shared = await createAddress(owner, { label: 'Needle shared', token: 'USDT' })
    await createAddress(owner, { label: 'Needle hidden', token: 'USDT' })
    const ownedAddress = await createAddress(reader, { label: 'Needle own' })
    await share(shared.id, toUser(reader))
    expect(await idsSeen(reader, 'search=needle&access=all')).toEqual([ownedAddress.id, shared.id])
    expect(await idsSeen(reader, 'search=needle&access=shared')).toEqual([shared.id])
    expect(await idsSeen(reader, 'search=needle')).toEqual([ownedAddress.id])
    expect(await idsSeen(reader, 'search=needle&token=USDT&access=all')).toEqual([shared.id])
  })

  it('of an administrator is the vault, regardless of `access`', async () => {
    const address = await createAddress(other)
    for (const access of ['own', 'shared', 'all']) {
      expect(await idsSeen(vault.admin, `access=${access}`)).toContain(address.id)
    }
  })
})

describe('refused grants', () => {
  it.each([
    ['themselves', () => toUser(owner), 'subjectId'],
    ['a user who is not a member', () => ({ subjectType: 'user', subjectId: newId() }), 'subjectId'],
    ['a group that does not exist', () => toGroup(newId()), 'subjectId'],
    ['a user called a group', () => toGroup(viewer.userId), 'subjectId'],
    ['a group called a user', () => ({ subjectType: 'user', subjectId: financeId }), 'subjectId'],
    ['another kind of subject', () => ({ subjectType: 'everyone', subjectId: financeId }), 'subjectType'],
    ['nobody', () => ({ subjectType: 'user' }), 'subjectId'],
    ['an empty subject', () => ({ subjectType: 'user', subjectId: '' }), 'subjectId'],
    ['no right to view', () => toUser(viewer, { canView: false }), 'canView'],
    ['a right as text', () => toUser(viewer, { canTransfer: 'true' }), 'canTransfer'],
    ['an unknown right', () => toUser(viewer, { canApprove: true }), 'canApprove'],
    ['T41 another grantor', () => toUser(viewer, { grantorId: viewer.userId }), 'grantorId'],
  ])('answers 400 to a grant to %s', async (_, body, field) => {
    const address = await createAddress(owner)
    const answer = await owner.post(grantsOf(address.id), body())
    expect(answer.status, JSON.stringify(answer.body)).toBe(400)
    expect(answer.body.details[0]!.field).toBe(field)
    expect((await owner.get(grantsOf(address.id))).body.items).toEqual([])
    expect(await audited(address.id)).toEqual([])
  })

  it('T39 takes no group and no person of another vault', async () => {
    const elsewhere = await createVaultFixture(test, { code: 'elsewhere', adminEmail: 'elsewhere@example.org' })
    const address = await createAddress(owner)
    for (const body of [toGroup(elsewhere.groups.everyone), toUser(elsewhere.admin)]) {
      const answer = await owner.post(grantsOf(address.id), body)
      expect([answer.status, answer.body.details[0]!.field]).toEqual([400, 'subjectId'])
    }
    expect((await elsewhere.admin.get(`/vaults/elsewhere/addresses/${address.id}/grants`)).status).toBe(404)
  })
})

describe('permissions', () => {
  it('T39 answers 401, 403 and 404 by the caller', async () => {
    const address = await createAddress(owner)
    const grant = await share(address.id, toUser(viewer, { canTransfer: true }))
    const grantUrl = `${grantsOf(address.id)}/${grant.id}` as const
    const stranger = await test.signIn('stranger@example.org')
    const reads = async (by: { get: Person['get'] }) => (await by.get(grantsOf(address.id))).status
    expect([await reads(test.anonymous), await reads(stranger), await reads(other)]).toEqual([401, 403, 404])
    expect([await reads(viewer), await reads(vault.admin), await reads(owner)]).toEqual([403, 200, 200])
    expect((await test.anonymous.post(grantsOf(address.id), toUser(other))).status).toBe(401)
    expect((await stranger.post(grantsOf(address.id), toUser(other))).status).toBe(403)
    expect((await test.anonymous.delete(grantUrl)).status).toBe(401)
    expect((await stranger.delete(grantUrl)).status).toBe(403)
    // People who may move the funds and administrators cannot share an address that they do not own.
    for (const [person, status] of [
      [other, 404],
      [viewer, 403],
      [vault.admin, 403],
    ] as const) {
      expect((await person.post(grantsOf(address.id), toUser(other))).status).toBe(status)
      expect((await person.delete(grantUrl)).status).toBe(status)
    }
    expect((await vault.admin.delete(`${grantsOf(address.id)}/${newId()}`)).status).toBe(403)
    expect((await owner.get(grantsOf(address.id))).body.items).toEqual([grant])
  })

  it('T39 a grant is not deleted through another address', async () => {
    const [address, another] = [await createAddress(owner), await createAddress(other)]
    const grant = await share(address.id, toUser(viewer))
    expect((await other.delete(`${grantsOf(another.id)}/${grant.id}`)).status).toBe(404)
    expect((await owner.get(grantsOf(address.id))).body.items).toEqual([grant])
  })

  it('T41 a person with all grants still cannot change the address', async () => {
    const address = await createAddress(owner, { label: 'Before' })
    await share(address.id, toUser(viewer, { canTransfer: true }))
    expect((await viewer.patch(`${addresses}/${address.id}`, { label: 'Taken' })).status).toBe(404)
    expect((await owner.get(`${addresses}/${address.id}`)).body.label).toBe('Before')
  })
})
