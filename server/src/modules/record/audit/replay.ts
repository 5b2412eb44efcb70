import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { auditVerifyPageRecordsMax } from '../../../lib/limits.ts'
import { readRecord, type TargetRecord } from './content.ts'
import type { AuditRecordRow } from './queries.ts'

/** A record with its moment; `rank` orders those of one moment, which a change set writes all at once. */
export type ReplayedRecord = TargetRecord & { at: Date }

/**
 * The records of a chain with these actions, in the order in which things happened: by time, and within a millisecond in the
 * order of `actions`, because ids of one moment have none.
 */
export async function* replay(trx: Trx, chain: string, actions: readonly string[]): AsyncGenerator<ReplayedRecord> {
  let after = { at: new Date(0), rank: 0, id: '' }
  for (;;) {
    const { rows } = await sql<AuditRecordRow & { target_id: string; sealed_hash: Buffer | null; rank: number }>`
      select * from (
        select r.*, s.record_hashes[array_position(s.record_ids, r.id)] as sealed_hash,
          array_position(${actions}::text[], r.action) as rank
        from audit_records r
        left join audit_seals s on s.chain = r.chain and s.sequence = r.seal_sequence
        where r.chain = ${chain} and r.action = any(${actions}::text[]) and r.created_at >= ${after.at}
      ) f
      where (f.created_at, f.rank, f.id) > (${after.at}, ${after.rank}::int, ${after.id})
      order by f.created_at, f.rank, f.id limit ${auditVerifyPageRecordsMax}`.execute(trx)
    for (const { sealed_hash, rank, ...row } of rows) {
      yield { ...readRecord(row, sealed_hash), at: row.created_at }
      after = { at: row.created_at, rank, id: row.id }
    }
    if (rows.length < auditVerifyPageRecordsMax) return
  }
}
