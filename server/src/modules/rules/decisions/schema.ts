import { Type } from 'typebox'
import { Closed, Code, DecimalAmount, described, Enum, Id, Name, Nullable, Ref } from '../../../http/schema.ts'
import * as limits from '../../../lib/limits.ts'
import { actionTypes } from '../selectors/facts.ts'
import { conditionTypes, decisionEffects, policyEffects } from './decision.ts'

export const ActionType = Enum(actionTypes)
export const PolicyEffect = Enum(policyEffects)
export const ConditionType = Enum(conditionTypes)
export const SelectorType = Type.String({ minLength: 1, maxLength: 64, examples: ['amount'] })
export const BlockReason = Type.String({
  minLength: 1,
  maxLength: limits.noteLengthMax,
  description: 'The message for the initiator when this policy blocks.',
  examples: ['Payments stop at the weekend'],
})

export const GroupThreshold = Type.Integer({ minimum: 1, maximum: limits.approvalThresholdMax, examples: [2] })

/** A candidate policy with the results of its rules; part of previews, simulations and stored decisions. */
export const PolicyTrace = Closed(
  {
    policyId: Id,
    policyCode: Code,
    matched: described(Type.Boolean(), 'True if the policy matched, because all its rules hold.'),
    inDoubt: Type.Optional(
      Type.Boolean({
        description:
          'The policy could not be evaluated, so `matched` is the stricter assumption. An `allow` policy with votes ' +
          'then adds its votes but does not permit the action.',
      }),
    ),
    rules: described(
      Type.Array(
        Closed({
          conditionType: Type.String({ examples: ['require'] }),
          matched: described(Type.Boolean(), 'True if the rule holds.'),
          selectors: Type.Array(
            Closed({
              selectorType: SelectorType,
              matched: Type.Boolean({
                description:
                  'True if the selector matched. If it could not be evaluated, true for policies that restrict and false ' +
                  'for policies that allow.',
              }),
              expected: Type.Unknown({
                description: 'The value of the selector.',
                examples: [{ op: 'gt', value: '1000' }],
              }),
              observed: Type.Unknown({
                description:
                  'The value that was compared; null if it could not be determined or the reader may not see it.',
                examples: ['1250'],
              }),
            }),
          ),
        }),
      ),
      'The rules of the policy with their results.',
    ),
  },
  { $id: 'PolicyTrace', description: 'One candidate policy of a decision, matching or not, and why.' },
)

/** The votes of a requirement that groups must give. */
export const GroupThresholds = Type.Array(
  Closed({
    groupId: described(Id, 'Identifier of the policy group.'),
    threshold: described(GroupThreshold, 'Number of votes that members of the group must give.'),
  }),
  {
    description: 'The votes that groups must give, each of another person; empty if any approver may give them.',
  },
)

export const DecisionEffect = Enum(decisionEffects)
export const DecisionPolicy = Nullable(Closed({ id: Id, code: Code, name: Name }))

/** The version of the rules, in answers that show a decision. */
export const RulesVersionNumber = described(
  Nullable(Type.Integer({ minimum: 1, examples: [7] })),
  'The version of the rules of the vault whose policies decided; null before the first version, and if no policy decided.',
)

export const PolicyDecision = Closed(
  {
    effect: described(DecisionEffect, 'Decision of the policies; `deny` if no policy permits the action.'),
    decisionPolicy: DecisionPolicy,
    trace: Type.Array(Ref(PolicyTrace)),
  },
  { $id: 'PolicyDecision', description: 'The decision of the policies, with its trace.' },
)

export const PolicySimulation = Closed(
  {
    effect: described(DecisionEffect, 'Decision that the policies would make; `deny` if no policy permits the action.'),
    blockReason: Nullable(BlockReason),
    decisionPolicy: DecisionPolicy,
    requirements: described(
      Type.Array(
        Closed({
          policyId: Id,
          policyCode: Code,
          threshold: Type.Integer({ minimum: 1, examples: [2] }),
          bypassed: Type.Boolean({
            description: 'True if the votes are waived, because the initiator administers the vault.',
          }),
          groups: GroupThresholds,
        }),
      ),
      'The votes that would be needed, per policy. All must be reached.',
    ),
    trace: Type.Array(Ref(PolicyTrace)),
    funds: Nullable(
      Closed(
        { available: DecimalAmount, missing: DecimalAmount },
        {
          description:
            'Of a transfer: the available balance of its address, and the missing part of the amount. If the missing part ' +
            'is not `0`, an order is refused with 409 whatever the policies decide. null for other actions.',
        },
      ),
    ),
  },
  { $id: 'PolicySimulation', description: 'Decision that the policies would make on an action; nothing is changed.' },
)

export const decisionComponents = [PolicyTrace, PolicyDecision, PolicySimulation]
