import { describe, expect, it } from 'vitest'
import { withoutReferences } from '../testing/described-api.ts'
import { shareComponents } from './openapi-components.ts'
import type { OpenApiDocument, Operation } from './openapi-document.ts'

const meanings = { 404: 'Not found', 409: 'In conflict' }
const limit = { name: 'limit', in: 'query', schema: { type: 'integer' } }
const id = { name: 'id', in: 'path', schema: { type: 'string' } }
const day = { name: 'from', in: 'query', description: 'A day.', schema: { type: 'string' } }
const instant = { ...day, description: 'An instant.' }

function documentOf(operations: Record<string, Partial<Operation>>): OpenApiDocument {
  const paths = Object.entries(operations).map(([operationId, operation]) => [
    `/${operationId}`,
    { get: { operationId, responses: {}, ...operation } },
  ])
  return { openapi: '3.1.0', paths: Object.fromEntries(paths), components: { schemas: {} } }
}

function share(document: OpenApiDocument) {
  const shared = shareComponents(structuredClone(document), meanings)
  expect(withoutReferences(shared)).toEqual(document)
  return shared
}

describe('shareComponents', () => {
  it('lets operations refer to the parameters they have in common, and leaves the others where they are', () => {
    const shared = share(documentOf({ list: { parameters: [limit, id] }, find: { parameters: [limit] } }))
    expect(shared.components.parameters).toEqual({ Limit: limit })
    expect(shared.paths['/list']!.get!.parameters).toEqual([{ $ref: '#/components/parameters/Limit' }, id])
  })

  it('names the less frequent meanings of a parameter after the operation that has them first', () => {
    const shared = share(
      documentOf({
        listDays: { parameters: [day] },
        listOther: { parameters: [day] },
        listOne: { parameters: [instant] },
        listTwo: { parameters: [instant] },
        listThree: { parameters: [instant] },
      }),
    )
    expect(shared.components.parameters).toEqual({ From: instant, ListDaysFrom: day })
  })

  it('shares the answers of errors, except answers that an operation describes itself', () => {
    const responses = { 200: { description: 'Success' }, 404: { description: 'Not found' } }
    const answers = { 409: { description: 'The vault is locked' } }
    const shared = share(documentOf({ one: { responses: { ...responses, ...answers } }, two: { responses } }))
    expect(shared.components.responses).toEqual({ NotFound: { description: 'Not found' } })
    expect(shared.paths['/one']!.get!.responses).toEqual({
      200: { description: 'Success' },
      404: { $ref: '#/components/responses/NotFound' },
      ...answers,
    })
  })
})
