import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { epochOption } from '../../../db/epoch.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { newId } from '../../../lib/ids.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { ForgedRecordsError, sealAuditRecords } from '../../record/audit/audit-seals.ts'
import { verifyAudit } from '../../record/audit/verify.ts'
import { hashPayload } from '../orders/payload.ts'
import { findPermittedFee } from '../stuck/replace.ts'

/** The writes of an intruder who has the database login of a node, but not its secret key. */
let bench: TransferBench
let intruder: pg.Pool

beforeAll(async () => {
  bench = await createTransferBench()
  intruder = new pg.Pool({
    connectionString: bench.test.databaseUrl,
    max: 1,
    options: `-c role=strongroom_app ${epochOption}`,
  })
})
afterAll(async () => {
  await intruder.end()
  await bench.close()
})

// biome-ignore lint/suspicious/noExplicitAny: the test knows the columns of its query.
const write = async (text: string, values: unknown[] = []): Promise<any[]> => (await intruder.query(text, values)).rows

const keyId = async (): Promise<Buffer> => (await write('select key_id from sealing_key'))[0].key_id

/** Returns a MAC in the right format: the id of the key is not a secret. */
const guessedMac = async (): Promise<Buffer> => Buffer.concat([await keyId(), randomBytes(32)])

type Forgery = { actorId: string; action: string; targetId: string; details: object; mac?: Buffer }

