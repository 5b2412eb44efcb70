import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSealKey } from '../../../lib/seal-key.ts'
import { campaignOf } from '../../../testing/campaign.ts'
import { databaseOf } from '../../../testing/one-transaction.ts'
import { createRandom } from '../../../testing/random.ts'
import { resealChain } from '../../../testing/reseal.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { sealAuditRecords } from '../../record/audit/audit-seals.ts'
import type { ChainReport } from '../../record/seals/verify-chain.ts'
import { verifyLedger } from '../verifications/verify-ledger.ts'
import { verifyLedgerSeals } from '../verifications/verify-seals.ts'
import { sealLedgerEntries } from './ledger-seals.ts'

/** The number of edits that are tried. */
const { runs, seed } = campaignOf('EDIT', { runs: 70, seed: 1 })

let bench: TransferBench
let trusted: Set<string>
/** The deposit of an address without other operations, and a transfer that was paid. */
let depositId: string
let transferId: string

/** Creates two seals, of deposits and of the transfers that followed, and entries that are not sealed yet. */
beforeAll(async () => {
  bench = await createTransferBench()
  trusted = new Set([bench.test.deps.sealKey.keyId])
  const { wallet, admin } = bench.vault
  const address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
  const untouched = await bench.fundedAddress({ usdt: '7' })
  depositId = (await bench.sql('select id from operations where address_id = $1', [untouched.id]))[0].id
  await sealLedgerEntries(bench.test.deps)
  transferId = (await bench.order(address.id, '10')).body.id
  await bench.deliver()
  wallet.confirm(transferId)
  await bench.deliver()
  const body = { addressId: address.id, tokenId: bench.vault.tokens.usdt.id, amount: '3', reason: 'Correction' }
  expect((await admin.post('/vaults/main-vault/adjustments', body)).status).toBe(201)
  await sealLedgerEntries(bench.test.deps)
  await bench.fundedAddress({ usdt: '5' })
})
afterAll(async () => {
  await bench.expectSoundLedger()
  await bench.close()
})

const verify = async (db = bench.test.deps.db): Promise<ChainReport> => {
  const [report] = await verifyLedgerSeals(db, { vaultId: bench.vault.id, trusted })
  return report!
}

/** Returns the findings of both verifiers after statements of the owner of the database, which are rolled back. */
function after(...statements: string[]) {
  return bench.rolledBack(async (query) => {
    await query('set local session_replication_role = replica')
    for (const statement of statements) await query(statement)
    const db = databaseOf(query)
    const { differences } = await verifyLedger(db)
    return { differences: differences.map(({ kind }) => kind), fault: (await verify(db)).fault }
  })
}

describe('sealing the ledger', () => {
  it('T9 seals every entry once, in the background, and verification finds no difference', async () => {
    const report = await verify()
    const entries = await bench.count('ledger_entries')
    expect(report).toMatchObject({ unsealedRecords: 1, fault: null, keys: [...trusted] })
    expect(report.sealedRecords + report.unsealedRecords).toBe(entries)
    expect(report.seals).toBeGreaterThanOrEqual(2)
    const held = await bench.sql('select unnest(record_ids) as id from ledger_seals')
    expect(new Set(held.map(({ id }) => id)).size).toBe(report.sealedRecords)
  })

  it('seals an entry once when several nodes seal at once', async () => {
    const before = await verify()
    const sealed = await Promise.all(Array.from({ length: 4 }, () => sealLedgerEntries(bench.test.deps)))
    expect(sealed.reduce((sum, count) => sum + count, 0)).toBe(before.unsealedRecords)
    const { sealedRecords, unsealedRecords: waiting } = before
    expect(await verify()).toMatchObject({ sealedRecords: sealedRecords + waiting, unsealedRecords: 0, fault: null })
  })

  it('leaves an uncommitted entry alone', async () => {
    await bench.rolledBack(async (query) => {
      await query(`insert into ledger_unsealed select vault_id, sequence, created_at from ledger_entries limit 1`)
      expect(await sealLedgerEntries(bench.test.deps)).toBe(0)
    })
  })
})

