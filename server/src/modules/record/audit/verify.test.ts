import { createPublicKey, verify as verifySignature } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { newId } from '../../../lib/ids.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { campaignOf } from '../../../testing/campaign.ts'
import { databaseOf } from '../../../testing/one-transaction.ts'
import { createRandom } from '../../../testing/random.ts'
import { resealChain } from '../../../testing/reseal.ts'
import { hashSeal } from '../seals/seal-content.ts'
import type { ChainReport } from '../seals/verify-chain.ts'
import { sealAuditRecords } from './audit-seals.ts'
import { insertAuditRecord } from './record.ts'
import { verifyAudit } from './verify.ts'

/** The number of random changes, and the seed of the first. */
const { runs, seed } = campaignOf('EDIT', { runs: 50, seed: 1 })

const chain = 'vault-1'
let test: TestApp
/** Acts as the owner of the database, whom no missing privilege stops. */
let owner: pg.Client
let ids: string[]

beforeAll(async () => {
  test = await createTestApp()
  owner = new pg.Client({ connectionString: test.databaseUrl })
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await test.close()
})

/** Three seals of two records each, and two records that are not sealed yet. */
beforeEach(async () => {
  await owner.query('truncate audit_records, audit_seals')
  ids = []
  for (let seal = 0; seal < 3; seal += 1) {
    await writeRecords(2)
    await sealAuditRecords(test.deps)
  }
  await writeRecords(2)
})

describe('sealing', () => {
  it('seals committed records in batches, in which a verification finds no fault', async () => {
    expect(await verify()).toMatchObject({ sealedRecords: 6, unsealedRecords: 2, seals: 3, fault: null })
    const { rows } = await owner.query('select sequence, previous_hash, hash from audit_seals order by sequence')
    expect(rows.map((row) => row.sequence)).toEqual(['1', '2', '3'])
    expect(rows[0].previous_hash).toEqual(Buffer.alloc(32))
    expect(rows[1].previous_hash).toEqual(rows[0].hash)
    expect((await verify()).head).toEqual({ sequence: 3, hash: rows[2].hash.toString('hex') })
  })

  it('T77 makes seals that their columns determine, signed by the key that they name', async () => {
    const { rows } = await owner.query('select * from audit_seals where sequence = 2')
    const { previous_hash, record_ids, sealed_at, hash, root, public_key, signature } = rows[0]
    const { rows: records } = await owner.query('select id, hash from audit_records where id = any($1) order by id', [
      record_ids,
    ])
    const leaf = (id: string, hash: Buffer) => sha256(`\0{"hash":"${hash.toString('hex')}","id":"${id}"}`)
    const [left, right] = records.map((record) => leaf(record.id, record.hash))
    expect(sha256(Buffer.concat([Buffer.from([1]), left!, right!]))).toEqual(root)
    const keyId = sha256(public_key).toString('hex').slice(0, 32)
    const content = {
      chain,
      keyId,
      log: 'audit',
      previousHash: previous_hash.toString('hex'),
      root: root.toString('hex'),
      sealedAt: sealed_at.toISOString(),
      sequence: 2,
      size: 2,
    }
    expect(sha256(JSON.stringify(content))).toEqual(hash)
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), public_key])
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    expect(verifySignature(null, Buffer.from(`strongroom-seal-1:${hash.toString('hex')}`), key, signature)).toBe(true)
    expect((await verify()).keys).toEqual([test.deps.sealKey.keyId])
    expect(keyId).toBe(test.deps.sealKey.keyId)
  })

  it('T9 unsigned seals of the first format are valid, unless they follow a signed seal', async () => {
    await unsign(1)
    expect((await verify()).fault).toMatchObject({ kind: 'changed', sealSequence: 2 })
    await relink(2)
    expect(await verify()).toMatchObject({ sealedRecords: 6, seals: 3, fault: null })
    await owner.query("update audit_seals set record_hashes[1] = sha256('x') where sequence = 1")
    expect((await verify()).fault).toMatchObject({ kind: 'changed', sealSequence: 1, recordId: null })
  })

  it('T77 a seal whose signature was removed is named, even if its hash fits', async () => {
    await unsign(3)
    expect((await verify()).fault).toMatchObject({ kind: 'changed', sealSequence: 3, recordId: null })
  })

  it('keeps the seal chains of the platform and of a vault apart', async () => {
    await writeRecords(1, null)
    await sealAuditRecords(test.deps)
    const reports = await verifyAudit(test.deps.db)
    expect(reports.map((report) => [report.chain, report.seals, report.sealedRecords, report.fault])).toEqual([
      ['platform', 1, 1, null],
      [chain, 4, 8, null],
    ])
  })

  it('seals more records than a batch holds', async () => {
    await writeRecords(1_100)
    expect(await sealAuditRecords(test.deps)).toBe(1_102)
    expect(await verify()).toMatchObject({ sealedRecords: 1_108, unsealedRecords: 0, seals: 5, fault: null })
  })

  it('seals a record once when several nodes seal at once', async () => {
    await writeRecords(20)
    const sealed = await Promise.all(Array.from({ length: 4 }, () => sealAuditRecords(test.deps)))
    expect(sealed.reduce((sum, count) => sum + count, 0)).toBe(22)
    expect(await verify()).toMatchObject({ sealedRecords: 28, unsealedRecords: 0, fault: null })
  })

  it('does not seal an uncommitted record', async () => {
    await test.deps.db.transaction().execute(async (trx) => {
      await insertAuditRecord(trx, event())
      expect(await sealAuditRecords(test.deps)).toBe(2)
    })
    expect(await verify()).toMatchObject({ sealedRecords: 8, unsealedRecords: 1, fault: null })
  })
})

