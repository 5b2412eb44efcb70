import type { OpenApiDocument, Operation } from '../../server/src/http/openapi-document.ts'
import { fakeAddress } from '../../server/src/testing/fake-wallet.ts'
import { pngOf } from '../../server/src/testing/images.ts'
import type { Pick } from '../../server/src/testing/rules-model.ts'
import { idsAt, type Pool, prefix } from './pool.ts'
import { newServiceKey } from './undone.ts'

/**
 * Requests drawn from every operation of a description of the API that writes: paths and bodies are made from its schemas with
 * values that the API has answered, so that a new operation is drawn without being named.
 */

export type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  additionalProperties?: unknown
  required?: string[]
  items?: Schema
  minItems?: number
  minimum?: number
  maximum?: number
  minLength?: number
  pattern?: string
  examples?: unknown[]
}

type Method = 'post' | 'put' | 'patch' | 'delete'
export type Writing = { operationId: string; path: string; method: Method; operation: Operation }
export type Drawn = { operationId: string; method: Method; path: string; body?: unknown; contentType?: string }

export function writingOperations(document: OpenApiDocument): Writing[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      // A person cannot call the endpoints for directories, which have a test of random calls of their own.
      method === 'get' || path.startsWith('/scim/')
        ? []
        : [
            {
              path,
              method: method as Method,
              operation,
              operationId: (operation as { operationId: string }).operationId,
            },
          ],
    ),
  )
}

/** Draws requests of operations. */
export class Drawer {
  readonly operations: Writing[]
  readonly #schemas: Record<string, Schema>
  readonly #vault: string
  readonly #now: () => Date
  #count = 0

  constructor(document: OpenApiDocument, { vault, now }: { vault: string; now: () => Date }) {
    this.operations = writingOperations(document)
    this.#schemas = (document.components as { schemas?: Record<string, Schema> }).schemas ?? {}
    this.#vault = vault
    this.#now = now
  }

  /** `faulty`: fields that an answer complained of, which are drawn this time, or left out if they were there. */
  draw({ operationId, path, method, operation }: Writing, pool: Pool, pick: Pick, faulty: Faulty = {}): Drawn {
    const url = this.#url(path.startsWith(prefix) ? path.slice(prefix.length) : `/${path}`, pool, pick)
    const content = contentOf(operation)
    const drawn = { operationId, method, path: url }
    if (content === undefined) return drawn
    const schema = content['application/json']?.schema
    if (schema === undefined) return { ...drawn, body: pngOf(this.#fresh()), contentType: 'image/png' }
    const place = { pool, pick, depth: 0, isNew: method === 'post' }
    const body = this.#repair(this.#make(schema, '', place), schema, place, faulty)
    return { ...drawn, body: pick([true, false]) ? agreeing(body, url, pool) : body }
  }

  #repair(made: unknown, schema: Schema, place: Place, faulty: Faulty): unknown {
    const { properties = {}, required = [] } = this.#resolved(schema)
    if (typeof made !== 'object' || made === null) return made
    const body = made as Record<string, unknown>
    for (const [name, isWanted] of Object.entries(faulty)) {
      if (required.includes(name) || !(name in properties)) continue
      if (isWanted) body[name] ??= this.#make(properties[name]!, name, { ...place, depth: 1 })
      else delete body[name]
    }
    return body
  }

  #resolved(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : (this.#schemas[schema.$ref.split('/').at(-1)!] ?? {})
  }

  #url(template: string, pool: Pool, pick: Pick): string {
    let url = ''
    for (const part of template.slice(1).split('/')) {
      const name = /^\{(\w+)\}$/.exec(part)?.[1]
      const ids = name === undefined ? [part] : idsAt(pool, url, name, this.#vault)
      url += `/${ids.length === 0 ? 'none' : newer(pick, ids)}`
    }
    return url
  }

