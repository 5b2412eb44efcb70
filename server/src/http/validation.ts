import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import type { FieldFault } from '../lib/errors.ts'
import { parseTimestamp } from '../lib/period.ts'

/** Formats we rely on, spelt out: an impossible date is refused, not rolled over. */
const formats = {
  'date-time': (text: string) => parseTimestamp(text) !== null,
}

/** Thrown by a validator; the error handler turns it into a 400. */
export class ValidationError extends Error {
  readonly faults: FieldFault[]
  constructor(faults: FieldFault[]) {
    super('The request is not valid')
    this.faults = faults
  }
}

/**
 * Compiles schemas at their first use, so that start-up does not pay for routes that nobody calls. Bodies are never
 * coerced; query and path values arrive as text, so they are.
 */
export function createValidatorCompiler(
  schemas: Record<string, unknown>[],
): FastifySchemaCompiler<Record<string, unknown>> {
  const options = { allErrors: false, strict: false, useDefaults: true, formats }
  const forBodies = new Ajv(options)
  const forText = new Ajv({ ...options, coerceTypes: 'array' })
  for (const ajv of [forBodies, forText]) ajv.addSchema(schemas)
  return ({ schema, httpPart }) => {
    const ajv = httpPart === 'body' ? forBodies : forText
    let validate: ValidateFunction | undefined
    return (given: unknown) => {
      // A body that is not there is an empty one: what it lacks is then named, and one without fields may be left out.
      const value = given ?? (httpPart === 'body' ? {} : given)
      validate ??= ajv.compile(schema)
      if (validate(value)) return { value }
      return {
        error: new ValidationError(
          (validate.errors ?? []).slice(0, 1).map((error) => toFault(error, httpPart ?? 'body')),
        ),
      }
    }
  }
}

function toFault(error: ErrorObject, httpPart: string): FieldFault {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer)
  const { params } = error as { params: Record<string, unknown> }
  if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') {
    const name = String(params.additionalProperty ?? params.unevaluatedProperty)
    return {
      field: [...path, name].join('.'),
      message:
        httpPart === 'querystring' ? 'is not a query parameter of this endpoint' : 'is not a field of this request',
    }
  }
  if (error.keyword === 'required') {
    return { field: [...path, String(params.missingProperty)].join('.'), message: 'is required' }
  }
  if (error.keyword === 'enum') {
    return {
      field: path.join('.') || httpPart,
      message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}`,
    }
  }
  return { field: path.join('.') || httpPart, message: error.message ?? 'is not valid' }
}

function unescapePointer(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}
