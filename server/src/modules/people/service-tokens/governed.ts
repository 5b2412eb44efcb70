import { Type } from 'typebox'
import { Closed } from '../../../http/schema.ts'
import { governedAction } from '../../rules/governance/actions.ts'
import { createServiceToken } from './actions.ts'
import { CreateServiceToken } from './schema.ts'

/** The token was shown to who asked for it, and is valid from the moment of the change on. */
const GovernedServiceToken = Closed({
  ...CreateServiceToken.properties,
  tokenHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})

/** Service tokens as governed actions. */
export const serviceTokenActions = {
  service_token_create: governedAction(
    { operationId: 'createServiceToken', target: null, schema: GovernedServiceToken, isDirectOnly: true },
    async (trx, { payload: { tokenHash, ...payload } }, by) =>
      (await createServiceToken(trx, payload, by, Buffer.from(tokenHash, 'hex'))).row.id,
  ),
}
