import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../../db/client.ts'
import type { Paging } from '../../../../lib/cursor.ts'
import type { OperationStatus, OperationType } from '../../../../lib/operations.ts'
import { firstCategoryKey } from '../../../operations/assignments/visibility.ts'
import type { ExceptionKind } from '../blocks/data-quality.ts'
import type { Interval } from '../buckets.ts'
import {
  invalidRelations,
  lacksBlockchainTime,
  lacksBusinessReference,
  lacksEntry,
  lacksPaymentPurpose,
  lacksUsdRate,
} from '../faults.ts'
import { isReported, isUndated, laterMatches, type OperationFilter } from '../operation-filter.ts'
import type { ReportRequest } from '../request.ts'

export type ExceptionsRequest = ReportRequest & { kinds: readonly ExceptionKind[]; page: Paging }

export type ExceptionRow = {
  id: string
  kinds: ExceptionKind[]
  type: OperationType
  status: OperationStatus
  address_id: string
  address: string
  token_id: string
  asset_code: string
  decimals: number
  amount: string
  usd_value: string | null
  tx_hash: string | null
  counterparty_id: string | null
  counterparty_name: string | null
  created_at: Date
}

/** Operations behind the figures of data quality, newest first, and one more when there is a further page. */
export async function listExceptions(
  trx: Trx,
  { filter, interval, kinds, page: { after, limit } }: ExceptionsRequest,
): Promise<ExceptionRow[]> {
  const { vaultId } = filter.scope
  const beyond = after === null ? sql`true` : sql`(o.created_at, o.id) < (${after.createdAt}, ${after.id})`
  // A row of the page is among the first rows of each of its kinds, so each kind is read in order and limited.
  const parts = kinds.map(
    (kind) => sql`(select o.id, o.created_at, ${kind}::text as kind from operations o
      where ${conditionOf(kind, filter, interval)} and ${beyond} order by o.created_at desc, o.id desc limit ${limit + 1})`,
  )
  const { rows } = await sql<ExceptionRow>`
    with later as materialized (${laterMatches(vaultId, sql`true`, isReported(filter, interval))}),
    page as (
      select found.id, found.created_at, array_agg(found.kind order by found.kind) as kinds
      from (${sql.join(parts, sql` union all `)}) found
      group by found.id, found.created_at order by found.created_at desc, found.id desc limit ${limit + 1}
    )
    select o.id, page.kinds, o.type, o.status, o.address_id, a.address, o.token_id, k.code as asset_code, k.decimals, o.amount,
      o.usd_value, o.tx_hash, o.counterparty_id, o.counterparty_name, o.created_at
    from page
    join operations o on o.vault_id = ${vaultId} and o.id = page.id
    join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
    join tokens k on k.id = o.token_id
    order by o.created_at desc, o.id desc`.execute(trx)
  return rows
}

function conditionOf(kind: ExceptionKind, filter: OperationFilter, interval: Interval): RawBuilder<unknown> {
  if (kind === 'operationsWithoutSelectedDate') {
    return filter.dateBasis === 'createdAt' ? sql`false` : isUndated(filter, interval)
  }
  return sql`${isReported(filter, interval)} and ${faultOf(kind, filter, interval)}`
}

function faultOf(
  kind: Exclude<ExceptionKind, 'operationsWithoutSelectedDate'>,
  filter: OperationFilter,
  interval: Interval,
): RawBuilder<unknown> {
  switch (kind) {
    case 'unmatchedOperations':
      return filter.counterpartyClassification === 'historical'
        ? sql`o.flow_type = 'external' and o.counterparty_id is null`
        : sql`o.flow_type = 'external' and o.id not in (select id from later)
            and not exists (select from counterparty_addresses s where s.vault_id = o.vault_id and s.id = o.counterparty_address_id)`
    case 'retroactivelyMatchedOperations':
      return sql`o.counterparty_id is null and o.id in (select id from later)`
    case 'conflictingCounterpartyClassifications':
      return sql`exists (select from later where later.id = o.id and later.counterparty_id <> o.counterparty_id)`
    case 'operationsWithoutUsdRate':
      return lacksUsdRate
    case 'operationsWithoutBlockchainTime':
      return lacksBlockchainTime
    case 'operationsWithoutPaymentPurpose':
      return lacksPaymentPurpose
    case 'operationsWithoutBusinessReference':
      return lacksBusinessReference
    case 'uncategorizedOperations':
      return sql`${firstCategoryKey(filter.scope, 'o')} is null`
    case 'invalidOperationRelations':
      return sql`o.id in (select invalid.source_operation_id from (${invalidRelations(filter, interval)}) invalid)`
    case 'missingLedgerEntries':
      return lacksEntry
  }
}
