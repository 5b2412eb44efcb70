import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { sealedPerBatch } from '../../../lib/limits.ts'
import { appendSeal, type Sealing, takeSealing } from '../seals/append.ts'
import { listUnsealedRecords } from './queries.ts'

/**
 * Seals every committed record that no seal holds yet, in batches of one transaction each, and returns how many it
 * sealed. One node at a time: while another node seals, this does nothing.
 */
export async function sealAuditRecords({
  db,
  clock,
  sealKey,
}: Pick<Deps, 'db' | 'clock' | 'sealKey'>): Promise<number> {
  let sealed = 0
  for (;;) {
    const inBatch = await inTransaction(db, (trx) => sealBatch(trx, { sealKey, now: clock() }))
    sealed += inBatch
    if (inBatch < sealedPerBatch) return sealed
  }
}

async function sealBatch(trx: Trx, sealing: Sealing): Promise<number> {
  if (!(await takeSealing(trx, 'audit'))) return 0
  const records = await listUnsealedRecords(trx, sealedPerBatch)
  for (const chain of new Set(records.map((record) => record.chain))) {
    const leaves = records.filter((record) => record.chain === chain)
    const sequence = await appendSeal(trx, { log: 'audit', chain, leaves }, sealing)
    await trx
      .updateTable('audit_records')
      .set({ seal_sequence: sequence })
      .where('chain', '=', chain)
      .where(sql<boolean>`id = any(${leaves.map(({ id }) => id)})`)
      .execute()
  }
  return records.length
}
