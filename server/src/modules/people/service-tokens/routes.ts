import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { created, mutate, noContent } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { Closed, PageOf, pageQuery, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { createServiceToken, revokeServiceToken } from './actions.ts'
import { toServiceToken } from './present.ts'
import { listServiceTokens } from './queries.ts'
import { CreateServiceToken, ServiceToken } from './schema.ts'

export function serviceTokenRoutes(app: App, deps: Deps): void {
  app.post(
    '/vaults/:code/service-tokens',
    route({
      operationId: 'createServiceToken',
      summary: 'Create a service and the token it acts with, which is shown only now',
      tag: 'Service tokens',
      access: 'administrator',
      params: VaultParams,
      body: CreateServiceToken,
      answers: { 201: Ref(ServiceToken) },
      errors: [409],
    }),
    (request, reply) =>
      mutate(deps, request, reply, async (trx) => {
        const { row, token } = await createServiceToken(trx, memberOf(request), request.body, deps.clock())
        return created({ ...toServiceToken(row), token }, { secrets: ['token'] })
      }),
  )

  app.get(
    '/vaults/:code/service-tokens',
    route({
      operationId: 'listServiceTokens',
      summary: 'List the service tokens of a vault, revoked ones included, newest first',
      tag: 'Service tokens',
      access: 'administrator',
      params: VaultParams,
      querystring: Closed(pageQuery),
      answers: { 200: PageOf(Ref(ServiceToken)) },
    }),
    async (request) => {
      const { after, limit } = pageOf(request.query)
      const rows = await listServiceTokens(deps.db, memberOf(request).vault.id, after, limit)
      return toPage(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }), toServiceToken)
    },
  )

  app.delete(
    '/vaults/:code/service-tokens/:id',
    route({
      operationId: 'revokeServiceToken',
      summary: 'Revoke a service token',
      description: 'It ends with the next request that carries it. Its user is disabled.',
      tag: 'Service tokens',
      access: 'administrator',
      params: VaultAndIdParams,
      answers: { 204: null },
      errors: [409],
    }),
    (request, reply) =>
      mutate(deps, request, reply, async (trx) => {
        await revokeServiceToken(trx, memberOf(request), request.params.id, deps.clock())
        return noContent()
      }),
  )
}
