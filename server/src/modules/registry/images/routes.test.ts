import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { deleteExpiredRows } from '../../../jobs/housekeeping.ts'
import { imageBytesMax, imagesAsideMax, imagesPerVaultMax, replacedImageHours } from '../../../lib/limits.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createPolicy,
  createVaultFixture,
  type VaultFixture,
} from '../../../testing/fixtures.ts'
import { asPng, pngOf } from '../../../testing/images.ts'

const hour = 3_600_000
let test: TestApp
let vault: VaultFixture
let owner: Person
let approver: Person
let outsider: Person
let platform: Person
let count = 0

beforeAll(async () => {
  test = await createTestApp({ RATE_LIMIT_PER_MINUTE: '0' })
  vault = await createVaultFixture(test)
  owner = await addMember(test, vault, 'owner@example.org', ['treasury'])
  approver = await addMember(test, vault, 'approver@example.org', ['approvers'])
  outsider = await test.signIn('outsider@example.org')
  platform = await test.signIn('platform@example.org', { isPlatformAdmin: true })
  await allowAll(vault, 'create_address')
  await allowAll(vault, 'counterparty_create')
})
afterAll(() => test.close())

let png: Buffer
beforeEach(() => {
  count += 1
  png = pngOf(`image ${count}`)
})

const put = <Path extends string>(by: Person, path: Path, bytes: Buffer = png, headers = asPng) =>
  by.put(`${path}/image`, bytes, headers)
const read = (by: Person, uri: string) =>
  test.app.inject({ url: uri, headers: { authorization: `Bearer ${by.token}` } })
const kept = async (id: string) =>
  (await test.deps.db.selectFrom('images').select('key').where('subject_id', '=', id).execute()).map(({ key }) => key)
const keyOf = (uri: string) => uri.split('/').at(-1)!
const actionsOf = async (id: string) => {
  const records = test.deps.db.selectFrom('audit_records').select('action').where('target_id', '=', id)
  return (await records.orderBy('created_at').orderBy('id').execute()).map(({ action }) => action)
}

describe('an image', () => {
  it('is named by the field for URLs of images, and is served with the type of its bytes', async () => {
    const { status, body } = await put(owner, '/users/me')
    expect(status).toBe(200)
    expect(body.image).toMatch(/^\/api\/v1\/images\/[0-9a-f]{64}$/)
    expect((await owner.get('/users/me')).body.image).toBe(body.image)
    const { items } = (await vault.admin.get(`/vaults/${vault.code}/members`)).body
    expect(items.find(({ userId }) => userId === owner.userId)!.image).toBe(body.image)

    const { statusCode, headers, rawPayload } = await read(outsider, body.image!)
    expect(statusCode).toBe(200)
    expect(rawPayload.equals(png)).toBe(true)
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(png.length),
      'content-disposition': 'inline',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, max-age=31536000, immutable',
    })
    expect((await test.app.inject({ url: body.image! })).statusCode).toBe(401)
  })

  it.each([
    ['a vault', () => `/vaults/${vault.code}` as const, () => vault.admin, 'logoUri', true],
    ['a token', () => `/tokens/${vault.tokens.usdt.id}` as const, () => platform, 'logoUri', false],
    ['a network', () => `/networks/${vault.networks.ethereum.id}` as const, () => platform, 'logoUri', false],
    ['a group', () => `/policy-groups/${vault.groups.administrators}` as const, () => vault.admin, 'logoUri', true],
  ] as const)('of %s is audited, and shown only with its subject', async (_, path, by, field, isOfVault) => {
    const { status, body } = await put(by(), path())
    expect([status, body.message]).toEqual([200, undefined])
    const actions = await actionsOf(body.id)
    expect(actions).toContain('image.uploaded')
    expect((await read(approver, body[field]!)).statusCode).toBe(200)
    expect((await read(outsider, body[field]!)).statusCode).toBe(isOfVault ? 404 : 200)

    const after = await by().delete(`${path()}/image`)
    expect([after.status, after.body[field]]).toEqual([200, null])
    expect(await kept(body.id)).toEqual([])
    expect((await read(approver, body[field]!)).statusCode).toBe(404)
    expect(await actionsOf(body.id)).toContain('image.deleted')
  })

  it('of an address is set by its owner only', async () => {
    const address = await createAddress(owner, { vault: vault.code, token: 'USDT', label: 'Mine' })
    const path = `/vaults/${vault.code}/addresses/${address.id}` as const
    expect((await put(vault.admin, path)).status).toBe(404)
    expect(await kept(address.id)).toEqual([])
    const { body } = await put(owner, path)
    expect((await owner.get(path)).body.logoUri).toBe(body.logoUri)
  })

  it('has another address for each subject, and is stored once for the same bytes', async () => {
    const first = (await put(owner, '/users/me')).body.image
    expect((await put(owner, '/users/me')).body.image).toBe(first)
    expect((await put(approver, '/users/me')).body.image).not.toBe(first)
    expect((await kept(owner.userId)).filter((key) => key === keyOf(first!))).toHaveLength(1)
  })

  it('can be replaced by a URL of another host, and the other way round', async () => {
    const { image } = (await put(owner, '/users/me')).body
    const elsewhere = 'https://example.org/face.png'
    expect((await owner.patch('/users/me', { image: elsewhere })).body.image).toBe(elsewhere)
    expect((await owner.patch('/users/me', { image })).body.image).toBe(image)
    for (const wrong of ['/api/v1/images/1', `/api/v1/images/${'f'.repeat(65)}`, `http://localhost${image}`])
      expect((await owner.patch('/users/me', { image: wrong })).status, wrong).toBe(400)
  })
})

