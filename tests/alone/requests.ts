import type { OpenApiDocument } from '../../server/src/http/openapi-document.ts'
import type { Operation } from '../../server/src/http/openapi-document.ts'
import type { Client } from '../../server/src/testing/app.ts'
import type { Pick } from '../../server/src/testing/rules-model.ts'

/**
 * Requests drawn from every operation of a description of the API that writes: paths and bodies are made from its schemas with
 * values that the API has answered, so that a new operation is drawn without being named.
 */

type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minItems?: number
  minimum?: number
  maximum?: number
  pattern?: string
  examples?: unknown[]
}

export type Drawn = { operationId: string; method: 'post' | 'put' | 'patch' | 'delete'; path: string; body?: unknown }

/** Values of answers: by the name of the property, and ids by the path of the list that has them. */
export type Seen = { byName: Map<string, Set<string>>; idsOf: Map<string, Set<string>> }

type Writing = { path: string; method: Drawn['method']; operation: Operation }

const prefix = '/api/v1'
/** The operations that write, but those that end a session or sign in: who calls stays who they are. */
export function writingOperations(document: OpenApiDocument): Writing[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      method === 'get' ? [] : [{ path, method: method as Drawn['method'], operation }],
    ),
  )
}

/** Reads what there is to read, the lists before what stands under their items, as often as paths have parameters. */
export async function lookAround(document: OpenApiDocument, vault: string, readers: Client[]): Promise<Seen> {
  const seen: Seen = { byName: new Map([['code', new Set([vault])]]), idsOf: new Map() }
  const done = new Set<string>()
  for (let depth = 0; depth < 3; depth += 1) {
    for (const [path, operations] of Object.entries(document.paths)) {
      if (operations.get === undefined || !path.startsWith(prefix)) continue
      for (const url of expand(path.slice(prefix.length), seen).slice(0, itemsMax)) {
        if (done.has(url)) continue
        done.add(url)
        for (const reader of readers) {
          const { status, body } = await reader.get(url as `/vaults/${string}`)
          if (status === 200) remember(seen, path.slice(prefix.length), body)
        }
      }
    }
  }
  return seen
}

const itemsMax = 6

/** The paths that a template stands for, with the ids that were seen; none while an id is missing. */
function expand(template: string, seen: Seen): string[] {
  let paths = ['']
  for (const part of template.split('/').slice(1)) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name === undefined) paths = paths.map((path) => `${path}/${part}`)
    else paths = paths.flatMap((path) => namesFor(name, template, seen).map((value) => `${path}/${value}`))
  }
  return paths
}

function namesFor(name: string, template: string, seen: Seen): string[] {
  if (name === 'code') return [...seen.byName.get('code')!].slice(0, 1)
  const list = template.slice(0, template.indexOf(`/{${name}}`))
  const ids = seen.idsOf.get(list)
  return [...(name === 'id' ? (ids ?? []) : (ids ?? seen.byName.get(name) ?? []))].slice(0, itemsMax)
}

function remember(seen: Seen, list: string, body: unknown): void {
  const items = (body as { items?: { id?: unknown }[] })?.items
  for (const { id } of items ?? []) if (typeof id === 'string') add(seen.idsOf, list, id)
  gather(seen, body)
}

function add(into: Map<string, Set<string>>, name: string, value: string): void {
  const values = into.get(name) ?? new Set()
  into.set(name, values)
  if (values.size < valuesMax) values.add(value)
}

const valuesMax = 40

function gather(seen: Seen, body: unknown, name = ''): void {
  if (Array.isArray(body)) for (const one of body) gather(seen, one, name)
  else if (typeof body === 'object' && body !== null)
    for (const [key, value] of Object.entries(body)) gather(seen, value, key)
  else if (typeof body === 'string' && name !== '') add(seen.byName, name, body)
}

export type Draw = (pick: Pick) => Drawn

/** Draws of one operation each. */
export function drawsOf(document: OpenApiDocument, seen: Seen): Map<string, Draw> {
  const schemas = (document.components as { schemas?: Record<string, Schema> }).schemas ?? {}
  const draws = new Map<string, Draw>()
  for (const { path, method, operation } of writingOperations(document)) {
    const content = (operation.requestBody as { content?: Record<string, { schema?: Schema }> } | undefined)?.content
    const schema = content?.['application/json']?.schema
    const { operationId } = operation as { operationId: string }
    draws.set(operationId, (pick) => {
      const maker = new Maker(schemas, seen, pick)
      const url = maker.path(path.startsWith(prefix) ? path.slice(prefix.length) : `/${path}`)
      return { operationId, method, path: url, ...(schema === undefined ? {} : { body: maker.make(schema, '', 0) }) }
    })
  }
  return draws
}

