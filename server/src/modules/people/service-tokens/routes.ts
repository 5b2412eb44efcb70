import { serviceTokenPrefix } from '../../../access/authenticate.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted, created, noContent } from '../../../http/mutate.ts'
import { Closed, pageQuery, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { forbidden } from '../../../lib/errors.ts'
import { newSecret, sha256 } from '../../../lib/secrets.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { governedIn } from '../../rules/governance/govern.ts'
import { createServiceToken, revokeServiceToken } from './actions.ts'
import { addServiceKey, findService, listServiceKeys, revokeServiceKey } from './keys.ts'
import { toServiceKey, toServiceToken } from './present.ts'
import { listServiceTokens } from './queries.ts'
import {
  AddServiceKey,
  CreateServiceToken,
  ServiceKey,
  ServiceKeyParams,
  ServiceToken,
  WaitingServiceToken,
} from './schema.ts'

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
      confirmed: 'where protected',
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

  api.list(
    '/vaults/:code/service-tokens/:id/keys',
    {
      operationId: 'listServiceKeys',
      summary: 'List the keys of a service',
      description: 'For administrators and auditors of the vault. Newest first, revoked ones included.',
      access: 'auditor',
      params: VaultAndIdParams,
      querystring: Closed(pageQuery),
      item: ServiceKey,
    },
    async (db, { member, params }, page) => {
      const vaultId = member.vault.id
      const { user_id: userId } = await findService(db, vaultId, params.id)
      return listServiceKeys(db, { vaultId, userId }, page)
    },
    toServiceKey,
  )

  api.post(
    '/vaults/:code/service-tokens/:id/keys',
    {
      operationId: 'addServiceKey',
      summary: 'Add a key of a service',
      description:
        'For administrators of the vault: the service itself may not, because a thief of its token is the service. With the ' +
        'private key, which nobody sends anywhere, the service signs in a protected vault (docs/signed-orders.md). A change ' +
        'of the rules: where governance is on, it waits for votes.',
      access: 'administrator',
      params: VaultAndIdParams,
      confirmed: true,
      errors: ['already_exists', 'limit_reached', 'person_required', 'quorum_unreachable', 'wrong_state'],
      body: AddServiceKey,
      answers: { 201: ServiceKey, 202: WaitingAction },
    },
    async (trx, { params, body, ...by }) => {
      if (by.member.kind !== 'person') throw forbidden('person_required', 'A person registers the keys of services')
      if (by.member.vault.protection === 'off') await by.confirm(trx, { unlessNone: true })
      return governed(trx, by, ['service_key_add', params.id, body], async () =>
        created(toServiceKey(await addServiceKey(trx, params.id, body, by))),
      )
    },
  )

  api.delete(
    '/vaults/:code/service-tokens/:id/keys/:keyId',
    {
      operationId: 'revokeServiceKey',
      summary: 'Revoke a key of a service',
      description: 'For administrators of the vault. Its signatures are refused from the next request on.',
      access: 'administrator',
      params: ServiceKeyParams,
      errors: ['limit_reached', 'quorum_unreachable'],
      confirmed: 'where protected',
      answers: { 202: WaitingAction, 204: null },
    },
    (trx, { params: { id, keyId }, ...by }) =>
      governed(trx, by, ['service_key_revoke', id, { keyId }], async () => {
        await revokeServiceKey(trx, id, keyId, by)
        return noContent()
      }),
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