describe('the body', () => {
  it.each([
    ['an SVG image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 400],
    ['a script', Buffer.from('alert(1)'), 400],
    ['nothing', Buffer.alloc(0), 400],
    ['half an image', pngOf('half').subarray(0, 40), 400],
    ['too many pixels', pngOf('wide', 1_025, 1), 400],
    ['too many bytes', Buffer.concat([pngOf('long'), Buffer.alloc(imageBytesMax)]), 413],
  ])('must not be %s', async (_, bytes, status) => {
    const before = (await owner.get('/users/me')).body.image
    expect((await put(owner, '/users/me', bytes)).status).toBe(status)
    expect((await owner.get('/users/me')).body.image).toBe(before)
  })

  it('is judged by its bytes, not by its name', async () => {
    const { body } = await put(owner, '/users/me', png, { 'content-type': 'image/webp' })
    expect((await read(owner, body.image!)).headers['content-type']).toBe('image/png')
  })

  it.each(['image/svg+xml', 'image/gif', 'application/json', 'text/csv', 'text/plain', 'application/octet-stream'])(
    'is refused as %s',
    async (type) => {
      const bytes = type === 'application/json' ? Buffer.from('{}') : png
      const { status, body } = await put(owner, '/users/me', bytes, { 'content-type': type })
      expect(status).toBe(415)
      expect(body).toMatchObject({
        reason: 'unsupported_media_type',
        message: 'The content type must be image/png, image/jpeg or image/webp',
      })
    },
  )

  it('is refused by endpoints without images', async () => {
    const { status, body } = await owner.patch('/users/me', png, asPng)
    expect([status, body.message]).toEqual([415, 'The content type must be application/json'])
  })

  it('T48 is accepted with the session cookie only from pages of this service', async () => {
    const send = (origin: string, type = 'image/png') =>
      test.app.inject({
        method: 'PUT',
        url: '/api/v1/users/me/image',
        headers: { cookie: `session_token=${owner.token}`, origin, 'content-type': type },
        payload: png,
      })
    expect((await send('http://localhost:8420')).statusCode).toBe(200)
    expect((await send('https://evil.example')).json().reason).toBe('foreign_origin')
    // A content type that a form of another site can send is refused, even if the request names this origin.
    expect((await send('http://localhost:8420', 'text/plain')).json().reason).toBe('json_required')
  })

  it('is sent again under its key without a second effect', async () => {
    const headers = { ...asPng, 'idempotency-key': `image-${count}` }
    const first = await put(owner, '/users/me', png, headers)
    const again = await put(owner, '/users/me', png, headers)
    expect([again.status, again.body.image]).toEqual([200, first.body.image])
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect((await put(owner, '/users/me', pngOf('another'), headers)).body.reason).toBe('idempotency_key_reused')
  })
})

describe('the image of a counterparty', () => {
  const base = () => `/vaults/${vault.code}/counterparties` as const
  const create = async () => (await vault.admin.post(base(), { name: `Supplier ${count}`, kind: 'company' })).body.id

  it('is changed by administrators only, and only if the policies allow it', async () => {
    const id = await create()
    expect((await put(owner, `${base()}/${id}`)).body.reason).toBe('administrator_required')
    expect((await put(vault.admin, `${base()}/${id}`)).body.reason).toBe('no_policy_allows')
    expect((await vault.admin.get(`${base()}/${id}`)).body.avatarUri).toBeNull()
  })

  it('waits for votes as other changes do, and is visible to voters', async () => {
    const id = await create()
    const policy = await createPolicy(vault, {
      code: `book-${count}`,
      name: 'Changes of the address book',
      actionType: 'counterparty_update',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'user', userId: approver.userId }],
    })
    const { status, body } = await put(vault.admin, `${base()}/${id}`)
    expect([status, body.message]).toEqual([202, undefined])
    const { avatarUri } = body.request.payload as { avatarUri: string }
    expect((await read(approver, avatarUri)).statusCode).toBe(200)
    expect((await read(outsider, avatarUri)).statusCode).toBe(404)
    // The image of a waiting request is not deleted.
    test.clock.advance((replacedImageHours + 1) * hour)
    await deleteExpiredRows(test.deps)
    expect(await kept(id)).toEqual([keyOf(avatarUri)])
    const request = `/vaults/${vault.code}/approval-requests/${body.request.id}` as const
    expect((await approver.post(`${request}/approve`, {})).status).toBe(200)
    expect((await owner.get(`${base()}/${id}`)).body.avatarUri).toBe(avatarUri)
    expect((await vault.admin.delete(`/policies/${policy.id}`)).status).toBe(204)
  })

  it('and of a group changes at once if the policies allow it', async () => {
    await allowAll(vault, 'counterparty_group_create')
    await allowAll(vault, 'counterparty_group_update')
    const groups = `/vaults/${vault.code}/counterparty-groups` as const
    const { id } = (await vault.admin.post(groups, { code: 'suppliers', name: 'Suppliers' })).body
    const { status, body } = await put(vault.admin, `${groups}/${id}`)
    expect([status, body.avatarUri?.length]).toEqual([200, '/api/v1/images/'.length + 64])
    expect((await vault.admin.delete(`${groups}/${id}/image`)).body.avatarUri).toBeNull()
    expect(await kept(id)).toEqual([])
  })
})

