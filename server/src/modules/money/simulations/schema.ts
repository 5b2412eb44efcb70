import { type Static, Type } from 'typebox'
import { Closed, described, Id, Nullable, Ref, Timestamp } from '../../../http/schema.ts'
import { backtestItemsMax, backtestTransfersMax, membershipUserIdLengthMax } from '../../../lib/limits.ts'
import { DraftPolicies } from '../../rules/policies/form-schema.ts'
import { ActionType, DecisionEffect, DecisionPolicy, PolicyTrace } from '../../rules/policies/schema.ts'

export const SimulationOrder = Closed(
  {
    actionType: ActionType,
    initiatorId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: membershipUserIdLengthMax,
        description:
          'The member whose action is simulated; defaults to the caller. Only administrators may name another member.',
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
    draft: Type.Optional(
      described(DraftPolicies, 'Policies to try that are not saved. Only administrators may send them.'),
    ),
    payload: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The body of the request for the action: of a transfer, of an address, or the payload of a counterparty action.',
      examples: [
        {
          fromAddressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
          toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          amount: '1000',
        },
      ],
    }),
  },
  {
    $id: 'SimulationOrder',
    examples: [
      {
        actionType: 'transfer',
        payload: {
          fromAddressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
          toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          amount: '1000',
        },
      },
    ],
  },
)

const boundText = 'inclusive: an ISO 8601 timestamp, or YYYY-MM-DD for a whole UTC day.'

export const BacktestOrder = Closed(
  {
    draft: described(DraftPolicies, 'Policies to try that are not saved.'),
    from: Type.String({
      maxLength: 40,
      description: `Beginning of the interval, ${boundText}`,
      examples: ['2026-01-01'],
    }),
    to: Type.Optional(
      Type.String({
        maxLength: 40,
        description: `End of the interval, ${boundText} Now by default.`,
        examples: ['2026-01-31'],
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: backtestTransfersMax,
        default: backtestTransfersMax,
        description: 'Largest number of transfers to evaluate in this call.',
        examples: [1000],
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'nextCursor of the previous answer to the same question.',
      }),
    ),
  },
  {
    $id: 'BacktestOrder',
    examples: [{ draft: { mode: 'add', policies: [] }, from: '2026-01-01', to: '2026-01-31' }],
  },
)

const Count = (description: string) => Type.Integer({ minimum: 0, description, examples: [12] })

const BacktestOutcome = Closed({
  effect: described(DecisionEffect, 'What the policies decide. `deny`: no policy permits the transfer.'),
  decisionPolicy: DecisionPolicy,
  votesNeeded: Count('The largest number of votes that one policy asks for.'),
})

export const Backtest = Closed(
  {
    evaluated: Count('Transfers that were evaluated in this call, the newest first.'),
    same: Count('Of these, transfers whose decision stays the same.'),
    stricter: Count('Transfers that would have needed more votes, or would have been refused.'),
    looser: Count('Transfers that would have needed fewer votes.'),
    inDoubt: Count('Transfers for which the record lacks a fact that a policy asks for; it is assumed against them.'),
    items: Type.Array(
      Closed({
        transferId: described(Id, 'Identifier of the transfer.'),
        createdAt: Timestamp,
        before: described(BacktestOutcome, 'As it was decided when it was ordered.'),
        after: described(BacktestOutcome, 'As the policies that are tried decide.'),
        inDoubt: Type.Boolean({ description: 'Whether a fact that is asked for was not recorded.', examples: [false] }),
        trace: Type.Array(Ref(PolicyTrace)),
      }),
      { maxItems: backtestItemsMax, description: 'The transfers whose decision changes, the newest first.' },
    ),
    nextCursor: described(
      Nullable(Type.String({ examples: ['MTc2ODAuY21pOGgyazFw'] })),
      'Where to go on; null when the interval was evaluated to its end. The counts are of this call alone.',
    ),
  },
  { $id: 'Backtest', description: 'What policies would have decided about past transfers; it changes nothing.' },
)
export type Backtest = Static<typeof Backtest>

export const simulationComponents = [SimulationOrder, BacktestOrder, Backtest]