  #fresh(): string {
    this.#count += 1
    return `drawn${this.#count}`
  }

  #make(schema: Schema, name: string, at: Place): unknown {
    const { pick } = at
    if (schema.$ref !== undefined) return this.#make(this.#resolved(schema), name, at)
    if (Array.isArray(schema.type)) return this.#make({ ...schema, type: pick(schema.type) }, name, at)
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return pick(schema.enum)
    const either = schema.anyOf ?? schema.oneOf
    if (either !== undefined) return this.#make(this.#likely(either, pick), name, at)
    if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((part) => this.#make(part, name, at)))
    if (schema.type === 'null') return null
    if (schema.type === 'boolean') return pick([true, false])
    if (schema.type === 'integer' || schema.type === 'number') return numberOf(schema, name, pick)
    const seen = this.#seen(schema, name, at)
    if (schema.type === 'array')
      return seen.length > 0 && pick([true, false]) ? pick(seen) : this.#array(schema, name, at)
    if (schema.type === 'object' || schema.properties !== undefined) {
      const isMap = schema.properties === undefined
      if (isMap && this.#isEmptyFit(schema) && pick([true, false])) return {}
      return seen.length > 0 && (isMap || pick([true, false])) ? pick(seen) : this.#object(schema, at)
    }
    if (schema.type === 'string') return this.#text(schema, name, at)
    return pick([...(schema.examples ?? []), ...at.pool.values(name), null])
  }

  /** Returns true if a map without entries is useful. It is not if each entry must have a form. */
  #isEmptyFit({ additionalProperties }: Schema): boolean {
    return JSON.stringify(additionalProperties) === '{}'
  }

  /** Draws null once in three times only, because people rarely want it. */
  #likely(either: Schema[], pick: Pick): Schema {
    const others = either.filter(({ type }) => type !== 'null')
    return others.length < either.length && pick([false, false, true]) ? { type: 'null' } : pick(others)
  }

  /** The last value of an array or object of this name, without the fields that this schema lacks. */
  #seen(schema: Schema, name: string, { pool }: Place): unknown[] {
    if (schema.type !== 'array' && schema.type !== 'object') return []
    const examples = schema.properties === undefined ? (schema.examples ?? []) : []
    return [...pool.values(name), ...examples].flatMap((value) => {
      const pruned = this.#prune(schema, value)
      return pruned === undefined ? [] : [pruned]
    })
  }

  #prune(schema: Schema, value: unknown): unknown {
    if (schema.$ref !== undefined) return this.#prune(this.#resolved(schema), value)
    if (schema.type === 'array') {
      if (!Array.isArray(value)) return undefined
      const items = value.map((item) => this.#prune(schema.items ?? {}, item))
      return items.includes(undefined) || items.length < (schema.minItems ?? 0) ? undefined : items
    }
    const either = schema.anyOf ?? schema.oneOf
    if (either !== undefined)
      return either.map((variant) => this.#prune(variant, value)).find((pruned) => pruned !== undefined)
    if (schema.enum !== undefined && !schema.enum.includes(value)) return undefined
    if (schema.type === 'string' && typeof value !== 'string') return undefined
    if (schema.type !== 'object') return value
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const { properties, required = [], additionalProperties } = schema
    if (properties === undefined || Object.keys(properties).length === 0) {
      if (typeof additionalProperties !== 'object') return additionalProperties === false ? undefined : value
      const isFit = Object.values(value).every(
        (part) => this.#prune(additionalProperties as Schema, part) !== undefined,
      )
      return isFit && Object.keys(value).length > 0 ? value : undefined
    }
    const kept = Object.entries(value).filter(
      ([key, part]) => key in properties && (part !== null || required.includes(key)),
    )
    const pruned = kept.map(([key, part]) => [key, this.#prune(properties[key]!, part)] as const)
    const isWhole = required.every((key) => kept.some(([other]) => other === key))
    return isWhole && pruned.every(([, part]) => part !== undefined) ? Object.fromEntries(pruned) : undefined
  }

  #array({ items = {}, minItems = 0 }: Schema, name: string, at: Place): unknown[] {
    const count = Math.max(minItems, at.depth > 4 ? 0 : at.pick([0, 1, 1, 2]))
    const drawn = Array.from({ length: count }, () =>
      this.#make(items, name.replace(/s$/, ''), { ...at, depth: at.depth + 1 }),
    )
    return drawn.filter((item, i) => drawn.findIndex((other) => JSON.stringify(other) === JSON.stringify(item)) === i)
  }

  /** Few of the optional properties, so that a change of one of them alone is likely. */
  #object({ properties = {}, required = [] }: Schema, at: Place): object {
    const { pick } = at
    const optional = Object.keys(properties).filter((key) => !required.includes(key) && (!rare.has(key) || pick(tenth)))
    const few = optional.length === 0 ? [] : Array.from({ length: pick([0, 1, 1, 1, 2]) }, () => pick(optional))
    const chosen = required.length === 0 && few.length === 0 && optional.length > 0 ? [pick(optional)] : few
    const made: Record<string, unknown> = {}
    for (const key of [...required, ...chosen])
      made[key] ??= this.#make(properties[key] ?? {}, key, { ...at, depth: at.depth + 1 })
    this.#agree(made, properties, at)
    return made
  }

  /**
   * The drawn kind decides to what the id refers: `subjectType: user` wants a `subjectUserId`, or a user as
   * `subjectId`.
   */
  #agree(made: Record<string, unknown>, properties: Record<string, Schema>, at: Place): void {
    if (typeof made.action === 'string' && 'payload' in properties) this.#act(made, made.action, at)
    if (typeof made.actionType === 'string' && 'payload' in properties) this.#act(made, made.actionType, at)
    for (const [key, kind] of Object.entries(made)) {
      const [, stem] = /^(\w*?)(?:Type|kind)$/.exec(key) ?? []
      if (stem === undefined || typeof kind !== 'string') continue
      const ids = [`${stem}Id`, `${stem}${kind}Id`].map((id) => id.toLowerCase())
      const wanted = Object.keys(properties).filter((other) => ids.includes(other.toLowerCase()))
      if (wanted.length === 0) continue
      for (const other of Object.keys(made)) if (/(?:User|Group)Id$|^(?:user|group)Id$/.test(other)) delete made[other]
      const found = kind === 'vault' ? at.pool.items('/vaults').map(({ id }) => id) : at.pool.ids(kind)
      made[wanted[0]!] = found.length === 0 ? 'none' : newer(at.pick, found)
    }
  }

  /** The payload and target of an action are body and path of the operation that does it. */
  #act(made: Record<string, unknown>, action: string, at: Place): void {
    const words = action.split('_')
    const verb = words.length === 1 ? 'create' : ['create', 'add'].includes(words[0]!) ? words.shift()! : words.pop()!
    const noun = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
    const named = ({ operationId }: Writing) => operationId.startsWith(verb) && operationId.includes(noun)
    const found = this.operations.filter(named).sort((a, b) => a.operationId.length - b.operationId.length)[0]
    if (found === undefined) return
    const drawn = this.draw(found, at.pool, at.pick)
    const template = found.path.slice(prefix.length).split('/')
    const parameters = drawn.path
      .split('/')
      .flatMap((value, i) => (/^\{/.test(template[i]!) ? [[template[i]!.slice(1, -1), value]] : []))
    const [target, ...others] = parameters.filter(([name]) => name !== 'code')
    made.payload = { ...(drawn.body as object | undefined), ...Object.fromEntries(others) }
    if (target !== undefined) made.targetId = target[1]
    else delete made.targetId
  }

  #text(
    { pattern, format, examples = [], minLength = 0 }: Schema,
    name: string,
    { pool, pick, isNew }: Place,
  ): unknown {
    if (format === 'date-time')
      return new Date(this.#now().getTime() + (isLater.test(name) ? 3_600_000 : 0)).toISOString()
    if (name === 'publicKey') return newServiceKey()
    if (name === 'contractAddress' && isNew) return fakeAddress(this.#fresh())
    if (name === 'amount') return pick(['0.5', '1', '2', '30'])
    if (name === 'usdRate') return pick(['0.5', '1', '10', '1000'])
    const fits = (text: unknown) =>
      typeof text === 'string' && text.length >= minLength && (pattern === undefined || new RegExp(pattern).test(text))
    const kind = identifying.has(name) ? null : /Ids?$/.exec(name)
    const found = (kind === null ? this.#named(name, pool) : idsOfName(name, pool)).filter(fits)
    if (kind !== null) return found.length === 0 ? 'none' : newer(pick, found as string[])
    const fresh = [
      this.#fresh(),
      `${this.#fresh()}@example.org`,
      `drawn-text-that-is-long-enough-${this.#count}`,
    ].filter(fits)
    if (identifying.has(name) && fresh.length > 0 && (isNew || found.length === 0)) return fresh[0]
    const all = [...found, ...examples.filter(fits)]
    return all.length === 0 ? (fresh[0] ?? 'text') : pick(all)
  }

  /** The last value of a property of this name, or of the end of it: a `toAddress` is an `address`. */
  #named(name: string, pool: Pool): unknown[] {
    const exact = pool.values(name)
    if (exact.length > 0) return exact
    const names = pool.names().filter((known) => known.length > 2 && name.toLowerCase().endsWith(known.toLowerCase()))
    return names.flatMap((known) => pool.values(known))
  }
}

/** For each field that an answer complained of, by its name: whether the field is wanted. */
export type Faulty = Record<string, boolean>

/** Reads the values that an answer asks for in the fields that it complains of. */
export function faultyOf({ body: answer }: { body: unknown }, body: unknown): Faulty {
  const { details } = (answer ?? {}) as { details?: { field?: string }[] }
  if (!Array.isArray(details)) return {}
  const names = details.flatMap(({ field = '' }) => field.split('.')[0] ?? [])
  return Object.fromEntries(names.map((name) => [name, !(name in ((body ?? {}) as object))]))
}

/**
 * Returns the hashes of the object that the URL names, if the body needs a hash, as a person sends them after reading
 * the object.
 */
function agreeing(body: unknown, url: string, pool: Pool): unknown {
  const [list, id] = /^(.*)\/([^/]+)\/[^/]+$/.exec(url)?.slice(1) ?? []
  const thing = pool.items(list ?? '').find((item) => item.id === id)
  if (thing === undefined || typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, name.endsWith('Hash') ? (thing[name] ?? value) : value]),
  )
}

