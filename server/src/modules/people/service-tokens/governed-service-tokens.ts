import { Type } from 'typebox'
import { Closed, Id } from '../../../http/schema.ts'
import { governedAction } from '../../rules/change-sets/governed-actions.ts'
import { createServiceToken } from './actions.ts'
import { addServiceKey, revokeServiceKey } from './keys.ts'
import { AddServiceKey, CreateServiceToken } from './schema.ts'

/** The payload has the digest of the token, which the caller got when they made the request. It is valid after the votes. */
const GovernedServiceToken = Closed({
  ...CreateServiceToken.properties,
  tokenHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})

/** The governed actions on service tokens. */
export const serviceTokenActions = {
  service_token_create: governedAction(
    { operationId: 'createServiceToken', target: null, schema: GovernedServiceToken, isDirectOnly: true },
    async (trx, { payload: { tokenHash, ...payload } }, by) =>
      (await createServiceToken(trx, payload, by, Buffer.from(tokenHash, 'hex'))).row.id,
  ),
  service_key_revoke: governedAction(
    { operationId: 'revokeServiceKey', target: 'service token', schema: Closed({ keyId: Id }) },
    async (trx, { targetId, payload }, by) => {
      await revokeServiceKey(trx, targetId, payload.keyId, by)
      return payload.keyId
    },
  ),
  service_key_add: governedAction(
    { operationId: 'addServiceKey', target: 'service token', schema: AddServiceKey, isDirectOnly: true },
    async (trx, { targetId, payload }, by) => (await addServiceKey(trx, targetId, payload, by)).id,
  ),
}
