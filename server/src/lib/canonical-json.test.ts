import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

describe('canonical JSON', () => {
  it.each([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [{ a: undefined, b: { d: 1, c: 2 } }, '{"b":{"c":2,"d":1}}'],
    [{ 10: 'a', 9: 'b', A: 'c', a: 'd' }, '{"10":"a","9":"b","A":"c","a":"d"}'],
    ['ä"\\\n', '"ä\\"\\\\\\n"'],
    [10n ** 20n, '"100000000000000000000"'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ])('of %o', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it.each([[0.5], [Number.NaN], [2 ** 53], [() => 1], [undefined]])('refuses %s, without a canonical form', (value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError)
  })

  it('is the same for equal values, in any order of their members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.maxSafeInteger(), fc.boolean())), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse())
        expect(canonicalJson(reversed)).toBe(canonicalJson(value))
        expect(JSON.parse(canonicalJson(value))).toEqual({ ...value })
      }),
    )
  })
})
