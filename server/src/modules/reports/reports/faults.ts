import { type RawBuilder, sql } from 'kysely'
import { isOperationInScope } from '../../../access/address-scope.ts'
import type { Trx } from '../../../db/client.ts'
import type { Overall } from './activity.ts'
import type { OtherFaults } from './blocks/data-quality.ts'
import type { Interval } from './buckets.ts'
import { isReported, isUndated, type OperationFilter } from './operation-filter.ts'

/** SQL conditions on the operation `o` that data quality counts and the list of exceptions names. */
export const lacksUsdRate = sql<boolean>`o.usd_value is null`
export const lacksBlockchainTime = sql<boolean>`(o.status = 'confirmed' and o.blockchain_at is null)`
export const lacksPaymentPurpose = sql<boolean>`coalesce(o.payment_purpose, '') = ''`
export const lacksBusinessReference = sql<boolean>`(coalesce(o.note, '') = '' and o.tags = '{}')`

/** The faults that are counted separately from sums. `overall`: the sums of the operations of the report. */
export async function countOtherFaults(
  trx: Trx,
  { filter, interval }: { filter: OperationFilter; interval: Interval },
  overall: readonly Overall[],
  accountDifferences: number,
): Promise<OtherFaults> {
  return {
    operationsWithoutSelectedDate: await countUndated(trx, filter, interval),
    invalidOperationRelations: await countInvalidRelations(trx, filter, interval),
    missingLedgerEntries: await countMissingEntries(trx, filter, interval, overall),
    ledgerReconciliationDifferences: accountDifferences,
  }
}

async function countUndated(trx: Trx, filter: OperationFilter, interval: Interval): Promise<number> {
  if (filter.dateBasis === 'createdAt') return 0
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from operations o where ${isUndated(filter, interval)}`.execute(trx)
  return rows[0]!.count
}

/**
 * SQL condition: the ledger lacks the entry that the status of the operation `o` requires: the deposit, the reservation of
 * an open transfer, the settlement of a confirmed one, the release of any other. `strongroom ledger verify` checks all entries.
 */
export const lacksEntry = sql<boolean>`not exists (select from ledger_entries e where e.vault_id = o.vault_id
  and e.operation_id = o.id and e.kind = case when o.type = 'deposit' then 'deposit' when o.status = 'confirmed' then 'settle'
    when o.status in ('awaiting_approval', 'pending') then 'reserve' else 'release' end)`

/** From this number of operations on, merging two indexes takes half the time of hashing one of them. */
const mergedOperationsMin = 100_000

/** @param overall the sums of the operations of the report */
export async function countMissingEntries(
  trx: Trx,
  filter: OperationFilter,
  interval: Interval,
  overall: readonly Overall[],
): Promise<number> {
  // PostgreSQL would choose to hash in several processes, which takes more than 100 MB for a million operations.
  const isMerged = overall.reduce((sum, { count }) => sum + count, 0) >= mergedOperationsMin
  if (isMerged) await sql`select set_config('enable_hashjoin', 'off', true)`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from operations o where ${isReported(filter, interval)} and ${lacksEntry}`.execute(
    trx,
  )
  if (isMerged) await sql`select set_config('enable_hashjoin', 'on', true)`.execute(trx)
  return rows[0]!.count
}

/** SQL: inconsistent relations whose source is in the report and both ends of which are in its scope. */
export function invalidRelations(filter: OperationFilter, interval: Interval): RawBuilder<unknown> {
  const { scope } = filter
  return sql`
    select r.id, r.source_operation_id
    from operation_relations r
    join operations o on o.vault_id = r.vault_id and o.id = r.source_operation_id
    join operations target on target.vault_id = r.vault_id and target.id = r.target_operation_id
    where r.vault_id = ${scope.vaultId} and ${isReported(filter, interval)} and ${isOperationInScope(scope, 'target')} and (
      (r.related_amount is not null and (r.token_id <> o.token_id or r.token_id <> target.token_id))
      or (r.relation_type in ('refund', 'reversal') and (
        o.status in ('failed', 'rejected', 'cancelled') or target.status in ('failed', 'rejected', 'cancelled')
        or target.amount < (
          select coalesce(sum(x.related_amount), 0) from operation_relations x
          join operations paid on paid.vault_id = x.vault_id and paid.id = x.source_operation_id
          where x.vault_id = r.vault_id and x.target_operation_id = r.target_operation_id
            and x.relation_type in ('refund', 'reversal') and ${isOperationInScope(scope, 'paid')}))))`
}

async function countInvalidRelations(trx: Trx, filter: OperationFilter, interval: Interval): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from (${invalidRelations(filter, interval)}) invalid`.execute(trx)
  return rows[0]!.count
}
