import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { requireRecordKey } from '../../../db/record-key.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { sealedPerBatch } from '../../../lib/limits.ts'
import { appendSeal, type Sealing, takeSealing } from '../seals/append.ts'
import { type AuditRecordRow, beforeAllRecords, listUnsealedRecords, type RecordPlace } from './queries.ts'
import { faultOfRecord } from './record.ts'

/** Thrown after every other record is sealed. These records were written to the database without the service. */
export class ForgedRecordsError extends Error {
  readonly count: number

  constructor(count: number, { chain, id }: RecordPlace) {
    super(
      `Audit records that the service did not write are not sealed: ${count}, the first is ${id} of ${chain}. ` +
        'Run "strongroom audit verify"',
    )
    this.count = count
  }
}

/**
 * Seals the committed records that the service wrote and that no seal holds yet, in batches of one transaction each.
 * Returns the number of sealed records. Only one node seals at a time: while another node seals, this does nothing.
 * @throws ForgedRecordsError when it left records out
 */
export async function sealAuditRecords({
  db,
  clock,
  sealKey,
}: Pick<Deps, 'db' | 'clock' | 'sealKey'>): Promise<number> {
  let sealed = 0
  let forged = 0
  let firstForged: RecordPlace | null = null
  let after: RecordPlace | null = beforeAllRecords
  while (after !== null) {
    const start: RecordPlace = after
    const batch = await inTransaction(db, (trx) => sealBatch(trx, start, { sealKey, now: clock() }))
    sealed += batch.sealed
    forged += batch.forged.length
    firstForged ??= batch.forged[0] ?? null
    after = batch.next
  }
  if (firstForged !== null) throw new ForgedRecordsError(forged, firstForged)
  return sealed
}

/** `next` is the place where the next batch begins; null after the last batch. */
type Batch = { sealed: number; forged: RecordPlace[]; next: RecordPlace | null }

async function sealBatch(trx: Trx, after: RecordPlace, sealing: Sealing): Promise<Batch> {
  if (!(await takeSealing(trx, 'audit'))) return { sealed: 0, forged: [], next: null }
  const records = await listUnsealedRecords(trx, after, sealedPerBatch)
  const key = requireRecordKey(trx)
  const forged = records.filter((record) => faultOfRecord(record, key) !== null)
  const good = records.filter((record) => !forged.includes(record))
  for (const chain of new Set(good.map((record) => record.chain))) {
    await sealChain(
      trx,
      chain,
      good.filter((record) => record.chain === chain),
      sealing,
    )
  }
  const next = records.length < sealedPerBatch ? null : records.at(-1)!
  return { sealed: good.length, forged, next }
}

async function sealChain(trx: Trx, chain: string, leaves: AuditRecordRow[], sealing: Sealing): Promise<void> {
  const sequence = await appendSeal(trx, { log: 'audit', chain, leaves }, sealing)
  await trx
    .updateTable('audit_records')
    .set({ seal_sequence: sequence })
    .where('chain', '=', chain)
    .where(sql<boolean>`id = any(${leaves.map(({ id }) => id)})`)
    .execute()
}
