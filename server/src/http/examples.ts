/** The keywords of JSON Schema 2020-12 that our schemas use. */
export type JsonSchema = {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  default?: unknown
  examples?: unknown[]
  format?: string
  properties?: Record<string, JsonSchema>
  patternProperties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  items?: JsonSchema | JsonSchema[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  minItems?: number
  maxItems?: number
}

/** A component may contain itself; its example stops at this depth. */
const depthMax = 24

/**
 * An example of what a schema describes: its own `examples`, `const`, `enum` or `default`, else made of its parts, the
 * optional ones included. `components` are the schemas that `#/components/schemas/<Name>` refers to.
 */
export function exampleOf(schema: JsonSchema, components: Record<string, JsonSchema>, depth = 0): unknown {
  if (schema.examples !== undefined && schema.examples.length > 0) return schema.examples[0]
  if ('const' in schema) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if ('default' in schema) return schema.default
  if (depth > depthMax) return null
  if (schema.$ref !== undefined) return exampleOf(resolve(schema.$ref, components), components, depth + 1)
  if (schema.allOf !== undefined) {
    return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, components, depth + 1)))
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) {
    const telling = choices.find((choice) => choice.type !== 'null') ?? {}
    return exampleOf(telling, components, depth + 1)
  }
  const type = Array.isArray(schema.type) ? schema.type.find((name) => name !== 'null') : schema.type
  if (type === 'object' || schema.properties !== undefined) return exampleOfObject(schema, components, depth)
  if (type === 'array') return exampleOfArray(schema, components, depth)
  if (type === 'string') return exampleOfString(schema)
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  if (type === 'boolean') return true
  return null
}

function resolve(ref: string, components: Record<string, JsonSchema>): JsonSchema {
  const name = ref.replace('#/components/schemas/', '')
  const found = components[name]
  if (found === undefined) throw new Error(`There is no schema component ${name}`)
  return found
}

function exampleOfObject(schema: JsonSchema, components: Record<string, JsonSchema>, depth: number): unknown {
  const members = Object.entries(schema.properties ?? {})
  const example = Object.fromEntries(members.map(([name, part]) => [name, exampleOf(part, components, depth + 1)]))
  const free = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties
  if (members.length === 0 && typeof free === 'object') return { key: exampleOf(free, components, depth + 1) }
  return example
}

function exampleOfArray(schema: JsonSchema, components: Record<string, JsonSchema>, depth: number): unknown[] {
  if (Array.isArray(schema.items)) return schema.items.map((item) => exampleOf(item, components, depth + 1))
  if (schema.items === undefined || schema.maxItems === 0) return []
  const item = exampleOf(schema.items, components, depth + 1)
  return Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () => item)
}

function exampleOfString(schema: JsonSchema): string {
  if (schema.format === 'date-time') return '2026-01-31T09:30:00.000Z'
  return 'text'.padEnd(schema.minLength ?? 0, 'x')
}
