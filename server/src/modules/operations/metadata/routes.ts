import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { mutate, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { Ref } from '../../../http/schema.ts'
import { OperationParams } from '../assignments/schema.ts'
import { changeMetadata } from './actions.ts'
import { MetadataUpdate, OperationMetadata } from './schema.ts'

export function operationMetadataRoutes(app: App, deps: Deps): void {
  app.patch(
    '/vaults/:code/operations/:type/:id/metadata',
    route({
      operationId: 'updateOperationMetadata',
      summary: 'Say what an operation is',
      description: 'By the owner of its address. What is left out stays; null clears.',
      tag: 'Operation categories',
      access: 'member',
      params: OperationParams,
      body: MetadataUpdate,
      answers: { 200: Ref(OperationMetadata) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) => {
        const order = { member, operation: request.params, body: request.body, now: deps.clock() }
        return ok(await changeMetadata(trx, order))
      })
    },
  )
}
