import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import { IdParams } from '../../../http/schema.ts'
import { imageEndpoints } from '../images/endpoints.ts'
import { updateNetwork } from './actions.ts'
import { toNetwork } from './present.ts'
import { listNetworks } from './queries.ts'
import { Network, NetworkQuery, NetworkUpdate } from './schema.ts'

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

  api.patch(
    '/networks/:id',
    {
      operationId: 'updateNetwork',
      summary: 'Update a network',
      description:
        'Its logo, and its links to block explorers, which are shown beside transactions and addresses. For platform administrators. ' +
        'A network has none until they are set. Fields that are left out stay.',
      access: 'platform',
      params: IdParams,
      body: NetworkUpdate,
      answers: { 200: Network },
      errors: [404],
    },
    async (trx, { params, body, ...by }) =>
      ok(toNetwork(await updateNetwork(trx, params.id, body, { ...by, isDemo: deps.config.demo }))),
  )

  imageEndpoints(
    api,
    {
      path: '/networks/:id',
      name: 'Network',
      noun: 'a network',
      who: 'For platform administrators. Answers the network, whose `logoUri` is the address of the image.',
      type: 'network',
      access: 'platform',
      params: IdParams,
      answer: Network,
      errors: [404],
    },
    ({ params }) => params.id,
    async (trx, { params, ...by }, logoUri) => {
      const network = await updateNetwork(trx, params.id, { logoUri }, { ...by, isDemo: deps.config.demo })
      return { body: toNetwork(network), vaultId: null }
    },
  )
}