/** Writes an audit record in which only the MAC is wrong; returns its id. */
async function record({ actorId, action, targetId, details, mac }: Forgery, now = new Date()): Promise<string> {
  const [chain, id, targetType] = [bench.vault.id, newId(now), action.split('.')[0]!]
  const content = canonicalJson({ id, chain, actorId, action, targetType, targetId, createdAt: now, details })
  await write(
    `insert into audit_records (chain, id, actor_id, action, target_type, target_id, created_at, content, hash, mac)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [chain, id, actorId, action, targetType, targetId, now, content, sha256(content), mac ?? (await guessedMac())],
  )
  return id
}

async function waiting(): Promise<{ id: string; payloadHash: string }> {
  const address = await bench.fundedAddress()
  const { status, body } = await bench.order(address.id, '200')
  expect([status, body.status]).toEqual([201, 'awaiting_approval'])
  expect((await bench.act(bench.firstApprover, body.id, 'approve')).status).toBe(200)
  return { id: body.id, payloadHash: body.payloadHash }
}

/** The second of the two votes that an order needs, with all rows and records that the service would write. */
async function forgeLastVote(mac?: Buffer): Promise<{ id: string; recordId: string }> {
  const { id, payloadHash } = await waiting()
  const actorId = bench.secondApprover.userId
  const sameMac = mac === undefined ? {} : { mac }
  await write(
    `update approval_voters set decision = 'approve', voted_at = now() where subject_id = $1 and user_id = $2`,
    [id, actorId],
  )
  const vote = { action: 'transfer.approved', details: { payloadHash, comment: null } }
  const recordId = await record({ actorId, targetId: id, ...vote, ...sameMac })
  const details = { from: 'awaiting_approval', to: 'pending', reason: null, txHash: null }
  await record({ actorId, action: 'transfer.released', targetId: id, details, ...sameMac })
  await write(`update operations set status = 'pending' where id = $1`, [id])
  await write(`update transfers set phase = 'queued' where id = $1`, [id])
  await write(`update deliveries set queue = 'hand-over', next_attempt_at = now() where id = $1`, [id])
  return { id, recordId }
}

/** Writes an order that was never placed, copied from a placed order, to another recipient. */
async function inventOrder(): Promise<string> {
  const address = await bench.fundedAddress()
  const { body: real } = await bench.order(address.id, '100')
  expect(real.status).toBe('pending')
  const id = newId(new Date())
  const thief = fakeAddress('a thief')
  const [{ payload }] = await write('select payload from transfers where id = $1', [real.id])
  const [{ content }] = await write(
    `select content from audit_records where action = 'transfer.requested' and target_id = $1`,
    [real.id],
  )
  const forged = { ...payload, transferId: id, toAddress: thief }
  const hash = hashPayload(forged)
  await write(
    `insert into operations select (jsonb_populate_record(o, jsonb_build_object('id', $2::text))).* from operations o where id = $1`,
    [real.id, id],
  )
  await write(
    `insert into transfers select (jsonb_populate_record(t, jsonb_build_object('id', $2::text, 'to_address', $3::text,
       'to_address_key', lower($3), 'payload', $4::jsonb, 'payload_hash', $5::text,
       'decision', jsonb_set(t.decision, '{facts,destination}', (t.decision #> '{facts,destination}') || $6::jsonb)))).*
     from transfers t where id = $1`,
    [real.id, id, thief, forged, `\\x${hash.toString('hex')}`, { address: thief, key: thief.toLowerCase() }],
  )
  await write(
    `insert into deliveries (vault_id, id, queue, next_attempt_at)
    select vault_id, id, 'hand-over', now() from transfers where id = $1`,
    [id],
  )
  const [{ facts }] = await write(`select decision -> 'facts' as facts from transfers where id = $1`, [id])
  await write(
    `update ledger_accounts set balance = balance + case purpose when 'available' then -$2::numeric else $2::numeric end
     where address_id = $1 and purpose in ('available', 'reserved') and token_id = $3`,
    [address.id, payload.amount, payload.tokenId],
  )
  await write(
    `with e as (
       insert into ledger_entries (vault_id, kind, token_id, operation_id, debit_account, credit_account, amount,
         debit_balance, credit_balance, created_at)
       select e.vault_id, kind, e.token_id, $2, debit_account, credit_account, amount, d.balance, c.balance, now()
       from ledger_entries e join ledger_accounts d on d.number = e.debit_account
       join ledger_accounts c on c.number = e.credit_account where e.operation_id = $1
       returning vault_id, sequence)
     insert into ledger_unsealed (vault_id, sequence, created_at) select vault_id, sequence, now() from e`,
    [real.id, id],
  )
  const { details } = JSON.parse(content)
  await record({
    actorId: payload.initiatorId,
    action: 'transfer.requested',
    targetId: id,
    details: {
      ...details,
      payload: forged,
      payloadHash: hash.toString('hex'),
      factsHash: sha256(canonicalJson(facts)).toString('hex'),
    },
  })
  return id
}

const haltReasonOf = async (id: string) =>
  (await bench.sql('select phase, halt_reason from transfers where id = $1', [id]))[0]

const forgedIds = async () => (await verifyAudit(bench.test.deps.db)).flatMap(({ forged }) => forged)

describe('T57 a record that was written with the login of a node', () => {
  it('T57 of the last vote on an order pays nothing, is never sealed, and is named', async () => {
    const { id, recordId } = await forgeLastVote()
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toBeNull()
    expect(await haltReasonOf(id)).toMatchObject({
      phase: 'halted',
      halt_reason: expect.stringContaining('the service did not write it'),
    })
    await expect(sealAuditRecords(bench.test.deps)).rejects.toThrow(ForgedRecordsError)
    const [{ seal_sequence }] = await bench.sql('select seal_sequence from audit_records where id = $1', [recordId])
    expect(seal_sequence).toBeNull()
    expect(await forgedIds()).toContain(recordId)
  })

  it('T57 of a first vote does not invalidate honest votes', async () => {
    const address = await bench.fundedAddress()
    const { body } = await bench.order(address.id, '200')
    const actorId = bench.firstApprover.userId
    await write(
      `update approval_voters set decision = 'approve', voted_at = now() where subject_id = $1 and user_id = $2`,
      [body.id, actorId],
    )
    const details = { payloadHash: body.payloadHash, comment: null }
    await record({ actorId, action: 'transfer.approved', targetId: body.id, details })
    expect((await bench.act(bench.secondApprover, body.id, 'approve')).status).toBe(409)
    await bench.deliver()
    expect(bench.vault.wallet.transfer(body.id)).toBeNull()
  })

  it('T57 with the MAC of a genuine record is rejected as well', async () => {
    const [{ mac }] = await write(`select mac from audit_records where action = 'transfer.approved' limit 1`)
    const { id } = await forgeLastVote(mac)
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toBeNull()
  })

  it('T57 of an order with all of its rows pays nothing and is named', async () => {
    const id = await inventOrder()
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toBeNull()
    expect((await haltReasonOf(id)).halt_reason).toContain('the service did not write it')
    const records = await bench.sql('select id from audit_records where target_id = $1 order by id limit 1', [id])
    expect(await forgedIds()).toContain(records[0].id)
  })

  it('T57 without a MAC, or with one under another key, is refused by the database', async () => {
    const { id } = await waiting()
    const vote = { actorId: bench.secondApprover.userId, action: 'transfer.approved', targetId: id, details: {} }
    await expect(record({ ...vote, mac: randomBytes(40) })).rejects.toThrow('under another key')
    await expect(
      write(
        `insert into audit_records (chain, id, action, target_type, created_at, content, hash)
         values ('platform', 'x', 'x.y', 'x', now(), '', '')`,
      ),
    ).rejects.toThrow('audit_records_mac')
    await expect(write('update audit_records set mac = null where target_id = $1', [id])).rejects.toThrow(
      'audit_records_mac',
    )
  })

  it('T57 that raises the limit of a fee permits no higher fee', async () => {
    const address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
    const { body } = await bench.order(address.id, '10', { maxFee: '10000000000000000' })
    expect(body.status, JSON.stringify(body)).toBe('pending')
    const [transfer] = await bench.sql('select vault_id, id, payload from transfers where id = $1', [body.id])
    const permitted = await findPermittedFee(bench.test.deps.db, transfer)
    const details = { from: String(permitted), to: `${permitted}000`, replacement: 'speedUp', txHash: null }
    const actorId = bench.owner.userId
    await record({ actorId, action: 'transfer.max_fee_raised', targetId: body.id, details })
    expect(await findPermittedFee(bench.test.deps.db, transfer)).toBe(permitted)
  })

  it('T57 with a genuine vote, copied with its MAC to another order or another vault, does not count', async () => {
    const { id } = await waiting()
    const [vote] = await write(
      `select * from audit_records where action = 'transfer.approved' and target_id <> $1 limit 1`,
      [id],
    )
    const copy = async (changes: object) => {
      const row = JSON.stringify(changes)
      await write(
        `insert into audit_records select (jsonb_populate_record(r, $1::jsonb)).* from audit_records r
         where r.chain = $2 and r.id = $3`,
        [row, vote.chain, vote.id],
      )
    }
    const fresh = { id: newId(new Date()), seal_sequence: null }
    await copy({ ...fresh, target_id: id })
    await copy({ chain: 'another-vault', seal_sequence: null })
    expect((await bench.act(bench.secondApprover, id, 'approve')).status).toBe(409)
    expect((await haltReasonOf(id)).phase).toBe('halted')
    const forged = await forgedIds()
    expect(forged).toContain(fresh.id)
    expect(forged).toContain(vote.id)
    await bench.sql(`alter table audit_records disable trigger user;
      delete from audit_records where chain = 'another-vault'; alter table audit_records enable trigger user`)
  })

  it('T57 from before the key does not pass as an old record without a MAC', async () => {
    const { id, payloadHash } = await waiting()
    const vote = { action: 'transfer.approved', details: { payloadHash, comment: null } }
    const recordId = await record({ actorId: bench.secondApprover.userId, targetId: id, ...vote }, new Date(0))
    expect(await forgedIds()).toContain(recordId)
    expect((await bench.act(bench.secondApprover, id, 'approve')).status).toBe(409)
  })

  it('T57 is not needed for a vote row that is changed after its record: the order is halted', async () => {
    const { id } = await waiting()
    await write('update approval_voters set decision = null, voted_at = null where subject_id = $1', [id])
    expect((await bench.act(bench.secondApprover, id, 'approve')).status).toBe(409)
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toBeNull()
  })

  it('T57 does not stop the sealing of other records, however many there are', async () => {
    const { id } = await waiting()
    for (let i = 0; i < 3; i += 1) {
      await record({ actorId: bench.owner.userId, action: 'transfer.approved', targetId: id, details: { i } })
    }
    await waiting()
    await expect(sealAuditRecords(bench.test.deps)).rejects.toThrow('are not sealed')
    const [{ count }] = await bench.sql(
      `select count(*)::int from audit_records where seal_sequence is null and not (id = any($1))`,
      [await forgedIds()],
    )
    expect(count).toBe(0)
  })
})
