import { type RawBuilder, sql } from 'kysely'
import type { SubjectKind } from '../../../access/memberships.ts'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { CategoryApprovers, CategoryFields, CategoryGrants, OperationCategories } from '../../../db/types.ts'
import type { Position } from '../../../lib/cursor.ts'
import type { AppliesTo, ApprovalScope, CategoryScope, FieldType } from './schema.ts'

type FieldOption = { value: string; label: string }

export type CategoryFieldRow = RowOf<
  CategoryFields,
  {
    type: FieldType
    /** Set only for a field of the type `select`. */
    options_json: FieldOption[] | null
    /** The number of fraction digits of a number or currency; always set for a currency. */
    scale: number | null
    /** The value, in wire format, of a new assignment that does not set the field; null when the field has no default. */
    default_json: string | number | boolean | null
    order_index: number
  }
>

/** `subject` is `user:<id>` or `group:<id>`, as `subjectsOf` names the viewer. */
export type CategoryGrantRow = RowOf<
  Omit<CategoryGrants, 'vault_id' | 'category_id'>,
  { subject_type: SubjectKind }
> & {
  user: MemberProfile | null
  grantor: MemberProfile | null
}

export type CategoryApproverRow = RowOf<Omit<CategoryApprovers, 'vault_id' | 'category_id'>, { kind: SubjectKind }> & {
  user: MemberProfile | null
}

export type CategoryRow = RowOf<
  OperationCategories,
  {
    applies_to: AppliesTo
    view_scope: CategoryScope
    assign_scope: CategoryScope
    edit_scope: CategoryScope
    approval_scope: ApprovalScope
    /** The fields by order_index, then the oldest first, including archived fields. */
    fields: CategoryFieldRow[]
    grants: CategoryGrantRow[]
    approvers: CategoryApproverRow[]
    created_by: MemberProfile | null
    updated_by: MemberProfile | null
  }
>

export async function findCategory(db: Db | Trx, vaultId: string, id: string): Promise<CategoryRow | null> {
  const rows = await selectCategories(db, sql`where c.vault_id = ${vaultId} and c.id = ${id}`)
  return rows[0] ?? null
}

export async function findCategoryByKey(db: Db | Trx, vaultId: string, key: string): Promise<CategoryRow | null> {
  const rows = await selectCategories(db, sql`where c.vault_id = ${vaultId} and c.key = ${key}`)
  return rows[0] ?? null
}

type CategoryFilter = {
  /** Null includes active and archived categories. */
  archived: boolean | null
  /** `transfer` and `deposit` include the categories that apply to both; null includes all categories. */
  appliesTo: AppliesTo | null
  after: Position | null
  limit: number
}

/** Returns the categories of the vault, newest first; one row more than the limit. */
export async function listCategories(
  db: Db | Trx,
  vaultId: string,
  { archived, appliesTo, after, limit }: CategoryFilter,
): Promise<CategoryRow[]> {
  return selectCategories(
    db,
    sql`
      where c.vault_id = ${vaultId}
        ${archived === null ? sql`` : sql`and c.archived = ${archived}`}
        ${appliesTo === null ? sql`` : sql`and c.applies_to in (${appliesTo}, 'both')`}
        ${after === null ? sql`` : sql`and (c.created_at, c.id) < (${after.createdAt}::timestamptz, ${after.id})`}
      order by c.created_at desc, c.id desc limit ${limit + 1}`,
  )
}

/** Returns every category of the vault, including archived ones. */
export const listAllCategories = (trx: Trx, vaultId: string): Promise<CategoryRow[]> =>
  selectCategories(trx, sql`where c.vault_id = ${vaultId} order by c.id`)

/**
 * Locks a category until the end of the transaction and reads it: with `update` before its definition is changed, with
 * `share` while something depends on the current definition.
 */
export async function lockCategory(
  trx: Trx,
  vaultId: string,
  id: string,
  strength: 'update' | 'share',
): Promise<CategoryRow | null> {
  const query = trx.selectFrom('operation_categories').select('id').where('vault_id', '=', vaultId).where('id', '=', id)
  const locked = await (strength === 'update' ? query.forUpdate() : query.forShare()).executeTakeFirst()
  // A separate statement: after it has waited for the lock, it must see the committed fields, grants and approvers.
  return locked === undefined ? null : findCategory(trx, vaultId, id)
}

/** Returns true if any assignment holds a value under this key. */
export async function hasValues(db: Db | Trx, field: Pick<CategoryFieldRow, 'vault_id' | 'category_id' | 'key'>) {
  const { rows } = await sql<{ has: boolean }>`
    select exists (
      select from category_assignments a
      where a.vault_id = ${field.vault_id} and a.category_id = ${field.category_id}
        and jsonb_exists(a."values", ${field.key})
    ) as has`.execute(db)
  return rows[0]?.has === true
}

/** A row as JSON holds it: the times within `fields`, `grants` and `approvers` arrive as text. */
type Revived<Row> = { [Key in keyof Row]: Row[Key] extends Date ? string : Row[Key] }
type SelectedRow = Omit<CategoryRow, 'fields' | 'grants' | 'approvers'> & {
  fields: Revived<CategoryFieldRow>[]
  grants: Revived<CategoryGrantRow>[]
  approvers: Revived<CategoryApproverRow>[]
}

/** Reads with one statement, so that version, fields, grants and approvers are consistent. */
async function selectCategories(db: Db | Trx, which: RawBuilder<unknown>): Promise<CategoryRow[]> {
  const { rows } = await sql<SelectedRow>`
    select c.*, ${profileOfUser(sql.ref('c.created_by_id'))} as created_by,
      ${profileOfUser(sql.ref('c.updated_by_id'))} as updated_by,
      (
        select coalesce(jsonb_agg(to_jsonb(f) order by f.order_index, f.created_at, f.id), '[]')
        from category_fields f where f.vault_id = c.vault_id and f.category_id = c.id
      ) as fields,
      (
        select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'subject', g.subject, 'subject_type', g.subject_type,
          'subject_id', g.subject_id, 'can_view', g.can_view, 'can_assign', g.can_assign, 'can_edit', g.can_edit,
          'grantor_id', g.grantor_id, 'created_at', g.created_at,
          'user', case when g.subject_type = 'user' then ${profileOfUser(sql.ref('g.subject_id'))} end,
          'grantor', ${profileOfUser(sql.ref('g.grantor_id'))}) order by g.created_at, g.id), '[]')
        from category_grants g where g.vault_id = c.vault_id and g.category_id = c.id
      ) as grants,
      (
        select coalesce(jsonb_agg(to_jsonb(a) - '{vault_id,category_id}'::text[]
          || jsonb_build_object('user', ${profileOfUser(sql.ref('a.user_id'))}) order by a.created_at, a.id), '[]')
        from category_approvers a where a.vault_id = c.vault_id and a.category_id = c.id
      ) as approvers
    from operation_categories c ${which}`.execute(db)
  return rows.map((row) => ({
    ...row,
    fields: row.fields.map((field) => ({ ...withDate(field), updated_at: new Date(field.updated_at) })),
    grants: row.grants.map(withDate),
    approvers: row.approvers.map(withDate),
  }))
}

function withDate<Row extends { created_at: string }>(row: Row): Omit<Row, 'created_at'> & { created_at: Date } {
  return { ...row, created_at: new Date(row.created_at) }
}
