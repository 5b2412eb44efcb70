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
} from '../activity/statistics.ts'
import type { ExceptionKind } from '../blocks/data-quality.ts'
import { dateOf, isAmong, isReported, isUndated, laterMatches, mayBeReported } from '../operation-filter.ts'
import type { PlanStep } from '../reading.ts'
import type { ReportRequest } from '../request.ts'

/** How operations `o` of some kinds are found, in one pass over those of the report. */
export type Search = {
  where: RawBuilder<unknown>
  /** The common table expressions and the joins that the condition names. */
  common?: RawBuilder<unknown>
  joined?: RawBuilder<unknown>
  /** What the planner must not do, because it takes the square of the time when it expects too little. */
  avoided: readonly PlanStep[]
}

/** The searches for operations of these kinds, those first that are quick and find most. */
export function searchesOf(kinds: readonly ExceptionKind[], request: ReportRequest, totalOperations: number): Search[] {
  const { filter } = request
  const reported = isReported(filter)
  const searches: Search[] = []
  const plain = kinds.flatMap((kind) => plainConditionOf(kind, request) ?? [])
  if (plain.length > 0) {
    searches.push({ where: sql`${reported} and (${sql.join(plain, sql` or `)})`, avoided: ['nestloop'] })
  }
  const parties = kinds.flatMap((kind) => partyConditionOf(kind, request) ?? [])
  if (parties.length > 0) searches.push(searchParties(parties, request, reported))
  for (const kind of kinds) {
    if (plainConditionOf(kind, request) !== null || partyConditionOf(kind, request) !== null) continue
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

/** The condition of a kind that compares the counterparty of then with the one of now: see `searchParties`. */
function partyConditionOf(kind: ExceptionKind, { filter }: ReportRequest): RawBuilder<boolean> | null {
  switch (kind) {
    case 'unmatchedOperations':
      return filter.counterpartyClassification === 'historical'
        ? null
        : sql<boolean>`(o.flow_type = 'external' and ${present} is null)`
    case 'retroactivelyMatchedOperations':
      return sql<boolean>`(o.counterparty_id is null and ${present} is not null)`
    case 'conflictingCounterpartyClassifications':
      return sql<boolean>`${present} <> o.counterparty_id`
    default:
      return null
  }
}

/** The counterparty that the address book names now. */
const present = sql`coalesce(later.counterparty_id, recorded.counterparty_id)`

/** With every operation the entry of the address book that it had, if it is still there, and the one that was made later. */
function searchParties(
  conditions: RawBuilder<boolean>[],
  { filter }: ReportRequest,
  reported: RawBuilder<boolean>,
): Search {
  return {
    common: sql`with later as materialized (${laterMatches(filter, { operations: mayBeReported(filter) })})`,
    joined: sql`left join later on later.id = o.id
      left join counterparty_addresses recorded on recorded.vault_id = o.vault_id and recorded.id = o.counterparty_address_id`,
    where: sql`${reported} and (${sql.join(conditions, sql` or `)})`,
    avoided: ['nestloop'],
  }
}

function searchOf(
  kind: ExceptionKind,
  { filter }: ReportRequest,
  reported: RawBuilder<boolean>,
  totalOperations: number,
): Search {
  const { scope } = filter
  switch (kind) {
    case 'operationsWithoutSelectedDate':
      return { where: isUndated(filter), avoided: ['nestloop'] }
    case 'uncategorizedOperations':
      return {
        where: sql`${reported} and not exists (select from category_assignments g
          join operation_categories h on h.vault_id = g.vault_id and h.id = g.category_id
          where g.vault_id = o.vault_id and ${isAmong(filter, 'g.operation_id')} and g.operation_id = o.id
            and ${hasCategoryRight(scope, 'view', 'h', 'o')})`,
        avoided: ['nestloop'],
      }
    case 'invalidOperationRelations':
      return {
        common: sql`with invalid as materialized (${invalidRelations(filter)})`,
        where: sql`${reported} and o.id = any(array(select invalid.source_operation_id from invalid))`,
        avoided: ['nestloop'],
      }
    default:
      return { where: sql`${reported} and ${lacksEntry(filter)}`, avoided: avoidedForEntries(totalOperations, filter) }
  }
}

/**
 * SQL condition: the operation `o`, one that a search has found, is of this kind. `present` is the counterparty that the
 * address book names for it now.
 */
export function isKind(kind: ExceptionKind, { filter }: Pick<ReportRequest, 'filter'>): RawBuilder<unknown> {
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
      return of(sql`o.id in (select invalid.source_operation_id from (${invalidRelations(filter)}) invalid)`)
    case 'missingLedgerEntries':
      return of(lacksEntry(filter))
  }
}
