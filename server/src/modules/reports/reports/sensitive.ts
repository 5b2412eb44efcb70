import { type RawBuilder, sql } from 'kysely'
import type { AddressScope } from '../../../access/address-scope.ts'

/**
 * SQL condition: the viewer, given that they see the operation, may edit an assignment of the category on it, and so read
 * its sensitive values. This is the rule of editing in `rights.ts` of the assignments, row by row. The arguments are aliases
 * of rows of `operation_categories` and `operations`.
 */
export function isSensitiveReadable({ asker }: AddressScope, category: string, operation: string): RawBuilder<boolean> {
  if (asker.isAdmin) return sql<boolean>`true`
  return sql<boolean>`(case ${sql.ref(`${category}.edit_scope`)}
    when 'vault_members' then true
    when 'owner_only'
      then coalesce(${asker.userId} in (${sql.ref(`${operation}.owner_id`)}, ${sql.ref(`${operation}.initiator_id`)}), false)
    when 'restricted' then exists (
      select from category_grants eg where eg.vault_id = ${sql.ref(`${category}.vault_id`)}
        and eg.category_id = ${sql.ref(`${category}.id`)} and eg.can_edit and eg.subject = any(${asker.subjects}::text[]))
    else false end)`
}
