import {
  asksApproval,
  type PolicySnapshot,
  type PolicyTrace,
  type Rule,
  type RuleTrace,
  type SelectorTrace,
} from './decision.ts'
import type { Facts } from './facts.ts'
import { evaluateSelector } from './selectors.ts'

/** true, false, or null for unknown. Combined by Kleene's logic, so that doubt never outweighs a certain answer. */
type Truth = boolean | null

/**
 * Whether a policy matches, and why. A policy without rules always matches. If the answer is unknown, it is assumed against
 * the request: a policy that restricts (block, approval) matches, and one that only allows does not. The trace marks such
 * an assumption, because it must never be the reason why an action is permitted.
 */
export function evaluatePolicy(policy: PolicySnapshot, facts: Facts): PolicyTrace {
  const assumed = policy.effect !== 'allow' || asksApproval(policy)
  const rules = policy.rules.map((rule) => evaluateRule(rule, facts, assumed))
  const truth = allOf(rules.map(({ truth }) => truth))
  return {
    policyId: policy.id,
    policyCode: policy.code,
    matched: truth ?? assumed,
    inDoubt: truth === null,
    rules: rules.map(({ trace }) => trace),
  }
}

/** Whether a policy cannot match, regardless of the facts that are still unknown. */
export function isRuledOut(policy: PolicySnapshot, facts: Facts): boolean {
  return policy.rules.some(({ conditionType, selectors }) => {
    const truths = selectors.map((selector) => evaluateSelector(selector, facts).matched)
    return combineTruths(conditionType, truths) === false
  })
}

/** `assumed` is the result of a rule that is unknown; the trace then shows its selectors with the assumed results. */
function evaluateRule(
  { conditionType, selectors }: Rule,
  facts: Facts,
  assumed: boolean,
): { truth: Truth; trace: RuleTrace } {
  const assumedOfSelector = conditionType === 'exclude' ? !assumed : assumed
  const truths: Truth[] = []
  const traces: SelectorTrace[] = []
  for (const selector of selectors) {
    const { matched, observed } = evaluateSelector(selector, facts)
    truths.push(matched)
    const { selectorType, value: expected } = selector
    traces.push({ selectorType, matched: matched ?? assumedOfSelector, expected, observed })
  }
  const truth = combineTruths(conditionType, truths)
  return { truth, trace: { conditionType, matched: truth ?? assumed, selectors: traces } }
}

/** The result of a rule without selectors, or of an unknown kind, is unknown. */
function combineTruths(conditionType: string, truths: Truth[]): Truth {
  if (truths.length === 0) return null
  if (conditionType === 'require') return allOf(truths)
  if (conditionType === 'any') return anyOf(truths)
  if (conditionType === 'exclude') return not(anyOf(truths))
  return null
}

function allOf(truths: Truth[]): Truth {
  return not(anyOf(truths.map(not)))
}

function anyOf(truths: Truth[]): Truth {
  if (truths.includes(true)) return true
  return truths.includes(null) ? null : false
}

function not(truth: Truth): Truth {
  return truth === null ? null : !truth
}
