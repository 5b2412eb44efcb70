import { type RawBuilder, sql } from 'kysely'
import type { AddressScope } from '../../../access/address-scope.ts'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Values } from '../categories/field-values.ts'
import { type CategoryRow, listCategories } from '../categories/queries.ts'
import { hasCategoryRight, type OperationViewer, rightsOf, type Scopes } from '../categories/rights.ts'
import type { OperationRow } from '../feed/queries.ts'

/** An assignment with the properties of its category that decide about its visibility. */
export type AssignmentRow = Scopes & {
  vault_id: string
  id: string
  operation_id: string
  category_id: string
  key: string
  values: Values
  version: number
  assigned_by_id: string
  assigned_by: MemberProfile | null
  created_at: Date
  updated_at: Date
  /** The keys of the fields whose values only editors may see. */
  sensitive_keys: string[]
}

type Operation = Pick<OperationRow, 'vault_id' | 'id'>

/** Returns the assignments of an operation that the viewer may see, in the order in which they were made. */
export async function listAssignments(
  db: Db | Trx,
  scope: AddressScope,
  operation: Operation,
): Promise<AssignmentRow[]> {
  return selectAssignments(db, operation, hasCategoryRight(scope, 'view', 'c', 'o'))
}

/** Returns the assignment of a category, without a check of its visibility. */
export async function findAssignment(
  db: Db | Trx,
  operation: Operation,
  categoryId: string,
): Promise<AssignmentRow | null> {
  const rows = await selectAssignments(db, operation, sql<boolean>`a.category_id = ${categoryId}`)
  return rows[0] ?? null
}

/** SQL: returns the key of the category that was assigned first, without a check of its visibility, or null. */
export const firstCategoryKeyOf = (
  vaultId: RawBuilder<unknown>,
  operationId: RawBuilder<unknown>,
): RawBuilder<string | null> => sql`(
  select c.key from category_assignments a
  join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
  where a.vault_id = ${vaultId} and a.operation_id = ${operationId}
  order by a.position, a.created_at, a.id limit 1)`

/** Returns the keys of `firstCategoryKeyOf` for many operations, by their ids. An operation without a category is left out. */
export async function listFirstCategoryKeys(
  db: Db | Trx,
  vaultId: string,
  ids: string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ operation_id: string; key: string }>`
    select distinct on (a.operation_id) a.operation_id, c.key
    from category_assignments a
    join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
    where a.vault_id = ${vaultId} and a.operation_id = any(${ids}::text[])
    order by a.operation_id, a.position, a.created_at, a.id`.execute(db)
  return new Map(rows.map(({ operation_id, key }) => [operation_id, key]))
}

const pageOfCategories = 100

/** Returns the categories in use that the viewer may assign to an operation, newest first. */
export async function listAssignableCategories(
  db: Db | Trx,
  { vault_id: vaultId, type }: Pick<OperationRow, 'vault_id' | 'type'>,
  viewer: OperationViewer,
): Promise<CategoryRow[]> {
  const found: CategoryRow[] = []
  let page: CategoryRow[]
  do {
    const last = found.at(-1)
    const after = last === undefined ? null : { createdAt: last.created_at, id: last.id }
    page = await listCategories(db, vaultId, { archived: false, appliesTo: type, after, limit: pageOfCategories })
    found.push(...page.slice(0, pageOfCategories))
  } while (page.length > pageOfCategories)
  return found.filter((category) => rightsOf(category, viewer).canAssign)
}

async function selectAssignments(
  db: Db | Trx,
  { vault_id: vaultId, id }: Operation,
  which: RawBuilder<boolean>,
): Promise<AssignmentRow[]> {
  const { rows } = await sql<AssignmentRow>`
    select a.vault_id, a.id, a.operation_id, a.category_id, c.key, a."values", a.version, a.assigned_by_id,
      ${profileOfUser(sql.ref('a.assigned_by_id'))} as assigned_by, a.created_at, a.updated_at, c.view_scope, c.assign_scope, c.edit_scope,
      (
        select coalesce(jsonb_agg(jsonb_build_object('subject', g.subject, 'can_view', g.can_view,
          'can_assign', g.can_assign, 'can_edit', g.can_edit)), '[]')
        from category_grants g where g.vault_id = c.vault_id and g.category_id = c.id
      ) as grants,
      array(
        select f.key from category_fields f
        where f.vault_id = c.vault_id and f.category_id = c.id and f.sensitive order by f.order_index, f.created_at, f.id
      ) as sensitive_keys
    from category_assignments a
    join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
    join operations o on o.vault_id = a.vault_id and o.id = a.operation_id
    where a.vault_id = ${vaultId} and a.operation_id = ${id} and ${which}
    order by a.position, a.created_at, a.id`.execute(db)
  return rows
}
