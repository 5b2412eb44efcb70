import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import type { Answer, AuditRecord, AuditSeal } from '../../../testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { sealAuditRecords } from './audit-seals.ts'
import { insertAuditRecord } from './record.ts'

let test: TestApp
let admin: Person
let member: Person
let stranger: Person
let vaultId: string

beforeAll(async () => {
  test = await createTestApp()
  admin = await test.signIn('admin@example.org')
  member = await test.signIn('member@example.org')
  stranger = await test.signIn('stranger@example.org', { isPlatformAdmin: true })
  vaultId = await insertVault('main', admin.userId, member.userId)
  const otherVaultId = await insertVault('other', stranger.userId, stranger.userId)
  await record({ vaultId, action: 'policy.created', targetId: 'p1', at: '2026-01-30T23:59:59.999Z' })
  await record({ vaultId, action: 'policy.updated', targetId: 'p1', at: '2026-01-31T00:00:00.000Z' })
  await record({ vaultId, action: 'policy.updated', targetId: 'p2', at: '2026-01-31T23:59:59.999Z' })
  await record({ vaultId, action: 'policy.deleted', targetId: 'p2', at: '2026-02-01T00:00:00.000Z' })
  await record({ vaultId: otherVaultId, action: 'policy.created', targetId: 'p1', at: '2026-01-31T00:00:00.000Z' })
  await record({ vaultId: null, action: 'session.started', targetId: 's1', at: '2026-01-31T00:00:00.000Z' })
})
afterAll(() => test.close())

describe('the audit log', () => {
  it('lists the records of the vault, newest first, with hash and content', async () => {
    const { status, body } = await admin.get('/vaults/main/audit-log')
    expect(status).toBe(200)
    expect(actionsOf(body)).toEqual([
      'policy.deleted p2',
      'policy.updated p2',
      'policy.updated p1',
      'policy.created p1',
    ])
    expect(body.nextCursor).toBeNull()
    expect(body.items[3]).toMatchObject({
      actorId: admin.userId,
      actor: { userId: admin.userId, kind: 'person', name: 'admin', image: null },
      targetType: 'policy',
      details: { name: 'Ausgänge', steps: [1, 2] },
      createdAt: '2026-01-30T23:59:59.999Z',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      sealSequence: null,
    })
  })

  it('names no actor where no user is behind the id', async () => {
    const { db } = test.deps
    const vaultId = await insertVault('machines', admin.userId, member.userId)
    for (const [actorId, action] of [
      [null, 'task.ran'],
      ['machine-1', 'machine.acted'],
    ] as const) {
      const event = { vaultId, actorId, action, targetType: 'task', targetId: null, details: {}, now: new Date() }
      await db.transaction().execute((trx) => insertAuditRecord(trx, event))
    }
    const { body } = await admin.get('/vaults/machines/audit-log')
    const actors = body.items.map(({ actorId, actor }) => [actorId, actor] as const)
    expect(new Map(actors)).toEqual(
      new Map([
        ['machine-1', null],
        [null, null],
      ]),
    )
  })

  it('pages without losing or repeating a record', async () => {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const { body } = await admin.get(`/vaults/main/audit-log?limit=1${query}`)
      seen.push(...actionsOf(body))
      cursor = body.nextCursor
    }
    expect(seen).toEqual(['policy.deleted p2', 'policy.updated p2', 'policy.updated p1', 'policy.created p1'])
  })

  it.each([
    ['action=policy.updated', ['policy.updated p2', 'policy.updated p1']],
    ['target=p1', ['policy.updated p1', 'policy.created p1']],
    ['target=p1&action=policy.created', ['policy.created p1']],
    ['actor=nobody', []],
    ['from=2026-01-31&to=2026-01-31', ['policy.updated p2', 'policy.updated p1']],
    ['from=2026-02-01T00:00:00.000Z', ['policy.deleted p2']],
    ['to=2026-01-30T23:59:59.999Z', ['policy.created p1']],
    ['to=2026-01-31T00:59:59.999%2B01:00', ['policy.created p1']],
  ])('narrows by %s', async (query, expected) => {
    const { body } = await admin.get(`/vaults/main/audit-log?${query}`)
    expect(actionsOf(body)).toEqual(expected)
  })

  it('shows which seal holds a record', async () => {
    await sealAuditRecords(test.deps)
    const { body } = await admin.get('/vaults/main/audit-log')
    expect(body.items.map((item) => item.sealSequence)).toEqual([1, 1, 1, 1])
  })

  it.each([
    ['from=2026-02-30', 'from'],
    ['to=yesterday', 'to'],
    ['from=2026-01-31T09:30:00', 'from'],
    ['from=2026-02-01&to=2026-01-31', 'from'],
    ['cursor=abc', 'cursor'],
    ['limit=0', 'limit'],
    ['acton=policy.updated', 'acton'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await admin.get(`/vaults/main/audit-log?${query}`)
    expect(status).toBe(400)
    expect(body.details[0]!.field).toBe(field)
  })

  it('T39 is for administrators of this vault only', async () => {
    expect((await test.anonymous.get('/vaults/main/audit-log')).status).toBe(401)
    expect((await member.get('/vaults/main/audit-log')).status).toBe(403)
    expect((await stranger.get('/vaults/main/audit-log')).status).toBe(403)
    expect((await stranger.get('/vaults/none/audit-log')).status).toBe(404)
  })
})

