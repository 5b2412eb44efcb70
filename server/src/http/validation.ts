import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import type { FieldFault } from '../lib/errors.ts'
import { faultsListedMax, faultyValuesMax, validationErrorsMax } from '../lib/limits.ts'
import { parseTimestamp } from '../lib/period.ts'

/** The formats of our schemas. An impossible date is refused, not rolled over. */
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

type Reading = { value: unknown; faults: FieldFault[]; valuesCount: number }
type JsonSchema = { $ref?: string; properties?: Record<string, { type?: string; items?: object }> }

/**
 * Compiles each schema at its first use, so that the start does not pay for unused routes. Bodies are never coerced; query and
 * path values arrive as text and are read as the type of their schema. All faults are reported, so that a caller can correct a
 * request in one step.
 */
export function createValidatorCompiler(
  schemas: Record<string, unknown>[],
): FastifySchemaCompiler<Record<string, unknown>> {
  const { untilFirst, forEvery } = compilersOf(schemas)
  const resolve = (schema: JsonSchema) =>
    schema.$ref === undefined ? schema : ((schemas.find(({ $id }) => $id === schema.$ref) ?? {}) as JsonSchema)
  return ({ schema, httpPart = 'body' }) => {
    let validate: ValidateFunction | undefined
    return (sent: unknown) => {
      const { value, faults, valuesCount } = httpPart === 'body' ? readBody(sent) : readText(sent, schema as JsonSchema)
      validate ??= untilFirst(schema as object)
      const isValid = validate(value)
      if (isValid && faults.length === 0) return { value }
      if (!isValid) {
        // To continue after a fault takes time and memory for each wrong value. So only small requests are checked in full; of
        // a large request, the first fault of each row is reported.
        const errors =
          valuesCount > faultyValuesMax
            ? [...errorsOfRows(untilFirst, resolve(schema as JsonSchema), value), ...(validate.errors ?? [])]
            : errorsOf(forEvery(schema as object), value)
        const hidden = new Set(faults.map(({ field }) => field))
        faults.unshift(...toFaults(unique(errors).slice(0, validationErrorsMax), httpPart, hidden))
      }
      return { error: new ValidationError(faults.slice(0, faultsListedMax)) }
    }
  }
}

type Compile = (schema: object) => ValidateFunction
type Compilers = { untilFirst: Compile; forEvery: Compile }
const known = new WeakMap<object, Compilers>()

/**
 * Returns the compiled validators. Services of one process with the same components share them, because tests start hundreds of
 * services.
 */
function compilersOf(schemas: Record<string, unknown>[]): Compilers {
  const options = { strict: false, useDefaults: true, formats, schemas }
  const compilers = known.get(schemas) ?? {
    untilFirst: compilerOf(new Ajv(options)),
    forEvery: compilerOf(new Ajv({ ...options, allErrors: true })),
  }
  known.set(schemas, compilers)
  return compilers
}

/** Compiles a schema once, also when another service defines the same schema again. */
function compilerOf(ajv: Ajv): Compile {
  const bySchema = new WeakMap<object, ValidateFunction>()
  const byText = new Map<string, ValidateFunction>()
  const compile = (schema: object) => {
    const text = JSON.stringify(schema)
    const validate = byText.get(text) ?? ajv.compile(schema)
    byText.set(text, validate)
    return validate
  }
  return (schema) => {
    const validate = bySchema.get(schema) ?? compile(schema)
    bySchema.set(schema, validate)
    return validate
  }
}

function errorsOf(validate: ValidateFunction, value: unknown): ErrorObject[] {
  return validate(value) ? [] : (validate.errors ?? [])
}

/** Returns the first fault of each faulty row of a body with `rows`, with the path of the row. */
function errorsOfRows(compile: Compile, { properties = {} }: JsonSchema, body: unknown): ErrorObject[] {
  const items = properties.rows?.items
  const rows = (body as { rows?: unknown } | null)?.rows
  if (items === undefined || !Array.isArray(rows)) return []
  const validate = compile(items)
  const found: ErrorObject[] = []
  for (const [i, row] of rows.entries()) {
    if (found.length >= faultsListedMax) break
    found.push(
      ...errorsOf(validate, row).map((error) => ({ ...error, instancePath: `/rows/${i}${error.instancePath}` })),
    )
  }
  return found
}

const unique = (errors: ErrorObject[]): ErrorObject[] => [
  ...new Map(
    errors.map((error) => [`${error.instancePath} ${error.keyword} ${JSON.stringify(error.params)}`, error]),
  ).values(),
]

/** Checks every text of a body for characters that hide or disguise it, so that a new field needs no rule of its own. */
function readBody(body: unknown): Reading {
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

/** Reads text values as their types. Numbers and booleans have one spelling; a parameter that is not an array may occur once. */
function readText(sent: unknown, { properties = {} }: JsonSchema): Reading {
  const faults: FieldFault[] = []
  // The object has no prototype, so that a parameter named __proto__ is an unknown parameter like any other.
  const value: Record<string, unknown> = Object.create(null)
  for (const [name, texts] of Object.entries(sent as Record<string, string | string[]>)) {
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

/**
 * Returns the faults that help a caller. It leaves out "must be null" beside the fault of the other alternative, and a pattern
 * beside a more precise fault of the same value.
 */
function toFaults(errors: ErrorObject[], httpPart: string, hidden: Set<string>): FieldFault[] {
  const reported = errors.filter((error) => {
    const isOf = (other: ErrorObject) => other !== error && other.instancePath.startsWith(error.instancePath)
    // The errors of the alternatives say what is wrong with each.
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
  return reported.map((error) => withLine(toFault(error, httpPart)))
}

/** Adds the line of a row. Rows are counted from 1, like the lines of a file. */
function withLine(fault: FieldFault): FieldFault {
  const row = /^rows\.(\d+)(\.|$)/.exec(fault.field)?.[1]
  return row === undefined ? fault : { line: Number(row) + 1, ...fault }
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

/** The names of the fields whose text may have several lines. Every other text is one line. */
const multiLineFields = new Set([
  'blockReason',
  'comment',
  'description',
  'helpText',
  'note',
  'paymentPurpose',
  'reason',
])

/** An emoji that may need joiners and variation selectors to be drawn. Unicode defines its look, so it cannot hide text. */
// biome-ignore lint/complexity/useRegexLiterals: TypeScript knows the flag v of a literal only from ES2024 on.
const emoji = new RegExp('\\p{RGI_Emoji}', 'gv')
const lineBreaksAndTabs = /[\t\n\r]/g
/** Control characters, line separators, and characters that are invisible or change the direction of text. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

/**
 * Returns the reason for which a text cannot be shown to people as it is, or null. People vote on texts that they read, so a
 * name must not look like another one or hide a part of itself.
 */
export function faultOfText(text: string, field: string): string | null {
  const isMultiLine = multiLineFields.has(field)
  const rest = text.replace(emoji, '').replace(lineBreaksAndTabs, (found) => (isMultiLine ? '' : found))
  const found = hidden.exec(rest)?.[0]
  if (found === undefined) return null
  if (found === '\n' || found === '\r') return 'must be one line'
  const code = found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  return `must not hold the invisible character U+${code}`
}
