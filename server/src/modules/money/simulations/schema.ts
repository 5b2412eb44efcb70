import { Type } from 'typebox'
import { Closed, optional } from '../../../http/schema.ts'
import { membershipUserIdLengthMax } from '../../../lib/limits.ts'
import { ActionType } from '../../rules/decisions/schema.ts'
import { DraftPolicies, TriedPolicies } from '../../rules/policies/form-schema.ts'

const examplePayload = {
  fromAddressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
  toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  amount: '1000',
}

export const SimulationOrder = Closed(
  {
    actionType: ActionType,
    initiatorId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: membershipUserIdLengthMax,
        description:
          'The member whose action is simulated; defaults to the caller. Only administrators and auditors may name another ' +
          'member.',
        examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
      }),
    ),
    targetId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'The counterparty or group that a counterparty action would change.',
        examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
      }),
    ),
    policies: optional(
      TriedPolicies,
      'Policies that decide in place of the saved policies; instead of `draft`. Only administrators and auditors may send them.',
    ),
    draft: optional(DraftPolicies, 'Unsaved policies to try. Only administrators and auditors may send them.'),
    payload: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The body of the request for the action: of a transfer, of an address, or the payload of a counterparty action.',
      examples: [examplePayload],
    }),
  },
  {
    $id: 'SimulationOrder',
    examples: [{ actionType: 'transfer', payload: examplePayload }],
  },
)

export const simulationComponents = [SimulationOrder]
