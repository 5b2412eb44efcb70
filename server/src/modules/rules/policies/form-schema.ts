import { Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, Ref } from '../../../http/schema.ts'
import * as limits from '../../../lib/limits.ts'
import { draftModes } from '../decisions/decide.ts'
import { ActionType, ConditionType, PolicyEffect, SelectorType } from '../decisions/schema.ts'
import { namedBySelectors } from '../selectors/selectors.ts'
import { creation } from './schema.ts'

/** The data from which a client draws a form for policies. */
export const PolicySelectors = Closed(
  {
    conditionTypes: described(Type.Array(ConditionType), 'Possible combinations of the selectors of a rule.'),
    effects: described(Type.Array(PolicyEffect), 'Possible effects of a policy whose rules match.'),
    actionTypes: described(
      Type.Array(
        Closed({
          actionType: ActionType,
          selectors: described(
            Type.Array(
              Closed({
                selectorType: SelectorType,
                label: Type.String({ description: 'A title in words.', examples: ['Amount'] }),
                summary: Type.String({
                  description: 'The property that the selector tests.',
                  examples: ['amount in token units'],
                }),
                names: described(
                  Nullable(Enum(namedBySelectors)),
                  'Type of the objects that the strings of the value name, by id; tokens also by code, networks by slug, ' +
                    'categories by key, segments by the codes of route and variant. null if the vault has no list of them.',
                ),
                operators: Type.Array(Type.String({ examples: ['gt'] }), {
                  description: 'Permitted values of `op`. Empty for a set and for a window.',
                }),
                valueSchema: Type.Record(Type.String(), Type.Unknown(), {
                  description:
                    'JSON Schema (2020-12) of `value`. A value that fits may still be refused: the objects that it names must exist, ' +
                    'checksums of addresses must be right, and `min` must not be above `max`.',
                  examples: [{ anyOf: [{ enum: ['individual', 'company'] }] }],
                }),
              }),
            ),
            'The selectors that a policy for this action may use.',
          ),
        }),
      ),
      'The actions that policies decide on.',
    ),
  },
  { $id: 'PolicySelectors', description: 'The selectors of policies by action, as data for a form.' },
)

const PolicyDraft = Closed(
  { groupId: described(Id, 'Identifier of the policy group that the policy would belong to.'), ...creation },
  { $id: 'PolicyDraft', description: 'A policy as `createPolicy` takes it, which is not saved.' },
)

/** Policies that are tried and not saved. */
export const TriedPolicies = Type.Array(Ref(PolicyDraft), {
  maxItems: limits.draftPoliciesMax,
  description: 'Policies as `createPolicy` takes them. They are not saved.',
})

export const DraftPolicies = Closed({
  mode: described(
    Enum(draftModes),
    '`replace`: the drafts alone decide. `add`: they decide together with the saved policies, and a draft with the code ' +
      'of a saved policy replaces that policy.',
  ),
  policies: TriedPolicies,
})

export const policyFormComponents = [PolicySelectors, PolicyDraft]
