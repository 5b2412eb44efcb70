import { type RawBuilder, sql } from 'kysely'
import { firstCategoryKey, hasCategoryRight } from '../../../operations/categories/rights.ts'
import {
  avoidedForEntries,
  invalidRelations,
  lacksBlockchainTime,
  lacksBusinessReference,
  lacksEntry,
  lacksFeeUsdRate,
  lacksPaymentPurpose,
  lacksUsdRate,
} from '../../activity/statistics.ts'
import type { ExceptionKind } from '../../blocks/data-quality.ts'
import {
  dateOf,
  isAmong,
  isReported,
  isUndated,
  laterMatches,
  mayBeReported,
  type OperationFilter,
} from '../../requests/operation-filter.ts'
import type { PlanStep } from '../../requests/reading.ts'
import type { ReportRequest } from '../../requests/report-request.ts'

/** A search for the operations `o` of some kinds, in one pass over those of the report. */
export type Search = {
  where: RawBuilder<unknown>
  /** The common table expressions and the joins that the condition names. */
  common?: RawBuilder<unknown>
  joined?: RawBuilder<unknown>
  /** The plan steps to avoid, because their time is quadratic when the planner expects too few rows. */
  avoided: readonly PlanStep[]
}

/** Returns the searches for operations of these kinds. Quick searches that find most operations come first. */
export function searchesOf(
  kinds: readonly ExceptionKind[],
  { filter }: ReportRequest,
  totalOperations: number,
): Search[] {
  const reported = isReported(filter)
  const [plain, compared, others]: [RawBuilder<unknown>[], RawBuilder<unknown>[], ExceptionKind[]] = [[], [], []]
  for (const kind of kinds) {
    const condition = conditionOf(kind, filter, presentInSearch)
    if (condition === null) others.push(kind)
    else (comparesParties(kind, filter) ? compared : plain).push(condition)
  }
  const searches: Search[] = []
  if (plain.length > 0) {
    searches.push({ where: sql`${reported} and (${sql.join(plain, sql` or `)})`, avoided: ['nestloop'] })
  }
  if (compared.length > 0) {
    searches.push({
      // The search joins each operation with its entry of the address book, if that still exists, and with the later entry.
      common: sql`with later as materialized (${laterMatches(filter, { operations: mayBeReported(filter) })})`,
      joined: sql`left join later on later.id = o.id
        left join counterparty_addresses recorded on recorded.vault_id = o.vault_id and recorded.id = o.counterparty_address_id`,
      where: sql`${reported} and (${sql.join(compared, sql` or `)})`,
      avoided: ['nestloop'],
    })
  }
  return [...searches, ...others.map((kind) => searchOf(kind, filter, totalOperations))]
}

/** SQL: the counterparty that the address book names now, as a search joins it. */
const presentInSearch = sql`coalesce(later.counterparty_id, recorded.counterparty_id)`

/** Returns true if the condition of a kind compares the counterparty of then with the present one. */
const comparesParties = (kind: ExceptionKind, { counterpartyClassification }: OperationFilter) =>
  kind === 'retroactivelyMatchedOperations' ||
  kind === 'conflictingCounterpartyClassifications' ||
  (kind === 'unmatchedOperations' && counterpartyClassification === 'current')

/** Returns the condition of a kind that the row of the operation decides, with its `present` counterparty; null for other kinds. */
function conditionOf(
  kind: ExceptionKind,
  { counterpartyClassification }: OperationFilter,
  present: RawBuilder<unknown>,
): RawBuilder<boolean> | null {
  switch (kind) {
    case 'operationsWithoutUsdRate':
      return lacksUsdRate
    case 'feesWithoutUsdRate':
      return lacksFeeUsdRate
    case 'operationsWithoutBlockchainTime':
      return lacksBlockchainTime
    case 'operationsWithoutPaymentPurpose':
      return lacksPaymentPurpose
    case 'operationsWithoutBusinessReference':
      return lacksBusinessReference
    case 'unmatchedOperations': {
      const party = counterpartyClassification === 'historical' ? sql`o.counterparty_id` : present
      return sql<boolean>`(o.flow_type = 'external' and ${party} is null)`
    }
    case 'retroactivelyMatchedOperations':
      return sql<boolean>`(o.counterparty_id is null and ${present} is not null)`
    case 'conflictingCounterpartyClassifications':
      return sql<boolean>`${present} <> o.counterparty_id`
    default:
      return null
  }
}

function searchOf(kind: ExceptionKind, filter: OperationFilter, totalOperations: number): Search {
  const reported = isReported(filter)
  switch (kind) {
    case 'operationsWithoutSelectedDate':
      return { where: isUndated(filter), avoided: ['nestloop'] }
    case 'uncategorizedOperations':
      return {
        where: sql`${reported} and not exists (select from category_assignments g
          join operation_categories h on h.vault_id = g.vault_id and h.id = g.category_id
          where g.vault_id = o.vault_id and ${isAmong(filter, 'g.operation_id')} and g.operation_id = o.id
            and ${hasCategoryRight(filter.scope, 'view', 'h', 'o')})`,
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
 * SQL condition: the operation `o`, which a search has found, is of this kind. `present` is the counterparty that the address
 * book names for it now.
 */
export function isKind(kind: ExceptionKind, filter: OperationFilter): RawBuilder<unknown> {
  const date = dateOf(filter)
  const of = (condition: RawBuilder<unknown>) => sql`(${date} is not null and ${condition})`
  switch (kind) {
    case 'operationsWithoutSelectedDate':
      return sql`${date} is null`
    case 'uncategorizedOperations':
      return of(sql`${firstCategoryKey(filter.scope, 'o')} is null`)
    case 'invalidOperationRelations':
      return of(sql`o.id in (select invalid.source_operation_id from (${invalidRelations(filter)}) invalid)`)
    default:
      return of(conditionOf(kind, filter, sql`present.id`) ?? lacksEntry(filter))
  }
}
