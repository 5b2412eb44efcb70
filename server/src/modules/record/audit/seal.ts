import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { auditSealRecordsMax } from '../../../lib/limits.ts'
import { genesisHash, hashSeal } from './content.ts'
import { findLastSeal, listUnsealedRecords } from './queries.ts'

/**
 * Seals every committed record that no seal holds yet, in batches of one transaction each, and returns how many it
 * sealed. One node at a time: while another node seals, this does nothing.
 */
export async function sealAuditRecords({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<number> {
  let sealed = 0
  for (;;) {
    const inBatch = await inTransaction(db, (trx) => sealBatch(trx, clock()))
    sealed += inBatch
    if (inBatch < auditSealRecordsMax) return sealed
  }
}

async function sealBatch(trx: Trx, now: Date): Promise<number> {
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('strongroom seal audit', 0)) as is_ours`.execute(trx)
  if (rows[0]?.is_ours !== true) return 0
  const records = await listUnsealedRecords(trx, auditSealRecordsMax)
  for (const chain of new Set(records.map((record) => record.chain))) {
    const batch = records.filter((record) => record.chain === chain)
    await insertSeal(trx, chain, batch, now)
  }
  return records.length
}

async function insertSeal(
  trx: Trx,
  chain: string,
  records: { id: string; hash: Buffer }[],
  sealedAt: Date,
): Promise<void> {
  const last = await findLastSeal(trx, chain)
  const sequence = BigInt(last?.sequence ?? 0) + 1n
  const previousHash = last?.hash ?? genesisHash
  const ids = records.map(({ id }) => id)
  await trx
    .insertInto('audit_seals')
    .values({
      chain,
      sequence: sequence.toString(),
      previous_hash: previousHash,
      record_ids: ids,
      record_hashes: records.map(({ hash }) => hash),
      hash: hashSeal({ chain, sequence, previousHash, records, sealedAt }),
      sealed_at: sealedAt,
    })
    .execute()
  await trx
    .updateTable('audit_records')
    .set({ seal_sequence: sequence.toString() })
    .where('chain', '=', chain)
    .where(sql<boolean>`id = any(${ids})`)
    .execute()
}
