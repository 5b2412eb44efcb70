import { describe, expect, it } from 'vitest'
import { faultOfText } from './validation.ts'

const characters: [what: string, from: number, to?: number][] = [
  ['control characters', 0x00, 0x08],
  ['control characters', 0x0b, 0x0c],
  ['control characters', 0x0e, 0x1f],
  ['control characters', 0x7f, 0x9f],
  ['soft hyphen', 0xad],
  ['grapheme joiner', 0x34f],
  ['Arabic letter mark', 0x61c],
  ['Hangul fillers', 0x115f, 0x1160],
  ['zero-width characters and marks of direction', 0x200b, 0x200f],
  ['line and paragraph separators', 0x2028, 0x2029],
  ['bidirectional overrides', 0x202a, 0x202e],
  ['invisible operators and isolates', 0x2060, 0x2069],
  ['Hangul filler', 0x3164],
  ['variation selectors', 0xfe00, 0xfe0f],
  ['byte order mark', 0xfeff],
  ['tags', 0xe0000, 0xe007f],
  ['more variation selectors', 0xe0100, 0xe01ef],
]

describe('T71 text that people read', () => {
  it.each(characters)('holds no %s (%i)', (_what, from, to = from) => {
    for (let code = from; code <= to; code += 1) {
      for (const field of ['name', 'comment', 'emoji']) {
        const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
        const text = `Treasury${String.fromCodePoint(code)}EU`
        expect(faultOfText(text, field)).toBe(`must not hold the invisible character ${name}`)
      }
    }
  })

  it.each([
    'Treasury, EU',
    'Müller & Söhne «été»',
    'ООО Ромашка',
    '株式会社',
    'محفظة الخزينة',
    'अ\u094dश',
    '🏦',
    '👨‍👩‍👧 family',
    '❤️ and 1️⃣',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    'a\u00a0b',
    '',
  ])('may be %j', (text) => {
    expect(faultOfText(text, 'name')).toBeNull()
  })

  it.each(['a\u200db', '🏦\u200d', '\u200d🏦', 'a\ufe0f', '🏦\u{e0061}', '👨\u200d\u200d👩'])(
    'does not hide anything beside an emoji: %j',
    (text) => {
      expect(faultOfText(text, 'emoji')).toMatch(/^must not hold the invisible character /)
    },
  )

  it('is one line, except in fields for longer texts', () => {
    for (const text of ['one\ntwo', 'one\r\ntwo']) {
      expect(faultOfText(text, 'name')).toBe('must be one line')
      for (const field of ['comment', 'description', 'note', 'reason']) expect(faultOfText(text, field)).toBeNull()
    }
    expect(faultOfText('one\ttwo', 'name')).toBe('must not hold the invisible character U+0009')
    expect(faultOfText('one\n\u202etwo', 'comment')).toBe('must not hold the invisible character U+202E')
  })
})
