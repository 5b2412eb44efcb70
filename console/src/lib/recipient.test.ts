import { describe, expect, it } from 'vitest'
import { addressKey, isAddressLike } from './recipient.ts'

const known = '0xCb16716C7e0B011dEABCa98c8fC746F04f818a8a'

describe('addressKey', () => {
  it.each([
    [known, known.toLowerCase()],
    ['BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    ['LTC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ', 'ltc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    // Mixed case is no address, and must not become one.
    ['bc1qAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ', 'bc1qAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ'],
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ])('%s', (text, expected) => expect(addressKey(text)).toBe(expected))
})

describe('isAddressLike', () => {
  it.each([
    [known, true],
    [known.slice(0, -1), false],
    ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', true],
    ['ltc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', true],
    ['3P14159f73E4gFr7JterCCQh9QjiTjiZrG', true],
    ['Acme Supplies Limited', false],
    ['Donaudampfschifffahrtsgesellschaft', false],
    ['', false],
  ])('%s', (text, expected) => expect(isAddressLike(text)).toBe(expected))
})
