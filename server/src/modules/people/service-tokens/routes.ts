import { serviceTokenPrefix } from '../../../access/authenticate.ts'
import { assertScope, scopes } from '../../../access/scopes.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted, isAnswered } from '../../../http/mutate.ts'
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
  ServiceToken,
  serviceKeyParams,
  WaitingServiceToken,
} from './schema.ts'

export function serviceTokenRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Service tokens', {
    access: 'administrator',
    scopes: { reads: 'read', writes: 'rules' },
  })
  const governed = governedIn(deps)

  api.post('createServiceToken', '/vaults/:code/service-tokens', {
    summary: 'Create a service token',
    description:
      'For administrators of the vault. Creates a service, which becomes a member of the groups, and its token. ' +
      'The token is shown in this answer only; in a vault with governance it is valid once the request was approved.',
    errors: ['limit_reached', 'quorum_unreachable'],
    body: CreateServiceToken,
    confirmed: 'where protected',
    answers: { 201: ServiceToken, 202: WaitingServiceToken },
    secrets: ['token'],
    handler: async (trx, { body, ...by }) => {
      const wanted = body.scopes ?? [...scopes]
      for (const scope of wanted) assertScope(by.member, scope)
      const token = newSecret(serviceTokenPrefix)
      const tokenHash = sha256(token)
      const payload = { ...body, scopes: wanted, tokenHash: tokenHash.toString('hex') }
      const answer = await governed(trx, by, ['service_token_create', null, payload], async () => {
        const { row } = await createServiceToken(trx, body, by, tokenHash)
        return { ...toServiceToken(row), token }
      })
      return isAnswered(answer) ? accepted({ ...answer.body, token }) : answer
    },
  })

  api.list('listServiceTokens', '/vaults/:code/service-tokens', {
    summary: 'List service tokens',
    description:
      'For administrators and auditors of the vault. Newest first, including revoked service tokens, without the secrets.',
    access: 'auditor',
    item: ServiceToken,
    load: (db, { member }, page) => listServiceTokens(db, member.vault.id, page),
    present: toServiceToken,
  })

  api.list('listServiceKeys', '/vaults/:code/service-tokens/:id/keys', {
    summary: 'List the keys of a service',
    description: 'For administrators and auditors of the vault. Newest first, including revoked keys.',
    access: 'auditor',
    item: ServiceKey,
    load: async (db, { member, params }, page) => {
      const vaultId = member.vault.id
      const { user_id: userId } = await findService(db, vaultId, params.id)
      return listServiceKeys(db, { vaultId, userId }, page)
    },
    present: toServiceKey,
  })

  api.post('addServiceKey', '/vaults/:code/service-tokens/:id/keys', {
    summary: 'Add a key of a service',
    description:
      'For administrators of the vault, and not for the service itself, so that the thief of its token cannot add a key. ' +
      'With the private key, which never leaves the service, the service signs in a protected vault ' +
      '(docs/signed-orders.md). The key is part of the rules: where governance is on, the request waits for votes.',
    confirmed: true,
    errors: ['already_exists', 'limit_reached', 'person_required', 'quorum_unreachable', 'wrong_state'],
    body: AddServiceKey,
    answers: { 201: ServiceKey, 202: WaitingAction },
    handler: async (trx, { params, body, ...by }) => {
      if (by.member.kind !== 'person') throw forbidden('person_required', 'A person registers the keys of services')
      if (by.member.vault.protection === 'off') await by.confirm(trx, { unlessNone: true })
      return governed(trx, by, ['service_key_add', params.id, body], async () =>
        toServiceKey(await addServiceKey(trx, params.id, body, by)),
      )
    },
  })

  api.delete('revokeServiceKey', '/vaults/:code/service-tokens/:id/keys/:keyId', {
    summary: 'Revoke a key of a service',
    description: 'For administrators of the vault. Its signatures are refused from the next request on.',
    params: serviceKeyParams,
    errors: ['limit_reached', 'quorum_unreachable'],
    confirmed: 'where protected',
    answers: { 202: WaitingAction, 204: null },
    handler: (trx, { params: { id, keyId }, ...by }) =>
      governed(trx, by, ['service_key_revoke', id, { keyId }], () => revokeServiceKey(trx, id, keyId, by)),
  })

  api.delete('revokeServiceToken', '/vaults/:code/service-tokens/:id', {
    summary: 'Revoke a service token',
    description:
      'For administrators of the vault. The token is refused from the next request on, and the user of the service is disabled.',
    answers: { 204: null },
    handler: (trx, { params, ...by }) => revokeServiceToken(trx, params.id, by),
  })
}
