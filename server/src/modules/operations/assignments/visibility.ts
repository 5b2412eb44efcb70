import { type RawBuilder, sql } from 'kysely'
import type { AddressScope } from '../../../access/address-scope.ts'
import type { CategoryRight } from './rights.ts'

/**
 * SQL condition: the viewer has the right on assignments of the category of alias `category` to the operation of alias
 * `operation`, given that they see the operation. It is the rule of `rightsOf` for one right; as there, a viewer who may
 * not view an assignment may not edit it either, which the caller must check separately.
 */
export function hasCategoryRight(
  scope: AddressScope,
  right: CategoryRight,
  category: string,
  operation: string,
): RawBuilder<boolean> {
  const { viewer } = scope
  if (viewer.isAdmin) return sql<boolean>`true`
  const owner = sql.ref(`${operation}.owner_id`)
  const initiator = sql.ref(`${operation}.initiator_id`)
  return sql<boolean>`(case ${sql.ref(`${category}.${right}_scope`)}
    when 'vault_members' then true
    when 'owner_only' then coalesce(${viewer.userId} in (${owner}, ${initiator}), false)
    when 'restricted' then ${isCategoryGranted(scope, right, category)}
    else false end)`
}

/** SQL condition: the right on the category of alias `category` was granted to the viewer or one of their groups. */
export function isCategoryGranted(
  { viewer }: AddressScope,
  right: CategoryRight,
  category: string,
): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from category_grants cg where cg.vault_id = ${sql.ref(`${category}.vault_id`)}
      and cg.category_id = ${sql.ref(`${category}.id`)} and ${sql.ref(`cg.can_${right}`)}
      and cg.subject = any(${viewer.subjects}::text[]))`
}

/**
 * SQL: the key of the category that was assigned first to the operation of `operation`, an alias of a row of
 * `operations`, among the assignments that the viewer may see; null when there is none. It is `metadata.category`.
 */
export function firstCategoryKey(scope: AddressScope, operation: string): RawBuilder<string | null> {
  return sql<string | null>`(
    select first_c.key from category_assignments first_a
    join operation_categories first_c on first_c.vault_id = first_a.vault_id and first_c.id = first_a.category_id
    where first_a.vault_id = ${sql.ref(`${operation}.vault_id`)} and first_a.operation_id = ${sql.ref(`${operation}.id`)}
      and ${hasCategoryRight(scope, 'view', 'first_c', operation)}
    order by first_a.position, first_a.created_at, first_a.id limit 1)`
}
