import { Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, Profile, pageQuery, Ref, Timestamp } from '../../../http/schema.ts'
import { chainStepsMax } from '../../../lib/limits.ts'
import { RulesVersionNumber } from '../decisions/schema.ts'
import { chainActions } from '../selectors/facts.ts'
import { VoteEvidence } from '../signatures/schema.ts'
import { gatedActions } from '../votes/executor.ts'
import { approverFields, groupVoteFields, PayloadHash, QuorumReachable } from '../votes/schema.ts'
import { requestStatuses } from './lifecycle.ts'

export const requestActions = [...gatedActions, 'composite'] as const

const RequestStatus = Enum(requestStatuses)
const RequestAction = Enum(requestActions)
const StepIndex = Type.Integer({ minimum: 0, examples: [0] })

const StepResults = Type.Array(
  Closed({
    stepIndex: StepIndex,
    action: described(Type.String({ examples: ['counterparty_create'] }), 'Action of the step.'),
    resultId: described(Id, 'Identifier of the object that the step created or changed.'),
  }),
  { description: 'One entry per step, in order.' },
)

export const ApprovalRequest = Closed(
  {
    id: Id,
    vaultId: Id,
    action: described(RequestAction, 'The action that waits for votes; `composite` for several actions.'),
    status: described(RequestStatus, '`pending` while votes are missing; all others are final.'),
    initiatorId: Id,
    initiator: Ref(Profile),
    targetType: described(
      Enum([
        ...(['address', 'counterparty', 'counterparty_group', 'category_assignment', 'hold', 'composite'] as const),
        ...(['transfer', 'wallet_event', 'change_set', 'passkey', 'adjustment'] as const),
      ]),
      'Type of the object that the action creates or changes.',
    ),
    targetId: Nullable(
      Type.String({
        description: 'Identifier of the object; null for a creation or a composite request.',
        examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
      }),
    ),
    baseVersion: Nullable(
      Type.String({
        description:
          'Version of the target at the time of the request; for a category assignment, the version of the category and, ' +
          'after a colon, the version of the assignment.',
        examples: ['3'],
      }),
    ),
    payload: Type.Unknown({
      description: 'The requested change, as it is voted on and will be applied; `{steps}` for a composite request.',
      examples: [{ name: 'Northwind Trading', kind: 'company' }],
    }),
    boundPayload: Closed(
      {
        requestId: described(Id, 'Identifier of the request, so that no vote counts for another one.'),
        vaultId: Id,
        initiatorId: Id,
        action: described(RequestAction, 'The action of the request.'),
        steps: Type.Array(
          Type.Unknown({
            examples: [
              {
                step: {
                  action: 'counterparty_create',
                  targetId: null,
                  payload: { name: 'Northwind', kind: 'company' },
                },
                targetType: 'counterparty',
                targetId: null,
                baseVersion: null,
                facts: {},
              },
            ],
          }),
          {
            description: 'The checked steps with what the policies looked at, exactly as they are hashed and applied.',
          },
        ),
      },
      {
        description:
          'The content to which votes and execution are bound. The SHA-256 of its canonical JSON is `payloadHash`.',
      },
    ),
    payloadHash: described(PayloadHash, 'SHA-256 (hex) of `boundPayload`, to which votes and execution are bound.'),
    signedVotes: Type.Optional(
      described(
        Type.Array(Ref(VoteEvidence)),
        'The votes as they were signed; only in a protected vault, and only when a single request is read.',
      ),
    ),
    decisionPolicyId: Nullable(Id),
    decisionPolicyCode: Nullable(
      Type.String({
        description:
          'Code of the deciding policy. For category_assign and category_edit, this field and `decisionPolicyId` are the key ' +
          'and the id of the category.',
        examples: ['new-counterparties'],
      }),
    ),
    rulesVersion: RulesVersionNumber,
    approvalThreshold: Type.Integer({ minimum: 0, examples: [2] }),
    requirements: Type.Array(
      Closed({
        stepIndex: StepIndex,
        policyId: Id,
        policyCode: Type.String({ examples: ['new-counterparties'] }),
        threshold: Type.Integer({ minimum: 1, examples: [2] }),
        approvalsCount: Type.Integer({ minimum: 0, examples: [1] }),
        bypassed: Type.Boolean({ examples: [false] }),
        ...groupVoteFields,
      }),
      { description: 'Each requirement must reach its threshold. A step that needs no votes has no requirement.' },
    ),
    approvers: Type.Array(
      Closed({
        ...approverFields,
        stepIndexesJson: Type.Array(StepIndex, { description: 'The steps that the vote covers.' }),
      }),
    ),
    quorumReachable: QuorumReachable,
    results: described(
      Nullable(StepResults),
      'Objects that each step created or changed; null before the request is applied.',
    ),
    resolvedResultId: described(
      Nullable(Id),
      'Identifier of the object that the action, or the last step of a composite request, created or changed; null before.',
    ),
    resolvedAt: described(
      Nullable(Timestamp),
      'Instant at which the request was applied, rejected or cancelled, or ended otherwise, in UTC; null before.',
    ),
    failureReason: Nullable(
      Type.String({ description: 'Why the request could not be applied.', examples: ['The counterparty is archived'] }),
    ),
    expiresAt: described(Timestamp, 'Instant at which the time to vote ends, in UTC.'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'ApprovalRequest', description: 'An action that waits for votes, or waited for them.' },
)

/** The answer to a gated action that waits for votes. */
export const WaitingAction = Closed({ request: Ref(ApprovalRequest) }, { $id: 'WaitingAction' })

export const AppliedChain = Closed(
  {
    applied: described(Type.Literal(true), 'Always true: no votes were needed, and all steps were carried out.'),
    results: StepResults,
  },
  { $id: 'AppliedChain' },
)

export const CompositeBody = Closed(
  {
    steps: described(
      Type.Array(
        Closed({
          action: described(Enum(chainActions), 'Action of the step.'),
          payload: Type.Object(
            {},
            {
              additionalProperties: true,
              description:
                'The request body of the single action. A string `$step:N` stands for the id that step N creates.',
              examples: [{ name: 'Northwind Trading', kind: 'company' }],
            },
          ),
          targetId: Type.Optional(
            Nullable(
              Type.String({
                minLength: 1,
                maxLength: 128,
                description: 'Id of the object to change; omitted for a creation.',
                examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
              }),
            ),
          ),
        }),
        { minItems: 1, maxItems: chainStepsMax },
      ),
      'The actions, which are carried out in order, all or none.',
    ),
  },
  {
    $id: 'CompositeActions',
    examples: [
      {
        steps: [
          { action: 'counterparty_create', payload: { name: 'Northwind Trading', kind: 'company' } },
          { action: 'counterparty_group_create', payload: { code: 'suppliers', name: 'Suppliers' } },
        ],
      },
    ],
  },
)

export const RequestQuery = Closed({
  status: Type.Optional(described(RequestStatus, 'Restricts the list to requests of this status.')),
  action: Type.Optional(described(RequestAction, 'Restricts the list to requests for this action.')),
  awaitingMyApproval: Type.Optional(
    Type.Boolean({
      description: 'true restricts the list to requests on which the caller can vote now.',
      examples: [true],
    }),
  ),
  ...pageQuery,
})

export const approvalRequestComponents = [ApprovalRequest, WaitingAction, AppliedChain, CompositeBody]
