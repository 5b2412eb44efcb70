import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, sharedAddressIds } from '../../../access/address-scope.ts'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { OperationRelations } from '../../../db/types.ts'
import type { Position } from '../../../lib/cursor.ts'
import type { OperationType } from '../../../lib/operations.ts'
import { isOperationReadable } from '../feed/queries.ts'
import { type ExistingRelations, refundTypes, voidStatuses } from './check-relation.ts'
import type { RelationType } from './schema.ts'

/** `related_amount` is raw. */
export type RelationRow = RowOf<
  Omit<OperationRelations, 'source_address_id'>,
  {
    source_operation_type: OperationType
    target_operation_type: OperationType
    relation_type: RelationType
    created_by: MemberProfile | null
  }
>

/**
 * Prevents other relations of both operations until the transaction ends. The locks are advisory, so that the operations
 * themselves can still be updated. Every transaction takes them in the same order, so that they cannot deadlock.
 */
export async function lockRelationsOf(trx: Trx, vaultId: string, operationIds: [string, string]): Promise<void> {
  for (const id of [...operationIds].sort()) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`relations of ${vaultId} ${id}`}, 3))`.execute(trx)
  }
}

/** Returns the existing relations of the two operations, including those that the viewer may not see. */
export async function findExistingRelations(
  trx: Trx,
  vaultId: string,
  { sourceId, targetId, relationType }: { sourceId: string; targetId: string; relationType: RelationType },
): Promise<ExistingRelations> {
  const isThere = (from: string, to: string) => sql`exists (
    select from operation_relations r where r.vault_id = ${vaultId} and r.source_operation_id = ${from}
      and r.target_operation_id = ${to} and r.relation_type = ${relationType})`
  const countOf = (id: string) => sql`(
    select count(*)::int from operation_relations r
    where r.vault_id = ${vaultId} and (r.source_operation_id = ${id} or r.target_operation_id = ${id}))`
  const { rows } = await sql<Omit<ExistingRelations, 'refunded'> & { refunded: string }>`
    select ${isThere(sourceId, targetId)} as "isRelated", ${isThere(targetId, sourceId)} as "isRelatedInReverse",
      greatest(${countOf(sourceId)}, ${countOf(targetId)}) as "relationsCount",
      ${refundedOf(sql`${vaultId}`, sql`${targetId}`)} as refunded`.execute(trx)
  const { refunded, ...existing } = rows[0]!
  return { ...existing, refunded: BigInt(refunded) }
}

/**
 * SQL: the raw amount of an operation that refunds and reversals took back. A relation without an amount counts with that of its
 * source, and one whose source ended without effect does not count. `isAmong` is a condition on the source `paid`.
 */
export const refundedOf = (
  vaultId: RawBuilder<unknown>,
  targetId: RawBuilder<unknown>,
  isAmong: RawBuilder<unknown> = sql`true`,
) => sql`(
  select coalesce(sum(coalesce(x.related_amount, paid.amount)), 0) from operation_relations x
  cross join lateral (
    select * from operations p where p.vault_id = x.vault_id and p.id = x.source_operation_id offset 0) paid
  where x.vault_id = ${vaultId} and x.target_operation_id = ${targetId} and x.token_id is not null
    and x.relation_type = any(${refundTypes}::text[]) and paid.status <> all(${voidStatuses}::text[]) and ${isAmong})`

/** Returns a relation if the viewer may see both ends. */
export async function findRelation(db: Db | Trx, scope: AddressScope, id: string): Promise<RelationRow | null> {
  return (await selectVisible(db, scope, sql`r.id = ${id}`))[0] ?? null
}

/**
 * Returns the relations of one operation whose other end the viewer may see too, newest first; at most
 * `relationsPerOperationMax`.
 */
export function listRelationsOf(db: Db, scope: AddressScope, operationId: string): Promise<RelationRow[]> {
  return selectVisible(db, scope, sql`r.source_operation_id = ${operationId} or r.target_operation_id = ${operationId}`)
}

async function selectVisible(db: Db | Trx, scope: AddressScope, which: RawBuilder<unknown>): Promise<RelationRow[]> {
  const { rows } = await sql<RelationRow>`
    select ${columns}, ${createdBy('r')} from operation_relations r
    where r.vault_id = ${scope.vaultId} and (${which}) and ${isRelationVisible(scope)}
    order by r.created_at desc, r.id desc`.execute(db)
  return rows
}

export type RelationFilter = {
  relationType: RelationType | null
  sourceOperationId: string | null
  targetOperationId: string | null
  tokenId: string | null
  from: Date | null
  to: Date | null
  after: Position | null
  limit: number
}

/** Returns the relations of which the viewer may see both ends, newest first; one row more than the limit. */
export async function listRelations(db: Db, scope: AddressScope, filter: RelationFilter): Promise<RelationRow[]> {
  const isOfOneOperation = filter.sourceOperationId !== null || filter.targetOperationId !== null
  const pages = scope.isWholeVault || isOfOneOperation ? feedOfVault(scope, filter) : feedOfViewer(scope, filter)
  const { rows } = await sql<RelationRow>`
    select p.*, ${createdBy('p')} from (
      ${pages} order by created_at desc, id desc limit ${filter.limit + 1}) p
    order by p.created_at desc, p.id desc`.execute(db)
  return rows
}

/** SQL: returns the relations for an administrator, or the few relations of one operation. */
function feedOfVault(scope: AddressScope, filter: RelationFilter): RawBuilder<unknown> {
  return sql`
    select ${columns} from operation_relations r
    where r.vault_id = ${scope.vaultId} and ${isWanted(filter)} and ${isInWindow(filter, 'r.created_at', 'r.id')}
      and ${isRelationVisible(scope)}`
}

/**
 * SQL: returns the relations for other viewers. The relations that they see by name are one range of an index, and so
 * are those of each address that is shared with them. The relations of others are never read, however many there are.
 */
function feedOfViewer(scope: AddressScope, filter: RelationFilter): RawBuilder<unknown> {
  const { vaultId, viewer } = scope
  return sql`
    (
      select ${columns} from operation_relation_readers x
      join operation_relations r on r.vault_id = x.vault_id and r.id = x.relation_id
      where x.vault_id = ${vaultId} and x.user_id = ${viewer.userId} and ${isWanted(filter)}
        and ${isInWindow(filter, 'x.relation_created_at', 'x.relation_id')} and ${isRelationVisible(scope)}
      order by x.relation_created_at desc, x.relation_id desc limit ${filter.limit + 1}
    ) union (
      select s.* from (${sharedAddressIds(scope)}) a (address_id)
      cross join lateral (
        select ${columns} from operation_relations r
        where r.vault_id = ${vaultId} and r.source_address_id = a.address_id and ${isWanted(filter)}
          and ${isInWindow(filter, 'r.created_at', 'r.id')} and ${isRelationVisible(scope)}
        order by r.created_at desc, r.id desc limit ${filter.limit + 1}
      ) s
    )`
}

const columns = sql`
  r.vault_id, r.id, r.source_operation_type, r.source_operation_id, r.target_operation_type, r.target_operation_id,
  r.relation_type, r.related_amount, r.token_id, r.comment, r.created_by_id, r.created_at`

/**
 * SQL: returns the creator as a column. It is added after the union, because a union compares its columns and JSON
 * cannot be compared.
 */
const createdBy = (relation: string) => sql`${profileOfUser(sql.ref(`${relation}.created_by_id`))} as created_by`

function isWanted(filter: RelationFilter): RawBuilder<unknown> {
  const conditions = [sql`true`]
  if (filter.relationType !== null) conditions.push(sql`r.relation_type = ${filter.relationType}`)
  if (filter.sourceOperationId !== null) conditions.push(sql`r.source_operation_id = ${filter.sourceOperationId}`)
  if (filter.targetOperationId !== null) conditions.push(sql`r.target_operation_id = ${filter.targetOperationId}`)
  if (filter.tokenId !== null) conditions.push(sql`r.token_id = ${filter.tokenId}`)
  return sql`${sql.join(conditions, sql` and `)}`
}

/** `createdAt` and `id` are the columns of the index along which the feed is read. */
function isInWindow({ from, to, after }: RelationFilter, createdAt: string, id: string): RawBuilder<unknown> {
  const conditions = [sql`true`]
  if (from !== null) conditions.push(sql`${sql.ref(createdAt)} >= ${from}`)
  if (to !== null) conditions.push(sql`${sql.ref(createdAt)} <= ${to}`)
  if (after !== null) conditions.push(sql`(${sql.ref(createdAt)}, ${sql.ref(id)}) < (${after.createdAt}, ${after.id})`)
  return sql`${sql.join(conditions, sql` and `)}`
}

/**
 * SQL condition: the viewer may see both ends of the relation `r`. Each end is a lookup of one row. A join would let
 * the planner start from the operations.
 */
function isRelationVisible(scope: AddressScope): RawBuilder<unknown> {
  if (scope.isWholeVault) return sql`true`
  const isEndVisible = (end: string) => sql`(
    select ${isOperationReadable(scope, 'o')} from operations o where o.vault_id = r.vault_id and o.id = ${sql.ref(end)})`
  return sql`${isEndVisible('r.source_operation_id')} and ${isEndVisible('r.target_operation_id')}`
}
