import { type RawBuilder, sql } from 'kysely'
import type { AddressScope } from '../../../access/address-scope.ts'

/**
 * SQL condition: whoever asks may see the assignment of alias `assignment`, a row of `category_assignments`, given that
 * they see its operation. `category` and `operation` are the aliases of its rows of `operation_categories` and
 * `operations`. It says what `rights.ts` says of viewing, row by row.
 */
export function isAssignmentVisible(
  { asker }: AddressScope,
  assignment: string,
  category: string,
  operation: string,
): RawBuilder<boolean> {
  if (asker.isAdmin) return sql<boolean>`true`
  const viewScope = sql.ref(`${category}.view_scope`)
  const owner = sql.ref(`${operation}.owner_id`)
  const initiator = sql.ref(`${operation}.initiator_id`)
  return sql<boolean>`(case ${viewScope}
    when 'vault_members' then true
    when 'owner_only' then coalesce(${asker.userId} in (${owner}, ${initiator}), false)
    when 'restricted' then exists (
      select from category_grants cg where cg.vault_id = ${sql.ref(`${assignment}.vault_id`)}
        and cg.category_id = ${sql.ref(`${assignment}.category_id`)} and cg.can_view
        and cg.subject = any(${asker.subjects}::text[]))
    else false end)`
}

/**
 * SQL: the key of the category that was assigned first to the operation of `operation`, an alias of a row of
 * `operations`, among the assignments that whoever asks may see; null when there is none. It is `metadata.category`.
 */
export function firstCategoryKey(scope: AddressScope, operation: string): RawBuilder<string | null> {
  return sql<string | null>`(
    select first_c.key from category_assignments first_a
    join operation_categories first_c on first_c.vault_id = first_a.vault_id and first_c.id = first_a.category_id
    where first_a.vault_id = ${sql.ref(`${operation}.vault_id`)} and first_a.operation_id = ${sql.ref(`${operation}.id`)}
      and ${isAssignmentVisible(scope, 'first_a', 'first_c', operation)}
    order by first_a.position, first_a.created_at, first_a.id limit 1)`
}
