import type { Static, TSchema } from 'typebox'
import { faulty } from '../lib/errors.ts'
import { createValidatorCompiler, ValidationError } from './validation.ts'

const compile = createValidatorCompiler([])

/**
 * Creates a reader of payloads that reach an action on another way than by its own route. It checks a payload like the body of
 * that route.
 * @throws 400 with the paths of the faults
 */
export function payloadReader<const T extends TSchema>(schema: T): (payload: unknown) => Static<T> {
  const validate = compile({ schema: schema as never, method: 'POST', url: '', httpPart: 'body' })
  return (payload) => {
    const outcome = validate(payload) as { error?: unknown } | undefined
    if (outcome?.error instanceof ValidationError) throw faulty(outcome.error.faults)
    return payload as Static<T>
  }
}
