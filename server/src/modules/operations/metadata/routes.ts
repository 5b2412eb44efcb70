import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { operationParams } from '../assignments/schema.ts'
import { changeMetadata } from './actions.ts'
import { MetadataUpdate, OperationMetadata } from './schema.ts'

export function operationMetadataRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Operation categories', { access: 'member', scopes: { writes: 'operate' } })

  api.patch('updateOperationMetadata', '/vaults/:code/operations/:type/:id/metadata', {
    summary: 'Update the metadata of an operation',
    description:
      'Category, tags, payment purpose and note. For the owner of the address of the operation. Fields that are left ' +
      'out stay; null clears a field.',
    errors: ['not_permitted'],
    params: operationParams,
    body: MetadataUpdate,
    answers: { 200: OperationMetadata },
    handler: (trx, { params, body, ...by }) => changeMetadata(trx, params, body, by),
  })
}
