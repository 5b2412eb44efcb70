import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { wireTime } from '../../../db/wire-time.ts'
import type { Deps } from '../../../deps.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { sealedPerBatch } from '../../../lib/limits.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { appendSeal, type Sealing, takeSealing } from '../../record/seals/append.ts'
import type { SealedLeaf } from '../../record/seals/seal-content.ts'
import type { EntryKind } from './postings.ts'
import { addToTotals } from './totals.ts'

/**
 * Seals every committed entry of the ledger that no seal holds yet, as `sealAuditRecords` does with records, and adds it to the
 * totals of its vault. Returns the number of sealed entries.
 */
export async function sealLedgerEntries(
  { db, clock, sealKey }: Pick<Deps, 'db' | 'clock' | 'sealKey'>,
  signal: AbortSignal | null = null,
): Promise<number> {
  let sealed = 0
  for (;;) {
    const inBatch = await inTransaction(db, (trx) => sealBatch(trx, { sealKey, now: clock() }))
    sealed += inBatch
    if (inBatch < sealedPerBatch || signal?.aborted === true) return sealed
  }
}

async function sealBatch(trx: Trx, sealing: Sealing): Promise<number> {
  if (!(await takeSealing(trx, 'ledger'))) return 0
  const { rows } = await sql<{ vault_id: string; sequences: string[] }>`
    with taken as (
      delete from ledger_unsealed
      where ctid = any(array(select ctid from ledger_unsealed limit ${sealedPerBatch}))
      returning vault_id, sequence
    ), added as (${addToTotals(sql`taken`)})
    select vault_id, array_agg(sequence::text) as sequences from taken group by vault_id order by vault_id`.execute(trx)
  for (const { vault_id: chain, sequences } of rows) {
    const leaves = await readSealedEntries(trx, chain, sequences)
    if (leaves.length > 0) await appendSeal(trx, { log: 'ledger', chain, leaves }, sealing)
  }
  return rows.reduce((sum, { sequences }) => sum + sequences.length, 0)
}

type EntryRow = {
  sequence: string
  kind: EntryKind
  token_id: string
  amount: string
  debit_balance: string | null
  credit_balance: string | null
  created_at: Date
  debit_address_id: string | null
  debit_purpose: string | null
  credit_address_id: string | null
  credit_purpose: string | null
  /** The operation that the entry belongs to; null when it is gone. */
  operation: Record<string, unknown> | null
}

/**
 * Returns the hashes that a seal holds of these entries of a vault, in the order of their numbers. Each hash binds the entry,
 * the accounts of both sides, and all immutable fields of the subject of the entry. Mutable fields, such as a status, follow
 * from the entries that the subject must have (`verifyLedger`).
 */
export async function readSealedEntries(trx: Trx, vaultId: string, sequences: string[]): Promise<SealedLeaf[]> {
  const contents = await listSealedContents(trx, vaultId, sequences)
  return contents.map(({ sequence, content }) => ({ id: sequence, hash: sha256(content) }))
}

/** Returns the canonical JSON that a seal hashes, for each of these entries of a vault, in the order of their numbers. */
export async function listSealedContents(
  db: Db | Trx,
  vaultId: string,
  sequences: string[],
): Promise<{ sequence: string; content: string }[]> {
  const { rows } = await sql<EntryRow>`
    select e.sequence, e.kind, e.token_id, e.amount, e.debit_balance, e.credit_balance, e.created_at,
      d.address_id as debit_address_id, d.purpose as debit_purpose,
      c.address_id as credit_address_id, c.purpose as credit_purpose, ${subject} as operation
    from unnest(${sequences}::bigint[]) i(sequence)
    join ledger_entries e on e.sequence = i.sequence and e.vault_id = ${vaultId}
    left join ledger_accounts d on d.vault_id = e.vault_id and d.token_id = e.token_id and d.number = e.debit_account
    left join ledger_accounts c on c.vault_id = e.vault_id and c.token_id = e.token_id and c.number = e.credit_account
    order by e.sequence`.execute(db)
  return rows.map((row) => ({ sequence: row.sequence, content: contentOf(vaultId, row) }))
}

function contentOf(vaultId: string, row: EntryRow): string {
  const side = (addressId: string | null, purpose: string | null, balance: string | null) =>
    balance === null ? null : { addressId, balance, purpose }
  return canonicalJson({
    amount: row.amount,
    createdAt: row.created_at,
    credit: side(row.credit_address_id, row.credit_purpose, row.credit_balance),
    debit: side(row.debit_address_id, row.debit_purpose, row.debit_balance),
    kind: row.kind,
    operation: row.operation,
    sequence: row.sequence,
    tokenId: row.token_id,
    vaultId,
  })
}

/** SQL: the immutable fields of the operation, adjustment, hold, orphaning or cover of an entry `e`. Amounts are texts. */
const subject = sql`
  case
    when e.kind = 'adjust' then (
      select jsonb_build_object('id', a.id, 'type', 'adjustment', 'addressId', a.address_id, 'tokenId', a.token_id,
        'amount', a.amount::text, 'reason', a.reason, 'createdById', a.created_by_id, 'createdAt', ${wireTime('a.created_at')})
      from adjustments a where a.vault_id = e.vault_id and a.id = e.operation_id)
    when e.kind in ('hold', 'hold_release') then (
      select jsonb_build_object('id', h.id, 'type', 'hold', 'subjectType', h.subject_type, 'subjectId', h.subject_id,
        'createdAt', ${wireTime('h.created_at')})
      from holds h where h.vault_id = e.vault_id and h.id = e.operation_id)
    when e.kind in ('orphan', 'orphan_return') then (
      select jsonb_build_object('id', x.id, 'type', 'orphaning', 'depositId', x.deposit_id, 'addressId', x.address_id,
        'tokenId', x.token_id, 'amount', x.amount::text, 'taken', x.taken::text, 'occurrence', x.occurrence,
        'createdAt', ${wireTime('x.created_at')})
      from deposit_orphans x where x.vault_id = e.vault_id and x.id = e.operation_id)
    when e.kind = 'cover' then (
      select jsonb_build_object('id', k.id, 'type', 'cover', 'addressId', k.address_id, 'tokenId', k.token_id,
        'amount', k.amount::text, 'createdAt', ${wireTime('k.created_at')})
      from exposure_covers k where k.vault_id = e.vault_id and k.id = e.operation_id)
    else (
      select jsonb_build_object('id', o.id, 'type', o.type, 'addressId', o.address_id, 'tokenId', o.token_id,
        'networkId', o.network_id, 'createdAt', ${wireTime('o.created_at')},
        'txHash', p.tx_hash, 'txIndex', p.tx_index, 'fromAddress', p.from_address,
        'toAddress', t.to_address, 'payloadHash', encode(t.payload_hash, 'hex'))
      from operations o
      left join deposits p on p.vault_id = o.vault_id and p.id = o.id
      left join transfers t on t.vault_id = o.vault_id and t.id = o.id
      where o.vault_id = e.vault_id and o.id = e.operation_id)
  end`
