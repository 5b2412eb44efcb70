import type { Trx } from '../../../db/client.ts'
import { decide } from '../policies/decide.ts'
import type { Decision } from '../policies/decision.ts'
import type { Facts } from '../policies/facts.ts'
import type { Initiator } from '../policies/queries.ts'
import type { Executors, PreparedStep, StepContext } from '../votes/executor.ts'
import { executorOf } from './apply.ts'

/** Decides on every step by the policies of the vault, or by the executor if its action has other rules. */
export async function decideSteps(
  trx: Trx,
  context: StepContext,
  initiator: Initiator,
  steps: PreparedStep[],
  executors: Executors,
): Promise<Decision[]> {
  const { vaultId, now } = context
  const { userId: initiatorId, groupIds: initiatorGroupIds } = initiator
  const decisions: Decision[] = []
  for (const prepared of steps) {
    const { step, facts } = prepared
    const executor = executorOf(executors, step.action)
    const known = { ...facts, now, initiatorId, initiatorGroupIds } as Facts
    decisions.push(
      executor.decide === undefined
        ? await decide(trx, { vaultId, actionType: step.action, initiator, facts: known })
        : await executor.decide(trx, context, prepared, initiator),
    )
  }
  return decisions
}
