import { sql } from 'kysely'
import type { Static } from 'typebox'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import { type ByMember, byMember, type Member } from '../../../access/caller.ts'
import { profileOfUser } from '../../../access/profile.ts'
import type { Trx } from '../../../db/client.ts'
import { badRequest, conflict, forbidden, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { rawAmountMax } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit } from '../../record/audit/record.ts'
import { findOperation, type OperationRow } from '../feed/queries.ts'
import { checkRelation, type End } from './check-relation.ts'
import { findExistingRelations, findRelation, lockRelationsOf, type RelationRow } from './queries.ts'
import type { RelationBody } from './schema.ts'

type Body = Static<typeof RelationBody>

/**
 * Relates two operations that the member sees; the member must own one of them or administer the vault.
 *
 * @throws 400 when both operations are the same, the amount is out of range or the token is not the token of both operations;
 *   404 when an operation does not exist or the member may not see it; 403 when the member owns neither operation; 409 when
 *   `checkRelation` refuses the relation
 */
export async function createRelation(trx: Trx, body: Body, by: ByMember): Promise<RelationRow> {
  const { member, now } = by
  const { sourceOperationId: sourceId, targetOperationId: targetId, relationType } = body
  if (sourceId === targetId) throw badRequest('targetOperationId', 'must not be the source operation')
  const relatedAmount = body.relatedAmountRaw === undefined ? null : BigInt(body.relatedAmountRaw)
  if (relatedAmount !== null && relatedAmount > rawAmountMax) {
    throw badRequest('relatedAmountRaw', 'must not be above 2^256-1')
  }
  const vaultId = member.vault.id
  const source = orNotFound(
    await findOperation(trx, member, { type: body.sourceOperationType, id: sourceId }),
    'Source operation',
  )
  const target = orNotFound(
    await findOperation(trx, member, { type: body.targetOperationType, id: targetId }),
    'Target operation',
  )
  if (!member.isAdmin && !isOwn(member, source) && !isOwn(member, target)) {
    throw forbidden(
      'not_permitted',
      'Only the owner or initiator of one of the operations and administrators may relate them',
    )
  }
  await lockRelationsOf(trx, vaultId, [sourceId, targetId])
  const verdict = checkRelation(
    { relationType, relatedAmount, tokenId: body.tokenId ?? null, source: toEnd(source), target: toEnd(target) },
    await findExistingRelations(trx, vaultId, { sourceId, targetId, relationType }),
  )
  if (verdict.effect === 'fault') throw badRequest(verdict.field, verdict.message)
  if (verdict.effect === 'conflict') throw conflict(verdict.reason, verdict.why)

  const row: StoredRelation = {
    vault_id: vaultId,
    id: newId(now),
    source_operation_type: source.type,
    source_operation_id: source.id,
    target_operation_type: target.type,
    target_operation_id: target.id,
    relation_type: relationType,
    related_amount: relatedAmount?.toString() ?? null,
    token_id: verdict.tokenId,
    comment: body.comment ?? null,
    created_by_id: member.userId,
    created_at: now,
  }
  const { created_by } = await trx
    .insertInto('operation_relations')
    .values({ ...row, source_address_id: source.address_id })
    .returning(profileOfUser(sql.ref('operation_relations.created_by_id')).as('created_by'))
    .executeTakeFirstOrThrow()
  await insertReaders(trx, row)
  await record(trx, 'created', row, by)
  return { ...row, created_by }
}

type StoredRelation = Omit<RelationRow, 'created_by'>

/** @throws 404 when the member does not see both ends, 403 when they neither created it nor administer the vault */
export async function deleteRelation(trx: Trx, id: string, { member, now }: ByMember): Promise<void> {
  const row = orNotFound(await findRelation(trx, visibleScopeOf(member), id), 'Operation relation')
  if (!member.isAdmin && row.created_by_id !== member.userId) {
    throw forbidden('not_permitted', 'Only the creator of the relation and administrators may delete it')
  }
  const { numDeletedRows } = await trx
    .deleteFrom('operation_relations')
    .where('vault_id', '=', member.vault.id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('Operation relation')
  await record(trx, 'deleted', row, { member, now })
}

const isOwn = ({ userId }: Member, { owner_id, initiator_id }: OperationRow) =>
  owner_id === userId || initiator_id === userId

const toEnd = (row: OperationRow): End => ({
  status: row.status,
  tokenId: row.token_id,
  amount: BigInt(row.amount),
})

/** Adds the relation to the feeds of the users whom its source names: the owner, the initiator and the approvers. */
async function insertReaders(trx: Trx, row: StoredRelation): Promise<void> {
  await sql`
    insert into operation_relation_readers (vault_id, user_id, relation_created_at, relation_id)
    select o.vault_id, p.user_id, ${row.created_at}, ${row.id}
    from operations o
    cross join lateral (
      select o.owner_id as user_id
      union select o.initiator_id where o.initiator_id is not null
      union select v.user_id from approval_voters v where v.vault_id = o.vault_id and v.subject_id = o.id
    ) p
    where o.vault_id = ${row.vault_id} and o.id = ${row.source_operation_id}`.execute(trx)
}

async function record(trx: Trx, verb: 'created' | 'deleted', row: StoredRelation, by: ByMember): Promise<void> {
  await audit(
    trx,
    byMember(by),
    `relation.${verb}`,
    { type: 'operation_relation', id: row.id },
    {
      relationType: row.relation_type,
      sourceOperationType: row.source_operation_type,
      sourceOperationId: row.source_operation_id,
      targetOperationType: row.target_operation_type,
      targetOperationId: row.target_operation_id,
      relatedAmountRaw: row.related_amount,
      tokenId: row.token_id,
      createdById: row.created_by_id,
    },
  )
}
