import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { digest } from '../../../scripts/reference/digest.js'
import { search } from './search.ts'
import type { Index, SearchWords } from './types.ts'

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')

type Reference = { $ref: string }
type Operation = {
  operationId: string
  summary: string
  tags: string[]
  parameters?: ({ name: string } | Reference)[]
  requestBody?: { content: { 'application/json'?: { schema: Schema } } }
  responses: Record<string, Answer | Reference>
}
type Schema = { $ref?: string; properties?: Record<string, Schema>; items?: Schema }
type Answer = { content?: { 'application/json'?: { schema: Schema; examples?: object } } }

const document = JSON.parse(read('openapi.json')) as { paths: Record<string, Record<string, Operation>> }
const files = digest(document, read('docs/errors.md'))
const index = files.index as Index
const words = files.search as SearchWords
// The reference leaves out the endpoints for directories.
const paths = Object.entries(document.paths).filter(([path]) => !path.startsWith('/scim/'))
const operations = paths.flatMap(([path, item]) =>
  Object.entries(item).map(([verb, operation]) => ({ path, verb, operation })),
)
const known = new Map<string, string[]>()
function idsOf(phrase: string): string[] {
  const ids = known.get(phrase) ?? search(index, words, phrase).map(({ operation }) => operation.id)
  known.set(phrase, ids)
  return ids
}

describe('the search of the reference', () => {
  it('finds every operation by its id and its summary first, and by its path', () => {
    expect(operations.length).toBeGreaterThan(150)
    const lost = operations.filter(({ path, verb, operation: { operationId, summary } }) => {
      const byPath = idsOf(`${verb} ${path}`)
      return (
        idsOf(operationId)[0] !== operationId ||
        !byPath.includes(operationId) ||
        !idsOf(summary).slice(0, 3).includes(operationId)
      )
    })
    expect(lost.map(({ operation }) => operation.operationId)).toEqual([])
  })

  it('finds every operation by each field that it takes or answers, and by each reason of a refusal', () => {
    const lost = operations.flatMap(({ operation }) =>
      [...fieldsOf(operation), ...reasonsOf(operation)]
        .filter((word) => !idsOf(word).includes(operation.operationId))
        .map((word) => `${operation.operationId} ${word}`),
    )
    expect(lost).toEqual([])
  })

  it('ranks names before fields and fields before descriptions, and names the match of each operation', () => {
    const [first] = search(index, words, 'transfer create')
    expect(first).toMatchObject({ operation: { id: 'createTransfer' }, because: null })
    const hits = search(index, words, 'insufficient_funds')
    expect(hits.map(({ operation }) => operation.id)).toContain('createTransfer')
    expect(hits.every(({ because }) => because === 'insufficient_funds')).toBe(true)
    expect(search(index, words, 'paymentpurp')[0]?.because).toBe('paymentPurpose')
  })

  it('finds nothing for nothing, and names alone before the words are loaded', () => {
    expect(search(index, words, '  ')).toEqual([])
    expect(search(index, words, 'no such operation at all')).toEqual([])
    expect(search(index, null, 'createTransfer').map(({ operation }) => operation.id)).toContain('createTransfer')
    expect(search(index, null, 'insufficient_funds')).toEqual([])
  })
})

describe('the reference', () => {
  it('explains every reason, and shows each operation in the group of its tag', () => {
    const named = new Set(index.reasons.map(({ name }) => name))
    const silent = operations.flatMap(({ operation }) => reasonsOf(operation).filter((reason) => !named.has(reason)))
    expect(silent).toEqual([])
    const shown = index.groups.flatMap(({ name, operations: operationsOfGroup }) =>
      operationsOfGroup.map(({ id }) => `${name} ${id}`),
    )
    expect(shown.sort()).toEqual(
      operations.map(({ operation }) => `${operation.tags[0]} ${operation.operationId}`).sort(),
    )
  })
})

function resolve<Found extends object>(found: Found | Reference): Found {
  if (!('$ref' in found)) return found
  const keys = (found as Reference).$ref.split('/').slice(1)
  return keys.reduce((part: unknown, key) => (part as Record<string, unknown>)[key], document) as Found
}

/** The parameters, and what stands on the first level of body and answers. */
function fieldsOf({ parameters = [], requestBody, responses }: Operation): string[] {
  const answers = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, answer]) => resolve<Answer>(answer as Answer).content?.['application/json']?.schema)
  const schemas = [requestBody?.content['application/json']?.schema, ...answers]
  const properties = schemas.flatMap((schema) =>
    schema === undefined ? [] : Object.entries(resolve<Schema>(schema as Schema).properties ?? {}),
  )
  const items = properties.flatMap(([, { items: item }]) =>
    item === undefined ? [] : Object.keys(resolve<Schema>(item).properties ?? {}),
  )
  return [
    ...parameters.map((parameter) => resolve<{ name: string }>(parameter).name),
    ...properties.map(([name]) => name),
    ...items,
  ]
}

function reasonsOf({ responses }: Operation): string[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, answer]) =>
      Object.keys(resolve<Answer>(answer as Answer).content?.['application/json']?.examples ?? {}),
    )
}