class Maker {
  readonly #schemas: Record<string, Schema>
  readonly #seen: Seen
  readonly #pick: Pick

  constructor(schemas: Record<string, Schema>, seen: Seen, pick: Pick) {
    this.#schemas = schemas
    this.#seen = seen
    this.#pick = pick
  }

  path(template: string): string {
    return template.replaceAll(/\{(\w+)\}/g, (parameter, name: string) => {
      if (name === 'code') return this.#pick([...this.#seen.byName.get('code')!].slice(0, 1))
      const ids = this.#seen.idsOf.get(template.slice(0, template.indexOf(`/${parameter}`)))
      const named = this.#seen.byName.get(name)
      const found = [...(ids ?? named ?? this.#seen.byName.get('id') ?? [])]
      return found.length === 0 ? 'none' : encodeURIComponent(this.#pick(found))
    })
  }

  make(schema: Schema, name: string, depth: number): unknown {
    if (Array.isArray(schema.type)) return this.make({ ...schema, type: this.#pick(schema.type) }, name, depth)
    if (schema.$ref !== undefined) return this.make(this.#schemas[schema.$ref.split('/').at(-1)!] ?? {}, name, depth)
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return this.#pick(schema.enum)
    const either = schema.anyOf ?? schema.oneOf
    if (either !== undefined) return this.make(this.#pick(either), name, depth)
    if (schema.allOf !== undefined) {
      const parts = schema.allOf.map((part) => this.make(part, name, depth))
      return parts.every((part) => typeof part === 'object') ? Object.assign({}, ...parts) : parts[0]
    }
    if (schema.type === 'null') return null
    if (schema.type === 'boolean') return this.#pick([true, false])
    if (schema.type === 'integer' || schema.type === 'number') return this.#number(schema)
    if (schema.type === 'array') return this.#array(schema, name, depth)
    if (schema.type === 'object' || schema.properties !== undefined) return this.#object(schema, depth)
    if (schema.type === 'string') return this.#text(schema, name)
    return this.#pick([...(schema.examples ?? []), ...this.#values(name), null])
  }

  #number({ minimum = 0, maximum = 1_000, examples = [] }: Schema): unknown {
    return this.#pick([minimum, Math.min(maximum, minimum + 1), Math.min(maximum, minimum + 2), ...examples])
  }

  #array({ items = {}, minItems = 0 }: Schema, name: string, depth: number): unknown[] {
    const count = Math.max(minItems, depth > 4 ? 0 : this.#pick([0, 1, 1, 2]))
    return Array.from({ length: count }, () => this.make(items, name, depth + 1))
  }

  /** Few of the optional properties, so that a change of one of them alone is likely. */
  #object({ properties = {}, required = [] }: Schema, depth: number): object {
    const optional = Object.keys(properties).filter((key) => !required.includes(key))
    const chosen =
      optional.length === 0
        ? []
        : this.#pick([[], [this.#pick(optional)], [this.#pick(optional), this.#pick(optional)]])
    const names = new Set([...required, ...chosen])
    return Object.fromEntries([...names].map((key) => [key, this.make(properties[key] ?? {}, key, depth + 1)]))
  }

  #text({ pattern, examples = [] }: Schema, name: string): unknown {
    const fits = (text: unknown) =>
      typeof text === 'string' && (pattern === undefined || new RegExp(pattern).test(text))
    const found = [...this.#values(name), ...examples, ...this.#values(name)].filter(fits)
    return found.length === 0 ? 'text' : this.#pick(found)
  }

  /** What a property of this name, or of the end of it, was seen to be: `subjectUserId` and `userIds` are user ids. */
  #values(name: string): string[] {
    const exact = this.#seen.byName.get(name)
    if (exact !== undefined) return [...exact]
    const single = name.replace(/s$/, '')
    const names = [...this.#seen.byName.keys()].filter(
      (known) => known === single || (known.length > 4 && single.toLowerCase().endsWith(known.toLowerCase())),
    )
    const values = names.flatMap((known) => [...this.#seen.byName.get(known)!])
    return values.length > 0 || !/id$/i.test(single) ? values : [...(this.#seen.byName.get('id') ?? [])]
  }
}
