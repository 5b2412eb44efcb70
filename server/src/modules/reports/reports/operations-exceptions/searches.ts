import { type RawBuilder, sql } from 'kysely'
import { firstCategoryKey, hasCategoryRight } from '../../../operations/assignments/rights.ts'
import {
  avoidedForEntries,
  invalidRelations,
  lacksBlockchainTime,
  lacksBusinessReference,
  lacksEntry,
  lacksPaymentPurpose,
  lacksUsdRate,
  type PlanStep,
} from '../activity/statistics.ts'
import type { ExceptionKind } from '../blocks/data-quality.ts'
import { dateOf, isReported, isUndated, laterMatches } from '../operation-filter.ts'
import type { ReportRequest } from '../request.ts'

/** How operations `o` of some kinds are found, in one pass over those of the report. */
export type Search = {
  where: RawBuilder<unknown>
  /** The common table expressions that the condition names. */
  common?: RawBuilder<unknown>
  /** What the planner must not do, because it takes the square of the time when it expects too little. */
  avoided?: readonly PlanStep[]
}

/** The searches for operations of these kinds, those first that are quick and find most. */
export function searchesOf(kinds: readonly ExceptionKind[], request: ReportRequest, totalOperations: number): Search[] {
  const { filter, interval } = request
  const reported = isReported(filter, interval)
  const plain = kinds.flatMap((kind) => plainConditionOf(kind, request) ?? [])
  const searches: Search[] = plain.length === 0 ? [] : [{ where: sql`${reported} and (${sql.join(plain, sql` or `)})` }]
  for (const kind of kinds) {
    if (plainConditionOf(kind, request) !== null) continue
    searches.push(searchOf(kind, request, reported, totalOperations))
  }
  return searches
}

/** The condition of a kind that the row of the operation itself decides. */
function plainConditionOf(kind: ExceptionKind, { filter }: ReportRequest): RawBuilder<boolean> | null {
  switch (kind) {
    case 'operationsWithoutUsdRate':
      return lacksUsdRate
    case 'operationsWithoutBlockchainTime':
      return lacksBlockchainTime
    case 'operationsWithoutPaymentPurpose':
      return lacksPaymentPurpose
    case 'operationsWithoutBusinessReference':
      return lacksBusinessReference
    case 'unmatchedOperations':
      return filter.counterpartyClassification === 'historical'
        ? sql<boolean>`(o.flow_type = 'external' and o.counterparty_id is null)`
        : null
    default:
      return null
  }
}

function searchOf(
  kind: ExceptionKind,
  { filter, interval }: ReportRequest,
  reported: RawBuilder<boolean>,
  totalOperations: number,
): Search {
  const { scope } = filter
  const byLater = (condition: RawBuilder<unknown>): Search => ({
    common: sql`with later as materialized (${laterMatches(scope.vaultId, sql`true`, reported)})`,
    where: sql`${reported} and ${condition}`,
    avoided: ['nestloop'],
  })
  switch (kind) {
    case 'operationsWithoutSelectedDate':
      return { where: isUndated(filter, interval) }
    case 'unmatchedOperations':
      return byLater(sql`o.flow_type = 'external' and not exists (select from later where later.id = o.id)
        and not exists (select from counterparty_addresses s where s.vault_id = o.vault_id and s.id = o.counterparty_address_id)`)
    case 'retroactivelyMatchedOperations':
      return byLater(sql`o.counterparty_id is null and exists (select from later where later.id = o.id)`)
    case 'conflictingCounterpartyClassifications':
      return byLater(
        sql`exists (select from later where later.id = o.id and later.counterparty_id <> o.counterparty_id)`,
      )
    case 'uncategorizedOperations':
      return {
        where: sql`${reported} and not exists (select from category_assignments g
          join operation_categories h on h.vault_id = g.vault_id and h.id = g.category_id
          where g.vault_id = o.vault_id and g.operation_id = o.id and ${hasCategoryRight(scope, 'view', 'h', 'o')})`,
        avoided: ['nestloop'],
      }
    case 'invalidOperationRelations':
      return {
        common: sql`with invalid as materialized (${invalidRelations(filter, interval)})`,
        where: sql`${reported} and o.id = any(array(select invalid.source_operation_id from invalid))`,
      }
    default:
      return { where: sql`${reported} and ${lacksEntry}`, avoided: avoidedForEntries(totalOperations) }
  }
}

/**
 * SQL condition: the operation `o`, one that a search has found, is of this kind. `present` is the counterparty that the
 * address book names for it now.
 */
export function isKind(
  kind: ExceptionKind,
  { filter, interval }: Pick<ReportRequest, 'filter' | 'interval'>,
): RawBuilder<unknown> {
  const date = dateOf(filter)
  const of = (condition: RawBuilder<unknown>) => sql`(${date} is not null and ${condition})`
  switch (kind) {
    case 'operationsWithoutSelectedDate':
      return sql`${date} is null`
    case 'unmatchedOperations':
      return filter.counterpartyClassification === 'historical'
        ? of(sql`o.flow_type = 'external' and o.counterparty_id is null`)
        : of(sql`o.flow_type = 'external' and present.id is null`)
    case 'retroactivelyMatchedOperations':
      return of(sql`o.counterparty_id is null and present.id is not null`)
    case 'conflictingCounterpartyClassifications':
      return of(sql`o.counterparty_id <> present.id`)
    case 'operationsWithoutUsdRate':
      return of(lacksUsdRate)
    case 'operationsWithoutBlockchainTime':
      return of(lacksBlockchainTime)
    case 'operationsWithoutPaymentPurpose':
      return of(lacksPaymentPurpose)
    case 'operationsWithoutBusinessReference':
      return of(lacksBusinessReference)
    case 'uncategorizedOperations':
      return of(sql`${firstCategoryKey(filter.scope, 'o')} is null`)
    case 'invalidOperationRelations':
      return of(sql`o.id in (select invalid.source_operation_id from (${invalidRelations(filter, interval)}) invalid)`)
    case 'missingLedgerEntries':
      return of(lacksEntry)
  }
}
