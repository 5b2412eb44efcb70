import { describe, expect, it } from 'vitest'
import { isAddressLike } from './recipient.ts'

const known = '0xCb16716C7e0B011dEABCa98c8fC746F04f818a8a'

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