describe('the seals', () => {
  const hex = async (text: string) =>
    Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex')
  const bytes = (digits: string) => Uint8Array.from(Buffer.from(digits, 'hex'))
  const digest = async (data: Uint8Array<ArrayBuffer>) => new Uint8Array(await crypto.subtle.digest('SHA-256', data))

  async function rootOf(records: AuditSeal['records']): Promise<string> {
    const texts = records.map(({ id, hash }) => `\0${JSON.stringify({ hash, id })}`)
    let row = await Promise.all(texts.map((text) => digest(new TextEncoder().encode(text))))
    while (row.length > 1) {
      const next: typeof row = []
      for (let i = 0; i < row.length; i += 2) {
        const [left, right] = [row[i]!, row[i + 1]]
        next.push(right === undefined ? left : await digest(Uint8Array.of(1, ...left, ...right)))
      }
      row = next
    }
    return Buffer.from(row[0]!).toString('hex')
  }

  async function isSigned({ hash, publicKey, signature, keyId }: AuditSeal): Promise<boolean> {
    const key = await crypto.subtle.importKey('raw', bytes(publicKey!), 'Ed25519', false, ['verify'])
    const text = new TextEncoder().encode(`strongroom-seal-1:${hash}`)
    const named = Buffer.from(await digest(bytes(publicKey!))).toString('hex')
    return named.startsWith(keyId!) && crypto.subtle.verify('Ed25519', key, bytes(signature!), text)
  }

  /** Verifies a log as docs/audit.md describes, with the answers and WebCrypto only. */
  async function verify(
    base: '/vaults/main/audit-log' | '/audit-log',
    by: Person,
  ): Promise<{ sealed: number; records: number; faults: string[] }> {
    type Page<Item> = Answer<{ items: Item[]; nextCursor: string | null }>
    const all = async <Item>(read: (cursor: string) => Promise<Page<Item>>) => {
      const items: Item[] = []
      for (let cursor = ''; ; ) {
        const { status, body } = await read(cursor)
        expect(status).toBe(200)
        items.push(...body.items)
        if (body.nextCursor === null) return items
        cursor = `&cursor=${body.nextCursor}`
      }
    }
    const records = await all((cursor) => by.get(`${base}?limit=2${cursor}`))
    const seals = (await all((cursor) => by.get(`${base}/seals?limit=1${cursor}`))).reverse()
    const faults: string[] = []
    const hashes = new Map<string, string>()
    let previous = '0'.repeat(64)
    for (const [i, seal] of seals.entries()) {
      const { chain, sequence, previousHash, records, sealedAt, hash, keyId, root } = seal
      const size = records.length
      const text = JSON.stringify({ chain, keyId, log: 'audit', previousHash, root, sealedAt, sequence, size })
      if (previousHash !== previous || sequence !== i + 1 || (await hex(text)) !== hash) faults.push(`seal ${sequence}`)
      if (root !== (await rootOf(records)) || !(await isSigned(seal))) faults.push(`signature ${sequence}`)
      for (const { id, hash } of records) hashes.set(`${sequence} ${id}`, hash)
      previous = hash
    }
    for (const { id, content, hash, sealSequence, action, actorId, targetId, details, createdAt } of records) {
      expect(JSON.parse(content)).toMatchObject({ id, action, actorId, targetId, details, createdAt })
      if ((await hex(content)) !== hash) faults.push(`record ${id}`)
      if (sealSequence !== null && hashes.get(`${sealSequence} ${id}`) !== hash)
        faults.push(`record ${id} is not sealed`)
    }
    return { sealed: hashes.size, records: records.length, faults }
  }

  it('let a reader verify a vault and the platform from the answers alone', async () => {
    await record({ vaultId, action: 'policy.renamed', targetId: 'p9', at: '2026-01-31T10:00:00.000Z' })
    await sealAuditRecords(test.deps)
    expect(await verify('/vaults/main/audit-log', admin)).toEqual({ sealed: 5, records: 5, faults: [] })
    expect((await verify('/audit-log', stranger)).faults).toEqual([])
    const { body } = await admin.get('/vaults/main/audit-log/seals?sequence=2')
    expect(body.items.map(({ sequence }) => sequence)).toEqual([2])
  })

  it('T39 are given to readers of the log only', async () => {
    for (const path of ['/vaults/main/audit-log/seals', '/audit-log/seals'])
      expect([path, (await member.get(path)).status]).toEqual([path, 403])
    expect((await stranger.get('/vaults/main/audit-log/seals')).status).toBe(403)
    expect((await admin.get('/audit-log/seals')).status).toBe(403)
    expect((await admin.get('/vaults/main/audit-log/seals?limit=21')).status).toBe(400)
  })
})

