import { describe, expect, it } from 'vitest'
import { isAddressLike, looksLike } from './recipient.ts'

const known = '0xCb16716C7e0B011dEABCa98c8fC746F04f818a8a'

describe('looksLike', () => {
  it.each([
    ['the same first four characters', `0xCb16${'0'.repeat(36)}`, true],
    ['the same last four characters', `0x${'0'.repeat(36)}8a8a`, true],
    ['the same ends in another case', `0xcB16${'0'.repeat(32)}8A8A`, true],
    ['the same address', known, false],
    ['the same address in lower case', known.toLowerCase(), false],
    ['neither end', `0x${'1'.repeat(40)}`, false],
    ['only the prefix 0x and three characters', `0xCb1${'0'.repeat(37)}`, false],
  ])('%s', (_, other, expected) => expect(looksLike(known, other)).toBe(expected))

  it('tells letters of other chains apart by case', () => {
    expect(looksLike('bc1qabcdefghijklmnopqrstuvwxyz0123', 'bc1qzzzzzzzzzzzzzzzzzzzzzzzzzz9999')).toBe(true)
    expect(looksLike('TAbc111111111111111111111111111111', 'Tabc222222222222222222222222222222')).toBe(false)
  })
})

describe('isAddressLike', () => {
  it.each([
    [known, true],
    [known.slice(0, -1), false],
    ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', true],
    ['Acme Supplies Limited', false],
    ['Donaudampfschifffahrtsgesellschaft', false],
    ['', false],
  ])('%s', (text, expected) => expect(isAddressLike(text)).toBe(expected))
})
