import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { created } from '../../../http/mutate.ts'
import { Closed, pageQuery, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { createServiceToken, revokeServiceToken } from './actions.ts'
import { toServiceToken } from './present.ts'
import { listServiceTokens } from './queries.ts'
import { CreateServiceToken, ServiceToken } from './schema.ts'

const ofVault = { access: 'administrator', params: VaultParams } as const

export function serviceTokenRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Service tokens')

  api.post(
    '/vaults/:code/service-tokens',
    {
      operationId: 'createServiceToken',
      summary: 'Create a service token',
      description:
        'For administrators of the vault. Creates a service, which becomes a member of the given groups, and its token. ' +
        'The token is shown in this answer only.',
      ...ofVault,
      body: CreateServiceToken,
      answers: { 201: ServiceToken },
    },
    async (trx, { body, ...by }) => {
      const { row, token } = await createServiceToken(trx, body, by)
      return created({ ...toServiceToken(row), token }, { secrets: ['token'] })
    },
  )

  api.list(
    '/vaults/:code/service-tokens',
    {
      operationId: 'listServiceTokens',
      summary: 'List service tokens',
      description:
        'For administrators and auditors of the vault. Newest first, revoked ones included, without the tokens themselves.',
      access: 'auditor',
      params: VaultParams,
      querystring: Closed(pageQuery),
      item: ServiceToken,
    },
    (db, { member }, page) => listServiceTokens(db, member.vault.id, page),
    toServiceToken,
  )

  api.delete(
    '/vaults/:code/service-tokens/:id',
    {
      operationId: 'revokeServiceToken',
      summary: 'Revoke a service token',
      description:
        'For administrators of the vault. The token is refused from the next request on, and the user of the service is disabled.',
      access: 'administrator',
      params: VaultAndIdParams,
      answers: { 204: null },
    },
    (trx, { params, ...by }) => revokeServiceToken(trx, params.id, by),
  )
}
