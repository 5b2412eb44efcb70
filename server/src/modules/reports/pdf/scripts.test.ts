import { describe, expect, it } from 'vitest'
import { type DrawnText, readPdf } from '../../../testing/read-files.ts'
import { bytesOf, sampleDocument, sampleTable } from '../../../testing/sample-document.ts'
import type { Column } from '../documents/document.ts'
import type { Language } from '../documents/words.ts'
import { renderPdf } from './render-pdf.ts'

const columns: Column[] = [
  { key: 'at', label: 'Created at', kind: 'timestamp' },
  { key: 'name', label: 'Counterparty', kind: 'text' },
  { key: 'amount', label: 'Amount', kind: 'amount' },
]
const vault = 'شركة النقد'
const person = 'שרה כהן'
const names = [
  '北京银行有限公司',
  person,
  vault,
  '日本電気株式会社ひかり',
  '한국은행',
  '臺灣銀行',
  'Acme שלום 12',
  'שלום טכנולוגיות (Israel) בע"מ',
  'بنك دبي ١٢٣ (DIB)',
  'מַּתָּנָה',
  '𠮷野家 (東京), Ltd.',
]

/** Returns the texts of the pages of a report in which all names are in a table, and some in each other part. */
async function read(language: Language, of: readonly string[] = names) {
  const rows = of.map((name) => ({ at: null, name, amount: '1' }))
  const grouped = {
    ...sampleTable(columns, [...rows, ...Array.from({ length: 60 }, () => rows[0]!)], 'Grouped'),
    isGrouped: true,
    headingOf: () => `${person} · 2026`,
  }
  const document = sampleDocument({
    print: {
      language,
      block: [{ label: 'Vault', value: `${vault} (main-vault)` }],
      facts: [{ label: 'Filter', value: person }],
    },
    pageHead: [`${vault} (main-vault) · 2026-01-01`],
    tables: [
      sampleTable(columns, rows),
      { ...grouped, printed: [{ label: 'Both', kind: 'text', keys: ['name', 'amount'], separator: ' · ' }] },
      sampleTable(
        columns,
        Array.from({ length: 60 }, () => rows[0]!),
        'Long',
      ),
    ],
  })
  const { drawn, fonts } = readPdf(await bytesOf(renderPdf(document, () => {}, { isCompressed: false })))
  return { lines: drawn.flatMap(linesOf), texts: drawn.flat(), fonts }
}

/** Returns the texts of a page whose pieces follow each other without a gap as one. */
function linesOf(texts: DrawnText[]): string[] {
  const lines: DrawnText[] = []
  for (const text of texts) {
    const last = lines.at(-1)
    const isNext = last !== undefined && last.y === text.y && Math.abs(last.x + last.width - text.x) < 0.02
    if (isNext) lines[lines.length - 1] = { ...last, text: last.text + text.text, width: last.width + text.width }
    else lines.push(text)
  }
  return lines.map(({ text }) => text)
}

describe('names in other scripts', () => {
  // The reader of the tests fails at a glyph that stands for a missing one.
  it.each(['en', 'de'] as const)(
    'are drawn in fonts that have their characters, in each part of a page (%s)',
    async (language) => {
      const { lines, fonts } = await read(language)
      for (const name of names) {
        expect(lines).toContain(name.normalize('NFC'))
        expect(lines).toContain(`${name.normalize('NFC')} · 1`)
      }
      expect(lines).toEqual(
        expect.arrayContaining([
          `${vault} (main-vault)`,
          person,
          `${vault} (main-vault) · 2026-01-01`,
          `${person} · 2026`,
          `${person} · 2026 ${language === 'de' ? '(Fortsetzung)' : '(continued)'}`,
        ]),
      )
      expect(lines.join()).not.toContain('\\u{')
      expect([...new Set(fonts.map((font) => font.slice(7)))].sort()).toEqual([
        'Arimo-Bold',
        'Arimo-Regular',
        'NotoSansArabic-Regular',
        'NotoSansJP-Regular',
        'NotoSansKR-Regular',
        'NotoSansSC-Regular',
      ])
    },
  )

  it('have the forms of their language, and a report without them embeds no font for them', async () => {
    const fontsOf = async (name: string) => {
      const { texts } = await read('en', [name])
      return texts.find(({ text }) => text === name)!.font.slice(7)
    }
    expect(await fontsOf('日本')).toBe('NotoSansSC-Regular')
    expect(await fontsOf('ひかり日本')).toBe('NotoSansJP-Regular')
    expect(await fontsOf('한국日本')).toBe('NotoSansKR-Regular')
    const { fonts } = readPdf(await bytesOf(renderPdf(sampleDocument(), () => {})))
    expect(fonts.map((font) => font.slice(7)).sort()).toEqual(['Arimo-Bold', 'Arimo-Regular'])
  })

  it('are drawn from right to left where their script is, with numbers and brackets in their order', async () => {
    const { texts } = await read('en')
    const drawnAs = (name: string) => texts.find(({ text }) => text === name)!.drawnAs
    expect(drawnAs(person)).toBe([...person].reverse().join(''))
    expect(drawnAs(vault)).toBe([...vault].reverse().join(''))
    expect(drawnAs('Acme שלום 12')).toBe('Acme 12 םולש')
    expect(drawnAs('שלום טכנולוגיות (Israel) בע"מ')).toBe('מ"עב (Israel) תויגולונכט םולש')
    expect(drawnAs('بنك دبي ١٢٣ (DIB)')).toBe('(DIB) ١٢٣ يبد كنب')
    // Values beside each other, and the parts of a head, follow each other from left to right.
    expect(drawnAs(`${person} · 1`)).toBe('ןהכ הרש · 1')
    expect(drawnAs(`${vault} (main-vault)`)).toBe(`${[...vault].reverse().join('')} (main-vault)`)
  })

  it('take the joined forms of Arabic letters, and are measured in them', async () => {
    const { texts } = await read('en', ['ببب', 'ب'])
    const [word, letter] = ['ببب', 'ب'].map((name) => texts.find(({ text }) => text === name)!)
    expect(word!.width).toBeLessThan(2.5 * letter!.width)
  })

  it('are broken into lines that fit, between characters, and lose none', async () => {
    const long = [
      '北京'.repeat(80),
      `${vault} `.repeat(30).trim(),
      'שלום Acme 12 '.repeat(30).trim(),
      'نقد'.repeat(80),
      'שָׁ'.repeat(200),
    ]
    for (const name of long) {
      const { texts } = await read('en', [name])
      const parts = texts.filter(({ text }) => text.length > 1 && name.normalize('NFC').includes(text))
      const whole = parts.map(({ text }) => text).join(' ')
      expect(whole.replaceAll(' ', '').startsWith(name.normalize('NFC').replaceAll(' ', ''))).toBe(true)
      for (const { x, width } of texts) expect(x + width).toBeLessThan(841.89 - 39)
      expect(parts.every(({ text }) => !/^\p{M}/u.test(text))).toBe(true)
    }
  })

  it('keep no more marks on a letter than fit above it', async () => {
    const { lines } = await read('en', [`ש${'\u05b8'.repeat(5)}`])
    expect(lines).toContain(`ש${'\u05b8'.repeat(3)}${'\\u{5b8}'.repeat(2)}`)
  })
})
