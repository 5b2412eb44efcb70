import type { Deps } from '../../../deps.ts'
import { endpoints } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import type { App } from '../../../http/route.ts'
import { OperationParams } from '../assignments/schema.ts'
import { changeMetadata } from './actions.ts'
import { MetadataUpdate, OperationMetadata } from './schema.ts'

export function operationMetadataRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Operation categories')

  api.patch(
    '/vaults/:code/operations/:type/:id/metadata',
    {
      operationId: 'updateOperationMetadata',
      summary: 'Update the metadata of an operation',
      description:
        'Category, tags, payment purpose and note. For the owner of the address of the operation. Fields that are left ' +
        'out stay; null clears a field.',
      access: 'member',
      params: OperationParams,
      body: MetadataUpdate,
      answers: { 200: OperationMetadata },
      errors: [409],
    },
    async (trx, { params, body, ...by }) => ok(await changeMetadata(trx, params, body, by)),
  )
}
