import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseStrictJson, StrictJsonError } from './strict-json.ts'

describe('strict JSON', () => {
  it('reads JSON like JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        fc.pre(!text.includes('__proto__'))
        expect(parseStrictJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it.each([
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"x":[{"a":1,"b":{"a":1},"a":2}]}',
    '{"__proto__":{}}',
    '{"\\u005f_proto__":{}}',
    '{"a":[{"__proto__":null}]}',
    '{"a":"\\ud800"}',
    '["\\udc00\\ud800"]',
    '{"\\ud83d":1}',
    `${'['.repeat(33)}${']'.repeat(33)}`,
    `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`,
  ])('refuses %s', (text) => {
    expect(() => parseStrictJson(text)).toThrow(StrictJsonError)
  })

  it.each([
    '{"a":{"a":1},"b":[{"a":1},{"a":1}]}',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '["__proto__","a","a"]',
    '{"a":"\\\\","b":"}{"}',
    '{"a":"\\ud83c\\udfe6"}',
    `${'['.repeat(32)}${']'.repeat(32)}`,
  ])('accepts %s', (text) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text))
  })

  it.each(['', '{', "{'a':1}", '{"a":1,}', 'NaN'])('reports %j as invalid JSON', (text) => {
    expect(() => parseStrictJson(text)).toThrow(SyntaxError)
  })
})
