import type { Static } from 'typebox'
import { velocityTypes, velocityWindowOf } from '../selectors/selectors.ts'
import {
  type Decision,
  groupThresholdsOf,
  type KeptDecision,
  type PolicyTrace,
  type SelectorTrace,
} from './decision.ts'
import type { PolicyDecision, PolicySimulation } from './schema.ts'

/** The reader of a trace: a reader of the whole vault, the initiator, or another viewer of the subject, such as an approver. */
type TraceReader = { readsAll: boolean; isInitiator: boolean }

/** A decision as it is stored with its subject. */
export function toPolicyDecision(
  { effect, decisionPolicy, trace }: KeptDecision,
  reader: TraceReader,
): Static<typeof PolicyDecision> {
  return { effect, decisionPolicy, trace: toTrace(trace, reader) }
}

export function toPolicySimulation(
  decision: Decision,
  reader: TraceReader,
): Omit<Static<typeof PolicySimulation>, 'funds'> {
  const { effect, blockReason, decisionPolicy, requirements, trace } = decision
  return {
    effect,
    blockReason,
    decisionPolicy,
    requirements: requirements.map(({ policyId, policyCode, threshold, bypassed, approvers }) => ({
      policyId,
      policyCode,
      threshold,
      bypassed,
      groups: groupThresholdsOf(approvers),
    })),
    trace: toTrace(trace, reader),
  }
}

function isPrivate({ selectorType, expected }: SelectorTrace, isInitiator: boolean): boolean {
  // A category that did not match is shown only to readers who may see it.
  if (selectorType === 'percentOfBalance' || selectorType === 'category') return !isInitiator
  if (!velocityTypes.has(selectorType)) return false
  return !isInitiator || velocityWindowOf(selectorType, expected)?.per !== 'initiator'
}

/**
 * Returns a trace without the values that the reader may not see. Administrators and auditors see all sums. The initiator sees the
 * sums and balances of the initiator alone. Every reader sees which selectors matched.
 */
export function toTrace(trace: PolicyTrace[], { readsAll, isInitiator }: TraceReader): PolicyTrace[] {
  if (readsAll) return trace
  return trace.map((policy) => ({
    ...policy,
    rules: policy.rules.map((rule) => ({
      ...rule,
      selectors: rule.selectors.map((selector) =>
        isPrivate(selector, isInitiator) ? { ...selector, observed: null } : selector,
      ),
    })),
  }))
}
