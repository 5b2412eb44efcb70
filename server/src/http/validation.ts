import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import type { FieldFault } from '../lib/errors.ts'
import { faultsListedMax, faultyValuesMax, validationErrorsMax } from '../lib/limits.ts'
import { parseTimestamp } from '../lib/period.ts'
import { faultOfText } from './plain-text.ts'

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

type Given = { value: unknown; faults: FieldFault[]; valuesCount: number }
type JsonSchema = { properties?: Record<string, { type?: string }> }

/**
 * Compiles schemas at their first use, so that start-up does not pay for routes that nobody calls. Bodies are never
 * coerced; query and path values arrive as text and are read as what their schema says. Every fault is named, so that a
 * caller can mend a request at once.
 */
export function createValidatorCompiler(
  schemas: Record<string, unknown>[],
): FastifySchemaCompiler<Record<string, unknown>> {
  const options = { strict: false, useDefaults: true, formats }
  const untilFirst = new Ajv({ ...options, schemas })
  const forEvery = new Ajv({ ...options, schemas, allErrors: true })
  return ({ schema, httpPart = 'body' }) => {
    let validate: ValidateFunction | undefined
    return (given: unknown) => {
      const { value, faults, valuesCount } =
        httpPart === 'body' ? readBody(given) : readText(given, schema as JsonSchema)
      validate ??= untilFirst.compile(schema)
      const isValid = validate(value)
      if (isValid && faults.length === 0) return { value }
      if (!isValid) {
        // To look on after a fault takes time and memory for each value that is wrong, so it is done for what is small.
        const look = valuesCount > faultyValuesMax ? validate : forEvery.compile(schema)
        if (look !== validate) look(value)
        const hidden = new Set(faults.map(({ field }) => field))
        faults.unshift(...tell((look.errors ?? []).slice(0, validationErrorsMax), httpPart, hidden))
      }
      return { error: new ValidationError(faults.slice(0, faultsListedMax)) }
    }
  }
}

/** Looks for text that people cannot read as it is, whatever field it is in, so that a new field needs no rule of its own. */
function readBody(body: unknown): Given {
  const faults: FieldFault[] = []
  let valuesCount = 0
  const look = (value: unknown, path: string[]) => {
    valuesCount += 1
    if (typeof value === 'string') check(value, path, path.findLast((part) => !/^\d+$/.test(part)) ?? '')
    else if (Array.isArray(value)) for (const [i, item] of value.entries()) look(item, [...path, String(i)])
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        check(key, path, '')
        look(item, [...path, key])
      }
    }
  }
  const check = (text: string, path: string[], field: string) => {
    const message = faultOfText(text, field)
    if (message !== null && faults.length < faultsListedMax) faults.push({ field: path.join('.') || 'body', message })
  }
  look(body, [])
  return { value: body, faults, valuesCount }
}

/** Numbers and truth values have one spelling; a parameter that has one value may be given once. */
function readText(given: unknown, { properties = {} }: JsonSchema): Given {
  const faults: FieldFault[] = []
  // Without a prototype, so that a parameter named __proto__ is one like any other, and unknown.
  const value: Record<string, unknown> = Object.create(null)
  for (const [name, texts] of Object.entries(given as Record<string, string | string[]>)) {
    const type = properties[name]?.type
    if (type === 'array') value[name] = Array.isArray(texts) ? texts : [texts]
    else {
      if (Array.isArray(texts) && name in properties) faults.push({ field: name, message: 'may be given only once' })
      value[name] = readScalar(Array.isArray(texts) ? texts[0] : texts, type)
    }
  }
  return { value, faults, valuesCount: Object.keys(value).length }
}

function readScalar(text: string | undefined, type: string | undefined): unknown {
  if (type === 'integer' && /^(0|-?[1-9]\d{0,14})$/.test(text ?? '')) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** The faults that a caller can do something about: not that a value is not null either, nor a pattern beside what says more. */
function tell(errors: ErrorObject[], httpPart: string, hidden: Set<string>): FieldFault[] {
  const told = errors.filter((error) => {
    const isOf = (other: ErrorObject) => other !== error && other.instancePath.startsWith(error.instancePath)
    // What an alternative lacks is told by the errors of that alternative.
    if (error.keyword === 'anyOf') return false
    if (error.keyword === 'type' && error.params.type === 'null') {
      return !errors.some((other) => isOf(other) && other.keyword !== 'anyOf')
    }
    if (error.keyword === 'pattern') {
      const isReported = hidden.has(toFault(error, httpPart).field)
      return !isReported && !errors.some((other) => isOf(other) && /^m(in|ax)Length$/.test(other.keyword))
    }
    return true
  })
  return told.map((error) => toFault(error, httpPart))
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
