import { badRequest } from '../../../lib/errors.ts'
import type { Step } from '../../rules/votes/executor.ts'

/** @throws 400 when the action names no target */
export function targetOf(step: Step): string {
  if (step.targetId === null) throw badRequest('targetId', `is required for ${step.action}`)
  return step.targetId
}

/** @throws 400 when an action that creates names a target */
export function assertNoTarget(step: Step): void {
  if (step.targetId !== null) throw badRequest('targetId', `does not belong to ${step.action}`)
}
