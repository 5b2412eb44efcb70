import type { Trx } from '../../../db/client.ts'
import type { Executors, PreparedStep, Step, StepContext } from '../votes/executor.ts'
import { executorOf } from './apply.ts'
import type { RequestAction } from './payload.ts'
import { assertReferences, assertReferenceTypes } from './references.ts'
import { inStep } from './step-faults.ts'

/**
 * Checks every step and brings it into the form that is stored, hashed and applied.
 * @throws 400 with paths into the request, 404, 409
 */
export async function prepareSteps(
  trx: Trx,
  {
    context,
    action,
    steps,
    executors,
  }: { context: StepContext; action: RequestAction; steps: Step[]; executors: Executors },
): Promise<PreparedStep[]> {
  for (const [i, step] of steps.entries()) {
    await inStep(action, i, async () => {
      assertReferences(step, i)
    })
  }
  const prepared: PreparedStep[] = []
  for (const [i, step] of steps.entries()) {
    const executor = executorOf(executors, step.action)
    const one = await inStep(action, i, async () => {
      const outcome = await executor.prepare(trx, context, step)
      assertReferenceTypes(outcome, executor, prepared)
      return outcome
    })
    // Only the first step on a target compares its version, because that step changes it.
    const isTouched = one.targetId !== null && prepared.some((earlier) => isSameTarget(earlier, one))
    prepared.push(isTouched ? { ...one, baseVersion: null } : one)
  }
  return prepared
}

function isSameTarget(a: PreparedStep, b: PreparedStep): boolean {
  return a.targetType === b.targetType && a.targetId === b.targetId
}
