import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordKeyOf } from '../../../db/record-key.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { createSealKey, type SealKey } from '../../../lib/seal-key.ts'
import { databaseOf } from '../../../testing/one-transaction.ts'
import { resealChain } from '../../../testing/reseal.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { sealLedgerEntries } from '../../money/ledger/ledger-seals.ts'
import { verifyLedgerSeals } from '../../money/verifications/verify-seals.ts'
import { acceptAuthority } from '../../vaults/authority/authority-mark.ts'
import { sealAuditRecords } from '../audit/audit-seals.ts'
import { macOf } from '../audit/record.ts'
import { verifyAudit } from '../audit/verify.ts'
import { listHeads } from '../seals/queries.ts'
import { type SealLog, sealLogs } from '../seals/seal-content.ts'
import type { TrustedKeys } from '../seals/verify-chain.ts'
import {
  armor,
  compareAuthorities,
  compareHeads,
  type HeadsStatement,
  headLine,
  readAuthorities,
  readHeads,
  stateHeads,
} from './heads.ts'

let bench: TransferBench
let sealKey: SealKey
let trusted: TrustedKeys
let statement: HeadsStatement
let chain: string

/** Two seals of each chain of the vault, and what a witness keeps of them. */
beforeAll(async () => {
  bench = await createTransferBench()
  ;({ sealKey } = bench.test.deps)
  trusted = new Set([sealKey.keyId])
  chain = bench.vault.id
  for (let seal = 0; seal < 2; seal += 1) {
    const { id } = await bench.fundedAddress()
    expect((await bench.order(id, '10')).status).toBe(201)
    await sealAuditRecords(bench.test.deps)
    await sealLedgerEntries(bench.test.deps)
  }
  statement = await stateHeads(bench.test.deps.db, { sealKey, origin: 'http://localhost:8420', now: new Date() })
})
afterAll(() => bench.close())

/** Runs an attack by the owner of the database. Returns the results of the verifier and of the comparison with the witness. */
function attacked(log: SealLog, attack: (query: TransferBench['sql']) => Promise<unknown>) {
  return bench.rolledBack(async (query) => {
    await query('set local session_replication_role = replica')
    await attack(query)
    const db = databaseOf(query, bench.test.deps.db)
    const reports =
      log === 'audit' ? await verifyAudit(db, trusted) : await verifyLedgerSeals(db, { vaultId: chain, trusted })
    const witnessed = await compareHeads(db, log, readHeads(JSON.stringify(statement), log, trusted))
    return { fault: reports.find((report) => report.chain === chain)?.fault ?? null, witnessed }
  })
}

/** Gives the records of the first seal MACs for what they hold now, as the holder of the node's key can. */
async function authenticate(query: TransferBench['sql']): Promise<void> {
  const key = recordKeyOf(bench.test.deps.db)!
  const records = await query('select chain, id, hash from audit_records where chain = $1 and seal_sequence = 1', [
    chain,
  ])
  for (const record of records) {
    await query('update audit_records set mac = $3 where chain = $1 and id = $2', [
      chain,
      record.id,
      macOf(key, record),
    ])
  }
}

/** Changes what the first seal holds, and everything that follows from it but the seals. */
const rewrite: Record<SealLog, (query: TransferBench['sql']) => Promise<unknown>> = {
  audit: async (query) => {
    const changed = `replace(r.content, '"action":"', '"action":"x')`
    await query(
      `update audit_records r set action = 'x' || action, content = ${changed}, hash = sha256(${changed}::bytea)
       where chain = $1 and seal_sequence = 1`,
      [chain],
    )
    await query(
      `update audit_seals s set record_hashes = (
         select array_agg(r.hash order by i.n) from unnest(s.record_ids) with ordinality i(id, n)
         join audit_records r on r.chain = s.chain and r.id = i.id)
       where chain = $1 and sequence = 1`,
      [chain],
    )
  },
  // The amounts stay the same; the sealed content of the entry differs.
  ledger: async (query) => {
    const { readSealedEntries } = await import('../../money/ledger/ledger-seals.ts')
    const [{ record_ids: ids }] = await query('select record_ids from ledger_seals where chain = $1 and sequence = 1', [
      chain,
    ])
    await query(`update deposits set from_address = 'x' where vault_id = $1`, [chain])
    const leaves = await readSealedEntries(databaseOf(query) as never, chain, ids)
    await query('update ledger_seals set record_hashes = $2 where chain = $1 and sequence = 1', [
      chain,
      leaves.map(({ hash }) => hash),
    ])
    const rest = await query('select sequence, record_ids from ledger_seals where chain = $1 and sequence > 1', [chain])
    for (const { sequence, record_ids } of rest) {
      const later = await readSealedEntries(databaseOf(query) as never, chain, record_ids)
      await query('update ledger_seals set record_hashes = $3 where chain = $1 and sequence = $2', [
        chain,
        sequence,
        later.map(({ hash }) => hash),
      ])
    }
  },
}