type Place = { pool: Pool; pick: Pick; depth: number; isNew: boolean }

/** Fields that only people with signing keys send, or that must be the hash of the same request: mostly left out. */
const rare = new Set(['signature', 'signed', 'confirmation', 'payloadHash', 'invitationToken'])
const tenth = [true, ...Array<boolean>(9).fill(false)]
const isLater = /^(?:expires|ends)At$/
/** Names by which things are told apart: a new thing needs another one. */
const identifying = new Set(['code', 'key', 'name', 'username', 'email', 'externalId', 'title'])

function contentOf(operation: Operation): Record<string, { schema?: Schema }> | undefined {
  return (operation.requestBody as { content?: Record<string, { schema?: Schema }> } | undefined)?.content
}

/**
 * Draws mostly one of the newest values, which come first, so that a sequence continues with the objects that it made.
 */
function newer<Value>(pick: Pick, values: Value[]): Value {
  return pick(pick([true, false]) ? values.slice(0, 4) : values)
}

function numberOf({ minimum = 0, maximum = 1_000, examples = [] }: Schema, name: string, pick: Pick): unknown {
  if (name === 'id') return pick([7, 11, 13, 17, 19, 23, 29])
  const least = Math.max(minimum, -1)
  return pick([least, Math.min(maximum, least + 1), Math.min(maximum, least + 2), ...examples])
}

/** The ids that a property may be, by the longest end of its name that is a kind: `sourceAddressIds` are addresses. */
function idsOfName(name: string, pool: Pool): string[] {
  const words = name.replace(/Ids?$/, '').split(/(?=[A-Z])/)
  for (let from = 0; from < words.length; from += 1) {
    const kind = words.slice(from).join('')
    const ids = pool.ids(kind[0]!.toLowerCase() + kind.slice(1))
    if (ids.length > 0) return ids
  }
  return pool.values(name).flatMap((value) => (typeof value === 'string' ? [value] : []))
}