describe('the number of images', () => {
  it('of a subject is limited: a few replaced images stay for some hours', async () => {
    const uris: string[] = []
    for (let i = 0; i < imagesAsideMax + 3; i += 1) {
      test.clock.advance(1_000)
      uris.push((await put(outsider, '/users/me', pngOf(`${count} ${i}`))).body.image!)
    }
    const left = await kept(outsider.userId)
    expect(left).toHaveLength(imagesAsideMax + 1)
    expect(left.sort()).toEqual(
      uris
        .slice(-imagesAsideMax - 1)
        .map(keyOf)
        .sort(),
    )
    await deleteExpiredRows(test.deps)
    expect(await kept(outsider.userId)).toHaveLength(imagesAsideMax + 1)
    test.clock.advance((replacedImageHours + 1) * hour)
    await deleteExpiredRows(test.deps)
    expect(await kept(outsider.userId)).toEqual([keyOf(uris.at(-1)!)])
  })

  it('of a vault is limited', async () => {
    const { db } = test.deps
    await db
      .insertInto('images')
      .values(
        Array.from({ length: imagesPerVaultMax }, (_, i) => ({
          key: i.toString(16).padStart(64, '0'),
          vault_id: vault.id,
          subject_type: 'address',
          subject_id: `a${i}`,
          media_type: 'image/png',
          content: Buffer.from('x'),
          created_at: test.clock.now(),
        })),
      )
      .execute()
    const { status, body } = await put(vault.admin, `/vaults/${vault.code}`)
    expect([status, body.reason]).toEqual([409, 'limit_reached'])
    expect((await vault.admin.get(`/vaults/${vault.code}`)).body.logoUri).toBeNull()
    expect((await put(owner, '/users/me')).status).toBe(200)
  })
})