describe.each(sealLogs)('the %s chain of a vault', (log) => {
  it('T77 matches the witness while it is unchanged, also after it grew', async () => {
    expect(await attacked(log, async () => {})).toEqual({ fault: null, witnessed: [] })
  })

  it('T77 that is cut short by its owner is found by the witness', async () => {
    const found = await attacked(log, async (query) => {
      const [{ last }] = await query(`select max(sequence) as last from ${log}_seals where chain = $1`, [chain])
      if (log === 'audit')
        await query('delete from audit_records where chain = $1 and seal_sequence = $2', [chain, last])
      else {
        await query(
          `delete from ledger_entries where sequence::text = any((
             select record_ids from ledger_seals where chain = $1 and sequence = $2)::text[])`,
          [chain, last],
        )
      }
      await query(`delete from ${log}_seals where chain = $1 and sequence = $2`, [chain, last])
    })
    // The chain itself is sound: nothing but the witness knows that it was longer.
    expect(found.fault).toBeNull()
    expect(found.witnessed).toEqual([
      { chain, sequence: expect.any(Number), detail: expect.stringContaining('cut short') },
    ])
  })

  it('T77 that is removed as a whole is found by the witness', async () => {
    const found = await attacked(log, async (query) => {
      await query(`delete from ${log}_seals where chain = $1`, [chain])
      await query(
        log === 'audit'
          ? 'delete from audit_records where chain = $1'
          : 'delete from ledger_entries where vault_id = $1',
        [chain],
      )
    })
    expect(found.fault).toBeNull()
    expect(found.witnessed).toMatchObject([{ chain, detail: expect.stringContaining('ends at 0') }])
  })

  it('T77 that is computed anew without the key of the node is found by the verifier alone', async () => {
    const found = await attacked(log, async (query) => {
      await rewrite[log](query)
      await resealChain(query, { log, chain, sealKey: createSealKey('the key of an attacker') })
    })
    expect(found.fault).toMatchObject({ kind: 'changed', recordId: null, sealSequence: 1 })
    expect(found.witnessed).toHaveLength(1)
  })

  it('T77 that is computed anew with the key of the node is found by the witness', async () => {
    const found = await attacked(log, async (query) => {
      await rewrite[log](query)
      if (log === 'audit') await authenticate(query)
      await resealChain(query, { log, chain, sealKey })
    })
    expect(found.fault).toBeNull()
    expect(found.witnessed).toEqual([
      { chain, sequence: expect.any(Number), detail: expect.stringContaining('recomputed') },
    ])
  })
})

