import type { Static, TSchema } from 'typebox'
import { createValidatorCompiler, ValidationError } from '../../../http/validation.ts'
import { badRequest, faulty } from '../../../lib/errors.ts'
import type { Step } from '../../rules/votes/applier.ts'

const compile = createValidatorCompiler([])

/** Makes a reader of payloads that checks them as the body of a route is checked; it throws 400 with the path. */
export function payloadReader<const T extends TSchema>(schema: T): (payload: unknown) => Static<T> {
  const validate = compile({ schema: schema as never, method: 'POST', url: '', httpPart: 'body' })
  return (payload) => {
    const outcome = validate(payload) as { error?: unknown } | undefined
    if (outcome?.error instanceof ValidationError) throw faulty(outcome.error.faults)
    return payload as Static<T>
  }
}

/** @throws 400 when the action names no target */
export function targetOf(step: Step): string {
  if (step.targetId === null) throw badRequest('targetId', `is required for ${step.action}`)
  return step.targetId
}

/** @throws 400 when an action that creates names a target */
export function assertNoTarget(step: Step): void {
  if (step.targetId !== null) throw badRequest('targetId', `does not belong to ${step.action}`)
}
