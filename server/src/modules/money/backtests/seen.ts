import { type RawBuilder, sql } from 'kysely'
import { type Viewer, visibleScopeOf } from '../../../access/address-scope.ts'
import { isOperationReadable } from '../../operations/feed/queries.ts'
import { isSubjectVisible } from '../../rules/votes/queries.ts'

export const subjectTypes = ['transfer', 'payout', 'approval_request', 'decision'] as const
export type SubjectType = (typeof subjectTypes)[number]

/**
 * SQL condition: the viewer may see what was decided, which is `alias`, a row of the table of its kind. What was allowed or
 * refused at once has a row of its own (`decision`): the person who asked was told the result, and nobody else.
 */
export function isDecisionSeen(type: SubjectType, alias: string, viewer: Viewer): RawBuilder<boolean> {
  if (viewer.readsAll) return sql<boolean>`true`
  if (type === 'transfer') return isOperationReadable(visibleScopeOf(viewer), alias)
  if (type === 'decision') return sql<boolean>`${sql.ref(`${alias}.initiator_id`)} = ${viewer.userId}`
  return isSubjectVisible(alias, viewer)
}

const tables: Record<SubjectType, string> = {
  transfer: 'operations',
  payout: 'payouts',
  approval_request: 'approval_requests',
  decision: 'decisions',
}

/** SQL condition: the viewer may see the decision that `alias`, a row of `backtest_changes`, is about. */
export function isChangeSeen(alias: string, viewer: Viewer): RawBuilder<boolean> {
  if (viewer.readsAll) return sql<boolean>`true`
  const of = (column: string) => sql.ref(`${alias}.${column}`)
  const each = subjectTypes.map(
    (type) => sql`(${of('subject_type')} = ${type} and exists (
      select from ${sql.table(tables[type])} seen where seen.vault_id = ${of('vault_id')}
        and seen.id = ${of('subject_id')} and ${isDecisionSeen(type, 'seen', viewer)}))`,
  )
  return sql<boolean>`(${sql.join(each, sql` or `)})`
}