describe('the heads that a witness keeps', () => {
  const later = () => stateHeads(bench.test.deps.db, { sealKey, origin: 'http://localhost:8420', now: new Date() })

  it('T77 are read from a file of lines, a document, a quoted mail and the output of the commands', async () => {
    const { db } = bench.test.deps
    const heads = await listHeads(db, 'audit')
    expect(heads.map((head) => head.chain)).toEqual([chain, 'platform'].sort())
    const second = await later()
    const quoted = armor(statement).replaceAll(/^/gm, '> ')
    const printed = heads.map(
      (head) => `${head.chain}: 3 records sealed, 0 not yet sealed, ${headLine(head).split(': ')[1]}`,
    )
    for (const text of [
      `${JSON.stringify(statement)}\n${JSON.stringify(second)}\n`,
      JSON.stringify(statement, null, 2),
      `Keep this mail:\r\n\r\n${quoted}\r\n\r\nRegards`,
      printed.join('\n'),
      heads.map(headLine).join('\n'),
    ]) {
      const read = readHeads(text, 'audit', trusted)
      expect([...new Set(read.map((head) => JSON.stringify(head)))].sort(), text).toEqual(
        heads.map((head) => JSON.stringify(head)).sort(),
      )
    }
    const ofLedger = await listHeads(db, 'ledger')
    expect(readHeads(ofLedger.map(headLine).join('\n'), 'ledger', null)).toEqual(ofLedger)
    expect(() => readHeads(ofLedger.map(headLine).join('\n'), 'audit', null)).toThrow('no head of the audit log')
  })

  it('T77 count only as they were signed, and by a key of the node', () => {
    const changed = { ...statement, heads: statement.heads.slice(1) }
    expect(() => readHeads(JSON.stringify(changed), 'ledger', null)).toThrow('they were changed')
    const strangers = new Set(['0'.repeat(32)])
    expect(() => readHeads(JSON.stringify(statement), 'audit', strangers)).toThrow('not one of the node’s')
    expect(() => readHeads('Nothing', 'audit', null)).toThrow('no head')
  })
})

describe('T59 the authorities that a witness keeps', () => {
  const hash = (digit: string) => digit.repeat(64)
  const keep = (version: number, digit: string) =>
    bench.sql(
      `insert into authority_marks (vault_id, version, hash, seen_at) values ($1, $2, $3, now())
       on conflict (vault_id) do update set version = excluded.version, hash = excluded.hash`,
      [bench.vault.id, version, hash(digit)],
    )
  const compare = async (text: string) => {
    const { db } = bench.test.deps
    return (await compareAuthorities(db, readAuthorities(text, trusted))).map(({ sequence }) => sequence)
  }

  it('are signed with the heads, and reveal a mark that was lowered, rewritten or deleted', async () => {
    const { db } = bench.test.deps
    await keep(2, 'b')
    const text = JSON.stringify(await stateHeads(db, { sealKey, origin: 'http://localhost:8420', now: new Date() }))
    expect(await compare(text)).toEqual([])
    await keep(3, 'c')
    expect(await compare(text)).toEqual([])
    for (const [version, digit] of [
      [1, 'a'],
      [2, 'c'],
    ] as const) {
      await keep(version, digit)
      expect(await compare(text)).toEqual([2])
    }
    await bench.sql('delete from authority_marks')
    expect(await compare(text)).toEqual([2])
    const changed = { ...JSON.parse(text), authorities: [] }
    expect(() => readAuthorities(JSON.stringify(changed), trusted)).toThrow('they were changed')
    expect(readAuthorities(JSON.stringify(statement), trusted)).toEqual([])
  })

  it('are no fault after an operator accepted another authority on the record', async () => {
    const { db } = bench.test.deps
    await keep(2, 'b')
    const now = new Date(Date.now() - 60_000)
    const text = JSON.stringify(await stateHeads(db, { sealKey, origin: 'http://localhost:8420', now }))
    await bench.sql(
      `update authority_marks set version = 1, hash = $1, shown_version = 2, shown_hash = $2, alarm_since = now()`,
      [hash('a'), hash('c')],
    )
    expect(await compare(text)).toEqual([2])
    await bench.sql(
      `insert into audit_records (chain, id, action, target_type, created_at, content, hash, mac)
       select $1, 'forged', 'vault.authority_accepted', 'vault', now(), '{}', sha256('{}'), key_id || sha256('x')
       from sealing_key`,
      [bench.vault.id],
    )
    expect(await compare(text)).toEqual([2])
    const acceptance = { fingerprint: hash('c').slice(0, 8), reason: 'compared', operator: 'root', now: new Date() }
    await inTransaction(db, (trx) => acceptAuthority(trx, { code: bench.vault.code, ...acceptance }))
    expect(await compare(text)).toEqual([])
    await keep(5, 'e')
    const later = new Date(Date.now() + 60_000)
    const afterwards = await stateHeads(db, { sealKey, origin: 'http://localhost:8420', now: later })
    await keep(4, 'd')
    expect(await compare(JSON.stringify(afterwards))).toEqual([5])
  })
})
