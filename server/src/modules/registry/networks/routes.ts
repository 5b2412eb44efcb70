import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { imageEndpoints } from '../images/endpoints.ts'
import { updateNetwork } from './actions.ts'
import { toNetwork } from './present.ts'
import { listNetworks } from './queries.ts'
import { Network, NetworkUpdate } from './schema.ts'

export function networkRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Registry', { access: 'platform', scopes: { reads: 'read', writes: 'write' } })

  api.list('listNetworks', '/networks', {
    access: 'caller',
    summary: 'List networks',
    description: 'The networks of the registry, newest first.',
    item: Network,
    load: (db, _input, page) => listNetworks(db, page),
    present: toNetwork,
  })

  api.patch('updateNetwork', '/networks/:id', {
    summary: 'Update a network',
    description:
      'Changes the logo of a network and its links to block explorers, which are shown beside transactions and addresses. For ' +
      'platform administrators. A network has no links until they are set. Fields that are left out stay.',
    body: NetworkUpdate,
    answers: { 200: Network },
    errors: [404],
    handler: async (trx, { params, body, ...by }) =>
      toNetwork(await updateNetwork(trx, params.id, body, { ...by, isDemo: deps.config.demo })),
  })

  imageEndpoints(api, '/networks/:id', {
    name: 'Network',
    noun: 'a network',
    who: 'For platform administrators. Returns the network, whose `logoUri` is the address of the image.',
    type: 'network',
    answer: Network,
    errors: [404],
    idOf: ({ params }) => params.id,
    change: async (trx, { params, ...by }, logoUri) => {
      const network = await updateNetwork(trx, params.id, { logoUri }, { ...by, isDemo: deps.config.demo })
      return { body: toNetwork(network), vaultId: null }
    },
  })
}