describe('verifying', () => {
  const otherTime = "'2020-01-01T00:00:00Z'"
  it.each([
    ['actor_id', "actor_id = 'someone'"],
    ['actor_id to nobody', 'actor_id = null'],
    ['action', "action = 'policy.deleted'"],
    ['target_type', "target_type = 'vault'"],
    ['target_id', "target_id = 'other'"],
    ['created_at', `created_at = ${otherTime}`],
    ['content', `content = replace(content, '"amount":"1"', '"amount":"2"')`],
    ['content beyond reading', "content = 'x'"],
    ['hash', "hash = sha256('x')"],
    ['content and hash together', `content = content || ' ', hash = sha256((content || ' ')::bytea)`],
  ])('T9 names the record whose %s was changed', async (_what, assignment) => {
    await owner.query(`update audit_records set ${assignment} where id = $1`, [ids[3]])
    expect((await verify()).fault).toMatchObject({ kind: 'changed', recordId: ids[3], sealSequence: 2 })
  })

  it('names a record that was rewritten together with its content and its hash', async () => {
    const { rows } = await owner.query('select content from audit_records where id = $1', [ids[3]])
    const content = canonicalJson({ ...JSON.parse(rows[0].content), action: 'policy.deleted' })
    await owner.query('update audit_records set action = $2, content = $3, hash = $4 where id = $1', [
      ids[3],
      'policy.deleted',
      content,
      sha256(content),
    ])
    expect((await verify()).fault).toMatchObject({ kind: 'changed', recordId: ids[3], sealSequence: 2 })
  })

  it('names the seal from which a record was moved', async () => {
    await owner.query('update audit_records set seal_sequence = 3 where id = $1', [ids[3]])
    expect((await verify()).fault).toMatchObject({ kind: 'changed', recordId: ids[3], sealSequence: 2 })
    await owner.query('update audit_records set seal_sequence = null where id = $1', [ids[3]])
    expect((await verify()).fault).toMatchObject({ kind: 'changed', recordId: ids[3], sealSequence: 2 })
  })

  it('names the first fault when there are several', async () => {
    await owner.query("update audit_records set action = 'x' where id = any($1)", [[ids[5], ids[1], ids[3]]])
    expect((await verify()).fault).toMatchObject({ recordId: ids[1], sealSequence: 1 })
  })

  it('names a missing record', async () => {
    await owner.query('delete from audit_records where id = $1', [ids[2]])
    expect((await verify()).fault).toMatchObject({ kind: 'missing', recordId: ids[2], sealSequence: 2 })
  })

  it('names a record that was inserted into a seal, and a record of a seal that does not exist', async () => {
    const id = newId(new Date())
    const content = canonicalJson({ ...event(), id, chain, actorId: null, createdAt: '2026-01-31T09:30:00.000Z' })
    const forge = (sequence: number) =>
      owner.query(
        `insert into audit_records (chain, id, action, target_type, created_at, content, hash, seal_sequence, mac)
         select $1, $2, 'policy.updated', 'policy', '2026-01-31T09:30:00.000Z', $3, $4, $5, key_id || sha256('x')
         from sealing_key`,
        [chain, id, content, sha256(content), sequence],
      )
    await forge(2)
    expect((await verify()).fault).toMatchObject({ kind: 'inserted', recordId: id, sealSequence: 2 })
    await owner.query('delete from audit_records where id = $1', [id])
    await forge(9)
    expect((await verify()).fault).toMatchObject({ kind: 'inserted', recordId: id, sealSequence: 9 })
  })

  it('names an unsealed record that was changed', async () => {
    await owner.query("update audit_records set action = 'x' where id = $1", [ids[7]])
    expect((await verify()).fault).toMatchObject({ kind: 'changed', recordId: ids[7], sealSequence: null })
  })

  it.each([
    ['previous_hash', 'previous_hash = hash'],
    ['record_ids', 'record_ids = array[record_ids[2], record_ids[1]]'],
    ['record_hashes', 'record_hashes = array[record_hashes[2], record_hashes[1]]'],
    ['hash', "hash = sha256('x')"],
    ['sealed_at', `sealed_at = ${otherTime}`],
    ['root', "root = sha256('x')"],
    ['public_key', "public_key = sha256('x')"],
    ['signature', "signature = sha512('x')"],
    ['format', 'format = 1, root = null, public_key = null, signature = null'],
  ])('T9 names the seal whose %s was changed', async (_what, assignment) => {
    await owner.query(`update audit_seals set ${assignment} where sequence = 2`)
    expect((await verify()).fault).toMatchObject({ kind: 'changed', recordId: null, sealSequence: 2 })
  })

  it('names a seal that is missing with its records', async () => {
    await owner.query('delete from audit_records where seal_sequence = 2')
    await owner.query('delete from audit_seals where sequence = 2')
    expect((await verify()).fault).toMatchObject({ kind: 'missing', recordId: null, sealSequence: 2 })
  })

  it('shows another head when a seal chain was cut short', async () => {
    const before = (await verify()).head
    await owner.query('delete from audit_records where seal_sequence = 3')
    await owner.query('delete from audit_seals where sequence = 3')
    const after = await verify()
    expect(after.fault).toBeNull()
    expect(after.head).not.toEqual(before)
  })

  it('T9 finds each of many random changes', async () => {
    const columns = ['actor_id', 'action', 'target_type', 'target_id', 'content']
    const random = createRandom(seed)
    const query = async (text: string, values?: unknown[]) => (await owner.query(text, values)).rows
    const db = databaseOf(query, test.deps.db)
    const missed: string[] = []
    await query('begin')
    for (let edit = 0; edit < runs; edit += 1) {
      const id = ids[random.below(ids.length)]!
      const column = columns[random.below(columns.length)]
      await query('savepoint before')
      await query(`update audit_records set ${column} = coalesce(${column}, '') || 'x' where id = $1`, [id])
      const [{ fault }] = (await verifyAudit(db)) as [ChainReport]
      if (fault?.kind !== 'changed' || fault.recordId !== id) missed.push(`${column} of ${id}`)
      await query('rollback to before')
    }
    await query('rollback')
    expect(missed, `seed ${seed}`).toEqual([])
    expect((await verify()).fault).toBeNull()
  })
})

