import { serviceTokenPrefix } from '../../../access/authenticate.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted, created } from '../../../http/mutate.ts'
import { Closed, pageQuery, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { newSecret, sha256 } from '../../../lib/secrets.ts'
import { governedIn } from '../../rules/governance/govern.ts'
import { createServiceToken, revokeServiceToken } from './actions.ts'
import { toServiceToken } from './present.ts'
import { listServiceTokens } from './queries.ts'
import { CreateServiceToken, ServiceToken, WaitingServiceToken } from './schema.ts'

const ofVault = { access: 'administrator', params: VaultParams } as const

export function serviceTokenRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Service tokens')
  const governed = governedIn(deps)

  api.post(
    '/vaults/:code/service-tokens',
    {
      operationId: 'createServiceToken',
      summary: 'Create a service token',
      description:
        'For administrators of the vault. Creates a service, which becomes a member of the given groups, and its token. ' +
        'The token is shown in this answer only; in a vault with governance it is valid once the request was approved.',
      ...ofVault,
      errors: ['limit_reached', 'quorum_unreachable'],
      body: CreateServiceToken,
      answers: { 201: ServiceToken, 202: WaitingServiceToken },
    },
    async (trx, { body, ...by }) => {
      const token = newSecret(serviceTokenPrefix)
      const tokenHash = sha256(token)
      const payload = { ...body, tokenHash: tokenHash.toString('hex') }
      const answer = await governed(trx, by, ['service_token_create', null, payload], async () => {
        const { row } = await createServiceToken(trx, body, by, tokenHash)
        return created({ ...toServiceToken(row), token }, { secrets: ['token'] })
      })
      return answer.status === 201 ? answer : { ...accepted({ ...answer.body, token }), secrets: ['token'] }
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
