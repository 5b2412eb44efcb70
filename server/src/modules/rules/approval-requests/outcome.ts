import type { Decision, Requirement } from '../policies/decision.ts'

export type ChainOutcome =
  | { effect: 'apply' }
  /** `message` is for the initiator to read. */
  | { effect: 'refuse'; stepIndex: number; message: string }
  | { effect: 'wait'; strictest: Requirement; requirements: (Requirement & { stepIndex: number })[] }

/**
 * The outcome of a chain from the decisions on its steps (contract 11.3). Any block or denial refuses all of it, and a
 * block is reported before a denial. If all steps are allowed or waived, it is applied; otherwise it waits for votes.
 */
export function outcomeOf(decisions: Decision[]): ChainOutcome {
  for (const effect of ['block', 'deny'] as const) {
    const stepIndex = decisions.findIndex((decision) => decision.effect === effect)
    if (stepIndex === -1) continue
    return { effect: 'refuse', stepIndex, message: decisions[stepIndex]!.blockReason ?? 'No policy allows this' }
  }
  const requirements = decisions.flatMap((decision, stepIndex) =>
    decision.requirements.map((requirement) => ({ ...requirement, stepIndex })),
  )
  const strictest = requirements.filter(({ bypassed }) => !bypassed).toSorted(strictestFirst(decisions))[0]
  return strictest === undefined ? { effect: 'apply' } : { effect: 'wait', strictest, requirements }
}

/** Highest threshold, then without adminBypass, then lowest id: as within one decision (contract 8.5). */
function strictestFirst(decisions: Decision[]): (a: Requirement, b: Requirement) => number {
  const withBypass = new Set(
    decisions.flatMap(({ policies }) => policies.filter(({ adminBypass }) => adminBypass).map(({ id }) => id)),
  )
  return (a, b) => {
    if (a.threshold !== b.threshold) return b.threshold - a.threshold
    const order = Number(withBypass.has(a.policyId)) - Number(withBypass.has(b.policyId))
    if (order !== 0) return order
    return a.policyId < b.policyId ? -1 : 1
  }
}