describe('verifying the seals of the ledger', () => {
  it('T9 finds a rewrite that is consistent in entries, operation and balances', async () => {
    const more = (column: string) => `${column} = ${column} + 1000000`
    const found = await after(
      `update ledger_accounts set ${more('balance')} where number = (
        select credit_account from ledger_entries where operation_id = '${depositId}')`,
      `update ledger_entries set ${more('amount')}, ${more('credit_balance')} where operation_id = '${depositId}'`,
      `update operations set ${more('amount')} where id = '${depositId}'`,
      `update ledger_totals set ${more('available')} where token_id = (
        select token_id from ledger_entries where operation_id = '${depositId}')`,
    )
    // The books are consistent.
    expect(found.differences).toEqual([])
    const [{ sequence }] = await bench.sql('select sequence from ledger_entries where operation_id = $1', [depositId])
    expect(found.fault).toMatchObject({ kind: 'changed', recordId: sequence, sealSequence: 1 })
  })

  it('T9 finds a deposit that was removed with all of its rows', async () => {
    const [{ sequence }] = await bench.sql('select sequence from ledger_entries where operation_id = $1', [depositId])
    const found = await after(
      `update ledger_totals t set available = t.available - e.amount from ledger_entries e
        where e.operation_id = '${depositId}' and t.token_id = e.token_id`,
      `delete from ledger_accounts where number = (
        select credit_account from ledger_entries where operation_id = '${depositId}')`,
      ...['ledger_entries where operation_id', 'deposits where id', 'operations where id'].map(
        (rows) => `delete from ${rows} = '${depositId}'`,
      ),
    )
    expect(found.differences).toEqual([])
    expect(found.fault).toMatchObject({ kind: 'missing', recordId: sequence, sealSequence: 1 })
  })

  it.each([
    ['the recipient of a payment', () => `update transfers set to_address = 'x' where id = '${transferId}'`],
    ['the order of a payment', () => `update transfers set payload_hash = sha256('x') where id = '${transferId}'`],
    ['the transaction of a deposit', () => `update deposits set tx_hash = 'x' where id = '${depositId}'`],
    ['the sender of a deposit', () => `update deposits set from_address = 'x' where id = '${depositId}'`],
    ['the time of an operation', () => `update operations set created_at = now() where id = '${depositId}'`],
    ['the reason of an adjustment', () => "update adjustments set reason = 'x'"],
    ['who adjusted', () => "update adjustments set created_by_id = 'x'"],
  ])('T9 covers %s', async (_what, statement) => {
    const { differences, fault } = await after(statement())
    expect(differences).toEqual([])
    expect(fault).toMatchObject({ kind: 'changed', recordId: expect.any(String) })
  })

  it('T9 finds an inserted entry that no seal holds and that does not wait for one', async () => {
    const { fault } = await after(
      'delete from ledger_seals where sequence = (select max(sequence) from ledger_seals)',
      'delete from ledger_unsealed',
    )
    expect(fault).toMatchObject({ kind: 'inserted', sealSequence: null })
  })

  it('T9 does not accept a seal of the audit log for the ledger', async () => {
    const columns = 'previous_hash, record_ids, record_hashes, root, hash, public_key, signature, sealed_at'
    await sealAuditRecords(bench.test.deps)
    const swapped = await after(
      `update ledger_seals l set (${columns}) = (select ${columns} from audit_seals a where a.sequence = 1 and a.chain = l.chain)
       where sequence = 1`,
    )
    expect(swapped.fault).toMatchObject({ sealSequence: 1, detail: 'seal 1: its content does not have its hash' })
  })

  it('T9 reports each of many random edits of one value of one entry', async () => {
    const entries = await bench.sql(`
      select e.sequence, e.debit_account, e.credit_account from ledger_entries e
      where not exists (select from ledger_unsealed u where u.sequence = e.sequence)`)
    const random = createRandom(seed)
    const missed = await bench.rolledBack(async (query) => {
      await query('set local session_replication_role = replica')
      await query('alter table ledger_entries drop constraint ledger_entries_running_balances')
      await query('alter table ledger_entries drop constraint ledger_entries_sides_of_kind')
      await query('drop index ledger_entries_once')
      const db = databaseOf(query)
      const found: string[] = []
      for (let round = 0; round < runs; round += 1) {
        const { sequence, ...accounts } = entries[random.below(entries.length)]
        const side = accounts.debit_account === null ? 'credit' : 'debit'
        const edits = [
          `amount = amount + ${1 + random.below(999)}`,
          `${side}_balance = ${side}_balance + ${1 + random.below(999)}`,
          `${side}_account = (select number from ledger_accounts where number <> ${side}_account and balance is not null
            order by number limit 1)`,
          `operation_id = (select id from operations o where o.id <> operation_id limit 1)`,
          `kind = case kind when 'deposit' then 'adjust' else 'deposit' end`,
          'token_id = (select id from tokens t where t.id <> token_id limit 1)',
          `created_at = created_at + interval '${1 + random.below(999)} ms'`,
        ]
        const statement = `update ledger_entries set ${edits[round % edits.length]} where sequence = ${sequence}`
        await query('savepoint before')
        await query(statement)
        const { fault } = await verify(db)
        if (fault?.kind !== 'changed' || fault.recordId !== sequence) found.push(statement)
        await query('rollback to before')
      }
      return found
    })
    expect(missed, `seed ${seed}`).toEqual([])
  })

  it('T77 finds seals that are computed anew without the key of the node, by their signature', async () => {
    const forged = (sealKey: ReturnType<typeof createSealKey> | null) =>
      bench.rolledBack(async (query) => {
        await query("update ledger_seals set record_hashes[1] = sha256('x') where sequence = 1")
        await resealChain(query, { log: 'ledger', chain: bench.vault.id, sealKey })
        return (await verify(databaseOf(query))).fault
      })
    expect(await forged(createSealKey('the key of somebody else'))).toMatchObject({
      sealSequence: 1,
      recordId: null,
      detail: expect.stringContaining('which is not one of the node’s'),
    })
    expect(await forged(null)).toMatchObject({ sealSequence: 1, detail: expect.stringContaining('signature') })
  })

  it('T8 protects seals from the role of the service', async () => {
    for (const statement of ["update ledger_seals set hash = sha256('x')", 'delete from ledger_seals']) {
      await bench.rolledBack(async (query) => {
        await query('set local role strongroom_app')
        await expect(query(statement)).rejects.toMatchObject({ code: '42501' })
      })
    }
  })
})
