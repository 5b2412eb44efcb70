import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, optional, pageQuery, Ref, Timestamp } from '../../../http/schema.ts'
import { backtestDaysOfVoters, backtestDecisionsMax, backtestInlineMax } from '../../../lib/limits.ts'
import { DecisionEffect, DecisionPolicy, PolicyTrace } from '../../rules/decisions/schema.ts'
import { DraftPolicies, TriedPolicies } from '../../rules/policies/form-schema.ts'
import { changes } from './decide-again.ts'
import { subjectTypes } from './stored-decisions.ts'

const periodsOfVoter = backtestDaysOfVoters.join(', ').replace(/, (\d+)$/, ' and $1')
const boundText = 'inclusive: an ISO 8601 timestamp, or YYYY-MM-DD for a whole UTC day.'

export const BacktestOrder = Closed(
  {
    policies: optional(TriedPolicies, 'Policies that alone decide, in place of the saved ones.'),
    draft: optional(DraftPolicies, 'Policies to try alone or together with the saved policies.'),
    changeSetId: optional(Id, 'A change set: the rules that it would publish are tried.'),
    from: Type.String({
      maxLength: 40,
      description:
        `Beginning of the interval, ${boundText} For a voter, the interval is the shortest of ${periodsOfVoter} days that ` +
        'contains this time.',
      examples: ['2026-01-01'],
    }),
    to: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          `End of the interval, ${boundText} Now by default. A voter must leave it out: the interval then ends when the ` +
          'votes were requested.',
        examples: ['2026-01-31'],
      }),
    ),
  },
  {
    $id: 'BacktestOrder',
    description: 'Exactly one of `policies`, `draft` and `changeSetId` says what is tried.',
    examples: [{ draft: { mode: 'add', policies: [] }, from: '2026-01-01', to: '2026-01-31' }],
  },
)

export type BacktestOrder = Static<typeof BacktestOrder>

const Count = (description: string) => Type.Integer({ minimum: 0, description, examples: [12] })
const Usd = (description: string) => Type.String({ description, examples: ['12500.00'] })

const BacktestSum = Closed(
  {
    count: Count('Number of decisions of the whole vault.'),
    hiddenCount: Count(
      'Number of decisions that the requester may not see. The sum and the list of changes omit them. 0 for ' +
        'administrators and auditors.',
    ),
    usdValue: Usd('USD value of the orders of the other decisions, at the rates of their day.'),
    unratedCount: Count('Number of these orders without a known rate, which the sum leaves out.'),
  },
  { $id: 'BacktestSum', description: 'Number of decisions, and value of the orders that the requester may see.' },
)

export const backtestStates = ['queued', 'running', 'done', 'failed'] as const

export const Backtest = Closed(
  {
    id: Id,
    status: described(Enum(backtestStates), '`queued` and `running`: the backtest is made in the background.'),
    progress: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'Progress in per cent.',
      examples: [100],
    }),
    from: described(Timestamp, 'Beginning of the interval, in UTC.'),
    to: described(Timestamp, 'End of the interval, in UTC.'),
    decisionsCount: Count(
      'Number of decisions in the interval at the time of the request; each order of a payout counts.',
    ),
    result: described(
      Nullable(
        Closed({
          evaluated: Count('Number of decisions that were made again; a payout counts once.'),
          same: described(Ref(BacktestSum), 'Decisions that would have been the same.'),
          stricter: described(
            Ref(BacktestSum),
            'Decisions that would have required more votes, or would have been refusals.',
          ),
          looser: described(
            Ref(BacktestSum),
            'Decisions that would have required fewer votes, or would not have been refusals.',
          ),
          undecidable: described(Ref(BacktestSum), 'Decisions whose record lacks a fact that a policy needs.'),
        }),
      ),
      'null until it is `done`.',
    ),
    failure: Nullable(
      Type.String({ description: 'Reason of the failure.', examples: ['The backtest could not be made'] }),
    ),
    createdAt: Timestamp,
    startedAt: described(Nullable(Timestamp), 'Time of the start, in UTC; null before the start.'),
    finishedAt: described(Nullable(Timestamp), 'Time of the end, in UTC; null before the end.'),
  },
  {
    $id: 'Backtest',
    description:
      `Past decisions, made again under other policies; nothing is changed. Up to ${backtestInlineMax} decisions are made ` +
      `again at once, up to ${backtestDecisionsMax} in the background.`,
  },
)
export type Backtest = Static<typeof Backtest>

const BacktestOutcome = Closed(
  {
    effect: described(DecisionEffect, 'Decision of the policies; `deny` if no policy permits the action.'),
    decisionPolicy: DecisionPolicy,
    votesNeeded: Count('The largest number of votes that one policy asks for.'),
    trace: described(
      Type.Array(Ref(PolicyTrace)),
      'Every policy that was considered, with the reason why it matches or does not. For an action of several steps, the ' +
        'policies of all steps; for a payout, the policies of the row that decided.',
    ),
  },
  { $id: 'BacktestOutcome', description: 'One of two decisions that a backtest compares.' },
)

export const Changed = Enum(changes)

export const BacktestChange = Closed(
  {
    subjectType: described(
      Enum(subjectTypes),
      'Type of the decided subject. `decision` stands for an action that was refused or carried out at once, without an object.',
    ),
    subjectId: described(Id, 'Identifier of the transfer, payout, approval request or kept decision.'),
    actionType: Type.String({
      description: 'Action type; for an action of several steps, the type of the first step.',
      examples: ['transfer'],
    }),
    createdAt: described(Timestamp, 'Instant of the decision, in UTC.'),
    change: described(Changed, 'The second decision compared with the first.'),
    usdValue: described(
      Nullable(Usd('Value of its orders.')),
      'USD value of its orders; null without a rate, and for actions that move no funds.',
    ),
    lacking: Type.Array(Type.String({ examples: ['destinationAddedAt'] }), {
      description: 'The facts that a policy reads and the record lacks; empty unless `undecidable`.',
    }),
    before: described(Ref(BacktestOutcome), 'The recorded decision.'),
    after: described(Ref(BacktestOutcome), 'The decision of the tried policies, from the facts of its day.'),
  },
  { $id: 'BacktestChange', description: 'A decision that other policies would change.' },
)
export type BacktestChange = Static<typeof BacktestChange>

export const BacktestChangeQuery = Closed({
  ...pageQuery,
  change: optional(Changed, 'Restricts the list to this kind of change.'),
})

export const backtestComponents = [BacktestOrder, BacktestSum, Backtest, BacktestOutcome, BacktestChange]
