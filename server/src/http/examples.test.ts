import { describe, expect, it } from 'vitest'
import { exampleOf } from './openapi.ts'
import type { JsonSchema } from './openapi-document.ts'

const components: Record<string, JsonSchema> = {
  Money: { type: 'string', examples: ['1.5'] },
  Tree: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } } },
}

describe('an example', () => {
  const cases: [JsonSchema, unknown][] = [
    [{ type: 'string', examples: ['a', 'b'], default: 'c' }, 'a'],
    [{ const: null }, null],
    [{ type: 'string', enum: ['x', 'y'] }, 'x'],
    [{ type: 'integer', default: 20 }, 20],
    [{ type: 'integer', minimum: 3 }, 3],
    [{ type: 'boolean' }, true],
    [{ type: 'string', format: 'date-time' }, '2026-01-31T09:30:00.000Z'],
    [{ type: 'string', minLength: 6 }, 'textxx'],
    [{ type: ['null', 'string'] }, 'text'],
    [{ anyOf: [{ type: 'null' }, { $ref: '#/components/schemas/Money' }] }, '1.5'],
    [{ oneOf: [{ type: 'integer' }, { type: 'string' }] }, 1],
    [{ allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }] }, { a: 1, b: 2 }],
    [{ type: 'array', items: { type: 'boolean' } }, [true]],
    [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
    [{ type: 'array', items: [{ const: 1 }, { const: 2 }] }, [1, 2]],
    [{ type: 'array' }, []],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, { key: 1 }],
    [{ type: 'object', patternProperties: { '^.*$': { $ref: '#/components/schemas/Money' } } }, { key: '1.5' }],
    [{ type: 'null' }, null],
  ]
  it.each(cases)('of %j is %j', (schema, example) => {
    expect(exampleOf(schema, components)).toEqual(example)
  })

  it('of a component that contains itself is finite', () => {
    expect(JSON.stringify(exampleOf({ $ref: '#/components/schemas/Tree' }, components)).length).toBeLessThan(1_000)
  })

  it('of a component that does not exist is an error', () => {
    expect(() => exampleOf({ $ref: '#/components/schemas/None' }, components)).toThrow('no schema component None')
  })
})