describe('the audit log of the platform', () => {
  it('lists the events outside of vaults, in the shape and with the filters of a vault', async () => {
    const { status, body } = await stranger.get('/audit-log')
    expect(status).toBe(200)
    expect(actionsOf(body)).toEqual(['session.started s1'])
    expect(body.items[0]).toMatchObject({ actorId: admin.userId, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    for (const query of ['target=s1', 'action=session.started', `actor=${admin.userId}`, 'to=2026-01-31', 'limit=1']) {
      expect(actionsOf((await stranger.get(`/audit-log?${query}`)).body)).toEqual(['session.started s1'])
    }
    for (const query of ['target=p1', 'action=policy.created', 'actor=nobody', 'from=2026-02-01']) {
      expect((await stranger.get(`/audit-log?${query}`)).body.items).toEqual([])
    }
    expect((await stranger.get('/audit-log?acton=x')).status).toBe(400)
  })

  it('T39 is for platform administrators only', async () => {
    expect((await test.anonymous.get('/audit-log')).status).toBe(401)
    expect((await admin.get('/audit-log')).status).toBe(403)
    expect((await member.get('/audit-log')).status).toBe(403)
  })
})

async function record(event: { vaultId: string | null; action: string; targetId: string; at: string }): Promise<void> {
  await test.deps.db.transaction().execute((trx) =>
    insertAuditRecord(trx, {
      vaultId: event.vaultId,
      actorId: admin.userId,
      action: event.action,
      targetType: 'policy',
      targetId: event.targetId,
      details: { name: 'Ausgänge', steps: [1, 2] },
      now: new Date(event.at),
    }),
  )
}

async function insertVault(code: string, adminId: string, memberId: string): Promise<string> {
  const now = new Date()
  const { db } = test.deps
  const id = newId(now)
  await db
    .insertInto('vaults')
    .values({
      id,
      code,
      name: code,
      description: '',
      wallet_service_url: 'http://127.0.0.1:1',
      created_at: now,
      updated_at: now,
    })
    .execute()
  for (const [group, userId] of [
    ['administrators', adminId],
    ['members', memberId],
  ] as const) {
    const groupId = newId(now)
    await db
      .insertInto('policy_groups')
      .values({
        vault_id: id,
        id: groupId,
        code: group,
        name: group,
        is_system: group === 'administrators',
        created_at: now,
        updated_at: now,
      })
      .execute()
    await db
      .insertInto('policy_group_memberships')
      .values({ vault_id: id, id: newId(now), group_id: groupId, user_id: userId, created_at: now })
      .execute()
  }
  return id
}

function actionsOf(body: { items: AuditRecord[] }): string[] {
  return body.items.map((item) => `${item.action} ${item.targetId}`)
}
