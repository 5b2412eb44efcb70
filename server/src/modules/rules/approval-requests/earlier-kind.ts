import type { CounterpartyFacts } from '../policies/decision.ts'
import { type Executor, type PreparedStep, referenceOf } from '../votes/executor.ts'

/**
 * The step with the kind of the counterparty that it is about, as the steps before it create or change it. What else an
 * earlier step will make has no facts yet: who it is, how old, in which groups.
 */
export function withEarlierKind(one: PreparedStep, executor: Executor, earlier: PreparedStep[]): PreparedStep {
  const counterpartyId = counterpartyOf(one, executor)
  const kind = counterpartyId === null ? undefined : kindAfter(earlier, originOf(counterpartyId, earlier))
  if (kind === undefined) return one
  const known = one.facts.counterparty as CounterpartyFacts | undefined
  return { ...one, facts: { ...one.facts, counterparty: { ...known, kind } satisfies CounterpartyFacts } }
}

/** The counterparty that a step names, as target or in its payload: an id, or `$step:N`. */
function counterpartyOf({ targetType, targetId, step }: PreparedStep, { references = {} }: Executor): string | null {
  if (targetType === 'counterparty') return targetId
  const field = Object.keys(references).find((name) => references[name] === 'counterparty')
  return field === undefined ? null : (step.payload[field] as string)
}

function kindAfter(steps: PreparedStep[], origin: string): string | undefined {
  let kind: string | undefined
  for (const [i, { targetType, targetId, step, facts }] of steps.entries()) {
    if (targetType !== 'counterparty') continue
    if ((targetId === null ? `$step:${i}` : originOf(targetId, steps)) !== origin) continue
    kind =
      (step.payload.kind as string | undefined) ?? kind ?? (facts.counterparty as CounterpartyFacts | undefined)?.kind
  }
  return kind
}

/** The id of what exists already, or the `$step:N` of the creation: an update in between may be referred to as well. */
function originOf(id: string, steps: PreparedStep[]): string {
  const index = referenceOf(id)
  const target = index === null ? null : steps[index]!.targetId
  return target === null ? id : originOf(target, steps)
}
