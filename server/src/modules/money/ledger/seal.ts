import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { sealedPerBatch } from '../../../lib/limits.ts'
import { appendSeal, type Sealing, takeSealing } from '../../record/seals/append.ts'
import { readSealedEntries } from './sealed-content.ts'

/**
 * Seals every committed entry of the ledger that no seal holds yet, as `sealAuditRecords` does with records, and returns
 * how many it sealed.
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
    )
    select vault_id, array_agg(sequence::text) as sequences from taken group by vault_id order by vault_id`.execute(trx)
  for (const { vault_id: chain, sequences } of rows) {
    const leaves = await readSealedEntries(trx, chain, sequences)
    if (leaves.length > 0) await appendSeal(trx, { log: 'ledger', chain, leaves }, sealing)
  }
  return rows.reduce((sum, { sequences }) => sum + sequences.length, 0)
}
