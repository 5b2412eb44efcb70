import { Type } from 'typebox'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { created, mutate, noContent } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { Closed, PageOf, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { cursorTag, pageOf, toPage } from '../../../lib/cursor.ts'
import { notFound } from '../../../lib/errors.ts'
import { parseBounds } from '../../../lib/period.ts'
import { createRelation, deleteRelation } from './actions.ts'
import { toOperationRelation, toRelationOfOperation } from './present.ts'
import { findOperation, listRelations, listRelationsOf, type RelationRow } from './queries.ts'
import { OperationParams, OperationRelation, RelationBody, RelationOfOperation, RelationQuery } from './schema.ts'

const tag = 'Operation relations'

export function operationRelationRoutes(app: App, deps: Deps): void {
  app.get(
    '/vaults/:code/operation-relations',
    route({
      operationId: 'listOperationRelations',
      summary: 'Relations between operations, newest first',
      description:
        'Those both ends of which the caller may see. `from` and `to` are about when the relation was made. A cursor goes with the filters that it was made with.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: RelationQuery,
      answers: { 200: PageOf(Ref(OperationRelation)) },
    }),
    async (request) => {
      const { query } = request
      const member = memberOf(request)
      const wanted = {
        ...parseBounds(query),
        relationType: query.relationType ?? null,
        sourceOperationId: query.sourceOperationId ?? null,
        targetOperationId: query.targetOperationId ?? null,
        tokenId: query.tokenId ?? null,
      }
      const list = cursorTag({ list: 'operation-relations', vaultId: member.vault.id, ...wanted })
      const page = pageOf(query, list)
      const rows = await listRelations(deps.db, visibleScopeOf(member), { ...wanted, ...page })
      const position = (row: RelationRow) => ({ createdAt: row.created_at, id: row.id })
      return toPage(rows, page.limit, position, toOperationRelation, list)
    },
  )

  app.post(
    '/vaults/:code/operation-relations',
    route({
      operationId: 'createOperationRelation',
      summary: 'Say what one operation is to another',
      description:
        'The source is the refund, reversal, correction or replacement of the target. For whoever owns or initiated one of the two and sees both, and for administrators. Refunds and reversals of a target are together never above its amount.',
      tag,
      access: 'member',
      params: VaultParams,
      body: RelationBody,
      answers: { 201: Ref(OperationRelation) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) =>
        created(toOperationRelation(await createRelation(trx, member, request.body, deps.clock()))),
      )
    },
  )

  app.delete(
    '/vaults/:code/operation-relations/:id',
    route({
      operationId: 'deleteOperationRelation',
      summary: 'Take a relation back',
      description: 'For whoever created it, and for administrators.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 204: null },
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) => {
        await deleteRelation(trx, member, request.params.id, deps.clock())
        return noContent()
      })
    },
  )

  app.get(
    '/vaults/:code/operations/:type/:id/relations',
    route({
      operationId: 'listRelationsOfOperation',
      summary: 'All relations of one operation, newest first',
      description: 'Those whose other end the caller may see too. `role` is the part that this operation has.',
      tag,
      access: 'member',
      params: OperationParams,
      answers: { 200: Closed({ items: Type.Array(Ref(RelationOfOperation)) }) },
    }),
    async (request) => {
      const { type, id } = request.params
      const scope = visibleScopeOf(memberOf(request))
      if ((await findOperation(deps.db, scope, type, id)) === null) throw notFound('Operation')
      const rows = await listRelationsOf(deps.db, scope, id)
      return { items: rows.map((row) => toRelationOfOperation(row, id)) }
    },
  )
}
