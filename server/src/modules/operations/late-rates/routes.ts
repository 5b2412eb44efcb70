import type { Deps } from '../../../deps.ts'
import type { App } from '../../../http/endpoints.ts'
import { endpoints } from '../../../http/endpoints.ts'
import { operationParams } from '../assignments/schema.ts'
import { addRate } from './actions.ts'
import { OperationRate } from './schema.ts'

export function lateRateRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'History', { access: 'administrator', scopes: { writes: 'operate' } })

  api.post('addOperationRate', '/vaults/:code/operations/:type/:id/rate', {
    summary: 'Add the USD rate of an operation',
    description:
      'For administrators, when an operation was created without a rate and rates of its time were recorded since. The ' +
      'rate is the one that the operation would have had: the newest at its creation, at most 15 minutes old then. An ' +
      'existing rate is returned unchanged. Reports use an added rate; decisions and velocity limits do ' +
      'not. 409 if no rate of that time is recorded.',
    params: operationParams,
    answers: { 200: OperationRate },
    errors: ['rate_not_recorded'],
    handler: (trx, { params, ...by }) => addRate(trx, params, by),
  })
}
