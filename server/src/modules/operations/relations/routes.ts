import { type Static, Type } from 'typebox'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { Closed, Ref } from '../../../http/schema.ts'
import { parseBounds } from '../../../lib/period.ts'
import { operationParams } from '../assignments/schema.ts'
import { getOperation } from '../feed/queries.ts'
import { createRelation, deleteRelation } from './actions.ts'
import { toOperationRelation, toRelationOfOperation } from './present.ts'
import { listRelations, listRelationsOf } from './queries.ts'
import { OperationRelation, RelationBody, RelationOfOperation, RelationQuery } from './schema.ts'

export function operationRelationRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Operation relations', {
    access: 'member',
    scopes: { reads: 'read', writes: 'operate' },
  })

  api.list('listOperationRelations', '/vaults/:code/operation-relations', {
    summary: 'List operation relations',
    description:
      'Newest first. Only relations whose two operations the caller may see. `from` and `to` limit the time at which ' +
      'the relation was created. A cursor is valid only with the filters of the request that returned it.',
    querystring: RelationQuery,
    item: OperationRelation,
    cursorOf: ({ member, query }) => ({ list: 'operation-relations', vaultId: member.vault.id, ...wantedBy(query) }),
    load: (db, { member, query }, page) => listRelations(db, visibleScopeOf(member), { ...wantedBy(query), ...page }),
    present: toOperationRelation,
  })

  api.post('createOperationRelation', '/vaults/:code/operation-relations', {
    summary: 'Create an operation relation',
    description:
      'The source is the refund, reversal, correction or replacement of the target. For members who see both ' +
      'operations and own or initiated one of them, and for administrators. Refunds and reversals of a target ' +
      'together never exceed its amount; 409 otherwise.',
    errors: ['not_permitted', 'already_exists', 'amount_exceeded', 'limit_reached', 'wrong_state'],
    body: RelationBody,
    answers: { 201: OperationRelation },
    handler: async (trx, { body, ...by }) => toOperationRelation(await createRelation(trx, body, by)),
  })

  api.delete('deleteOperationRelation', '/vaults/:code/operation-relations/:id', {
    summary: 'Delete an operation relation',
    description: 'For the person who created it, and for administrators.',
    errors: ['not_permitted'],
    answers: { 204: null },
    handler: (trx, { params, ...by }) => deleteRelation(trx, params.id, by),
  })

  api.get('listRelationsOfOperation', '/vaults/:code/operations/:type/:id/relations', {
    summary: 'List relations of an operation',
    description:
      'The relations whose other operation the caller may see, too, newest first. `role` says whether this operation ' +
      'is the source or the target.',
    params: operationParams,
    answers: { 200: Closed({ items: Type.Array(Ref(RelationOfOperation)) }) },
    handler: async (db, { member, params }) => {
      const { id } = await getOperation(db, member, params)
      const rows = await listRelationsOf(db, visibleScopeOf(member), id)
      return { items: rows.map((row) => toRelationOfOperation(row, id)) }
    },
  })
}

const wantedBy = (query: Static<typeof RelationQuery>) => ({
  ...parseBounds(query),
  relationType: query.relationType ?? null,
  sourceOperationId: query.sourceOperationId ?? null,
  targetOperationId: query.targetOperationId ?? null,
  tokenId: query.tokenId ?? null,
})
