import { describe, expect, it } from 'vitest'
import { marksOf } from './compared.tsx'

const marked = (address: string, other: string | undefined) =>
  marksOf(address, other)
    .map((group) => group.map(({ text, differs }) => (differs ? `[${text}]` : text)).join(''))
    .join(' ')

describe('T21 the characters in which two addresses differ', () => {
  it('are marked one by one, whatever their case', () => {
    const known = '0xAbCd1111222233334444555566667777888899dF'
    expect(marked('0xabcd11112222a3334444555566667777888b99df', known)).toBe(
      '0xabcd 1111 2222 [a]333 4444 5555 6666 7777 888[b] 99df',
    )
  })

  it('are those beyond the end of a shorter address too', () => {
    expect(marked('1A1zP1eP5Q', '1A1zP1eP')).toBe('1A1z P1eP [5Q]')
    expect(marked('bc1qaaaabb', 'bc1qaaaa')).toBe('bc1qaaa a[bb]')
    expect(marked('ltc1qaaabbb', 'ltc1qaaa')).toBe('ltc1qaaa [bbb]')
  })

  it('are none without another address', () => {
    expect(marked('0x1234abcd', undefined)).toBe('0x1234 abcd')
  })
})
