import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { insertAuditRecord } from '../../record/audit/record.ts'

/** Entries of a vault that no seal holds and that do not wait for a seal, as ranges of their numbers. */
type LateEntries = { code: string; count: number; ranges: string[] }

type LateSealing = { reason: string; operator: string; now: Date }

/**
 * Queues the entries of the ledger that no seal holds for the next seal, at the request of an operator of the service. A node of
 * a version before seals wrote them, or an intruder did, so each vault gets an audit record with their numbers and the reason.
 */
export async function sealLate(trx: Trx, { reason, operator, now }: LateSealing): Promise<LateEntries[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended('strongroom seal late', 0))`.execute(trx)
  const { rows } = await sql<{ vault_id: string; code: string; count: number; ranges: string[] }>`
    with late as (
      select vault_id, sequence from ledger_entries
      except (
        select chain, unnest(record_ids)::bigint from ledger_seals
        union all
        select vault_id, sequence from ledger_unsealed
      )
    ), queued as (
      insert into ledger_unsealed (vault_id, sequence, created_at) select vault_id, sequence, ${now} from late
    ), ranges as (
      select vault_id, min(sequence) as first, max(sequence) as last, count(*)::int as count from (
        select vault_id, sequence, sequence - row_number() over (partition by vault_id order by sequence) as island from late
      ) numbered group by vault_id, island
    )
    select r.vault_id, v.code, sum(r.count)::int as count,
      array_agg(case when first = last then first::text else first || '-' || last end order by first) as ranges
    from ranges r join vaults v on v.id = r.vault_id group by r.vault_id, v.code order by v.code`.execute(trx)
  for (const { vault_id: vaultId, count, ranges } of rows) {
    await insertAuditRecord(trx, {
      vaultId,
      actorId: null,
      action: 'ledger.sealed_late',
      targetType: 'vault',
      targetId: vaultId,
      details: { count, entries: ranges, reason, operator },
      now,
    })
  }
  return rows.map(({ code, count, ranges }) => ({ code, count, ranges }))
}
