import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'
import { newId } from '../../../lib/ids.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { firstCategoryKey } from '../../operations/assignments/visibility.ts'
import { assessDataQuality, type ExceptionKind } from './blocks/data-quality.ts'
import type { Interval } from './buckets.ts'
import { isReported, isUndated, laterMatches, type OperationFilter } from './operation-filter.ts'
import {
  type AccountDifference,
  countInvalidRelations,
  countMissingEntries,
  countUndated,
  invalidRelations,
  lacksBlockchainTime,
  lacksBusinessReference,
  lacksEntry,
  lacksPaymentPurpose,
  lacksUsdRate,
  listAccountDifferences,
  sumOperations,
} from './queries.ts'
import { type FilteredRequest, headerOf } from './request.ts'
import { inSnapshot } from './snapshot.ts'

export type ExceptionsRequest = FilteredRequest & { kinds: readonly ExceptionKind[] }

type Paging = { after: Position | null; limit: number }

type ExceptionRow = {
  id: string
  kinds: ExceptionKind[]
  type: 'transfer' | 'deposit'
  status: string
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

/** Operations behind the figures of data quality, newest first; one row more than the limit tells of a further page. */
export async function buildExceptions(db: Db, request: ExceptionsRequest, paging: Paging) {
  const { filter, interval } = request
  return inSnapshot(db, async (trx) => {
    const differences = await listAccountDifferences(trx, filter)
    const { overall } = await sumOperations(trx, filter, interval, [interval.from])
    const dataQuality = assessDataQuality(overall, {
      operationsWithoutSelectedDate: await countUndated(trx, filter, interval),
      invalidOperationRelations: await countInvalidRelations(trx, filter, interval),
      missingLedgerEntries: await countMissingEntries(trx, filter, interval, overall),
      ledgerReconciliationDifferences: differences.length,
    })
    return {
      report: headerOf(request, {
        id: newId(request.now),
        dateBasis: filter.dateBasis,
        classificationMode: filter.counterpartyClassification,
      }),
      dataQuality,
      accountDifferences: differences.map(toDifference),
      rows: await listExceptions(trx, request, paging),
    }
  })
}

async function listExceptions(
  trx: Trx,
  { filter, interval, kinds }: ExceptionsRequest,
  { after, limit }: Paging,
): Promise<ExceptionRow[]> {
  const { vaultId } = filter.scope
  const beyond = after === null ? sql`true` : sql`(o.created_at, o.id) < (${after.createdAt}, ${after.id})`
  // Whatever is on the page is among the first so many of each of its kinds, so each kind is read in order and cut.
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

export function toException(row: ExceptionRow) {
  return {
    id: row.id,
    exceptions: row.kinds,
    operationType: row.type,
    status: row.status,
    addressId: row.address_id,
    address: row.address,
    tokenId: row.token_id,
    asset: row.asset_code,
    amount: formatDecimal(row.amount, row.decimals),
    usdValue: row.usd_value,
    txHash: row.tx_hash,
    counterparty: row.counterparty_id === null ? null : { id: row.counterparty_id, name: row.counterparty_name ?? '' },
    createdAt: row.created_at.toISOString(),
  }
}

function toDifference({ decimals, balance, balanceOfEntries, ...account }: AccountDifference) {
  return {
    ...account,
    balance: formatDecimal(balance, decimals),
    balanceOfEntries: formatDecimal(balanceOfEntries, decimals),
  }
}
