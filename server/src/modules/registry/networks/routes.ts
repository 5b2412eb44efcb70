import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { toNetwork } from './present.ts'
import { listNetworks } from './queries.ts'
import { Network, NetworkQuery } from './schema.ts'

export function networkRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Registry')

  api.list(
    '/networks',
    {
      operationId: 'listNetworks',
      summary: 'List networks',
      description: 'The networks of the registry, newest first.',
      access: 'caller',
      querystring: NetworkQuery,
      item: Network,
    },
    (db, _input, page) => listNetworks(db, page),
    toNetwork,
  )
}