describe('the role of the service', () => {
  it.each([
    "update audit_records set action = 'x'",
    'delete from audit_records',
    'truncate audit_records',
    "update audit_seals set hash = sha256('x')",
    'delete from audit_seals',
  ])('T8 may not %s', async (statement) => {
    await owner.query('begin')
    await owner.query('set local role strongroom_app')
    await expect(owner.query(statement)).rejects.toMatchObject({ code: '42501' })
    await owner.query('rollback')
  })
})

async function verify(): Promise<ChainReport> {
  const report = (await verifyAudit(test.deps.db)).find((entry) => entry.chain === chain)
  if (report === undefined) throw new Error('The report lacks the seal chain')
  return report
}

/** Changes a seal to the first format: its hash is valid and it has no signature. */
async function unsign(sequence: number): Promise<void> {
  const { rows } = await owner.query('select * from audit_seals where sequence = $1', [sequence])
  const { previous_hash: previousHash, record_ids, record_hashes, sealed_at: sealedAt } = rows[0]
  const leaves = record_ids.map((id: string, i: number) => ({ id, hash: record_hashes[i] }))
  const hash = hashSeal({ format: 1, chain, sequence: BigInt(sequence), previousHash, sealedAt, leaves })
  const unsigned = 'format = 1, root = null, public_key = null, signature = null'
  await owner.query(`update audit_seals set ${unsigned}, hash = $2 where sequence = $1`, [sequence, hash])
}

/** Recomputes the seals from a number on, so that each follows the previous seal, and signs them as the node. */
async function relink(first: number): Promise<void> {
  const query = async (text: string, values?: unknown[]) => (await owner.query(text, values)).rows
  await resealChain(query, { log: 'audit', chain, from: first, sealKey: test.deps.sealKey })
}

async function writeRecords(count: number, vaultId: string | null = chain): Promise<void> {
  await test.deps.db.transaction().execute(async (trx) => {
    for (let i = 0; i < count; i += 1) {
      // One millisecond apart, so that the ids sort in the order of writing.
      test.clock.advance(1)
      ids.push(await insertAuditRecord(trx, { ...event(), vaultId, now: test.clock.now() }))
    }
  })
}

function event() {
  return {
    vaultId: chain as string | null,
    actorId: 'user-1',
    action: 'policy.updated',
    targetType: 'policy',
    targetId: null,
    details: { amount: '1' },
    now: test.clock.now(),
  }
}
