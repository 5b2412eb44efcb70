import PDFDocument from 'pdfkit'
import { describe, expect, it } from 'vitest'
import { bytesOf, sampleDocument, sampleTable } from '../../../testing/sample-document.ts'
import type { Column, ReportDocument } from './document.ts'
import { renderPdf } from './render-pdf.ts'
import { fromWinAnsi } from './win-ansi.ts'

type Text = { x: number; y: number; size: number; isBold: boolean; text: string; width: number }

const measure = new PDFDocument()
const [pageWidth, pageHeight] = [841.89, 595.28]

/** The texts of every page with their positions, as the operators of the file draw them. */
async function read(document: ReportDocument): Promise<{ pages: Text[][]; total: string; source: string }> {
  const bytes = await bytesOf(renderPdf(document, () => {}, { isCompressed: false }))
  const source = bytes.toString('latin1')
  const streams = [...source.matchAll(/stream\n(.*?)\nendstream/gs)].map(([, stream]) => stream!)
  // The bold font is the second one of a page.
  const bold = [...source.matchAll(/BT \/(F\d+) 16 Tf/g)][0]![1]
  const pages = streams.filter((stream) => stream.includes('/Total Do')).map((stream) => textsOf(stream, bold!))
  const total = /\((of \d+)\) Tj/.exec(streams.find((stream) => stream.startsWith('BT /') && !stream.includes('Do'))!)
  return { pages, total: total![1]!, source }
}

function textsOf(stream: string, bold: string): Text[] {
  const drawn = stream.matchAll(
    /BT \/(F\d+) ([\d.]+) Tf [\d.]+ g 1 0 0 -1 (\S+) (\S+) Tm \(((?:[^\\()]|\\.)*)\) Tj ET/gs,
  )
  return [...drawn].map(([, font, size, x, y, literal]) => {
    const encoded = literal!.replace(/\\([\\()])/g, '$1')
    const text = [...encoded].map((character) => fromWinAnsi(character.charCodeAt(0))).join('')
    const isBold = font === bold
    measure.font(isBold ? 'Helvetica-Bold' : 'Helvetica').fontSize(Number(size))
    return { x: Number(x), y: Number(y), size: Number(size), isBold, text, width: measure.widthOfString(text) }
  })
}

/** Fails when a text overlaps another or leaves the page. */
function expectTidy(pages: Text[][]): void {
  const faults: string[] = []
  for (const [number, texts] of pages.entries()) {
    for (const [i, one] of texts.entries()) {
      const isInside =
        one.x >= 39 && one.x + one.width <= pageWidth - 39 && one.y - one.size >= 20 && one.y <= pageHeight - 20
      if (!isInside) faults.push(`page ${number + 1}: "${one.text}" leaves the page`)
      for (const other of texts.slice(i + 1)) {
        // From the top of a capital to the baseline.
        if (Math.abs(one.y - other.y) >= 0.72 * Math.max(one.size, other.size)) continue
        const isBeside = one.x + one.width <= other.x + 0.5 || other.x + other.width <= one.x + 0.5
        if (!isBeside) faults.push(`page ${number + 1}: "${one.text}" over "${other.text}"`)
      }
    }
  }
  expect(faults).toEqual([])
}

const linesOf = (texts: Text[]) => texts.map(({ text }) => text)
const joined = (texts: Text[]) => linesOf(texts).join('')
const columns: Column[] = [
  { key: 'at', label: 'Created at', kind: 'timestamp' },
  { key: 'name', label: 'Counterparty', kind: 'text' },
  { key: 'amount', label: 'Amount', kind: 'amount' },
]
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    at: `2026-01-01T08:00:${String(i % 60).padStart(2, '0')}.123Z`,
    name: `Party ${i}`,
    amount: `-${i}.5`,
  }))

describe('PDF', () => {
  it('identifies the report, its interval and the page number on every page; headers of tables are repeated', async () => {
    const pageHead = [
      'Main vault (main-vault) · 2026-01-01 to 2026-02-01 Europe/Berlin · data cutoff 2026-02-01T10:00:00.000Z',
      'Covers own operations · classification current · filters: statuses = confirmed',
    ]
    const facts = [
      { label: 'From', value: '2026-01-01 00:00:00 Europe/Berlin, included' },
      { label: 'Filter', value: 'statuses = confirmed' },
    ]
    const { pages, total } = await read(
      sampleDocument({ facts, pageHead, tables: [sampleTable(columns, rowsOf(100))] }),
    )
    expect(pages.length).toBeGreaterThan(3)
    expect(total).toBe(`of ${pages.length}`)
    for (const [i, texts] of pages.entries()) {
      const lines = linesOf(texts)
      expect(lines).toContain(`Page ${i + 1} `)
      expect(lines).toContain('Account statement')
      expect(lines).toContain('Report cmi8h2k1p0a1b2c3d4e5f6g7h · generated at 2026-02-01T10:00:00.000Z')
      if (i > 0) expect(lines).toEqual(expect.arrayContaining([...pageHead, 'Postings (continued)']))
      expect(lines).toEqual(expect.arrayContaining(['Created at (UTC)', 'Counterparty', 'Amount']))
    }
    for (const { label, value } of facts) expect(linesOf(pages[0]!)).toEqual(expect.arrayContaining([label, value]))
    expectTidy(pages)
  })

  it('shows every row once, in order, figures at the right of their column', async () => {
    const rows = rowsOf(500)
    const { pages } = await read(sampleDocument({ tables: [sampleTable(columns, rows)] }))
    const texts = pages.flat()
    expect(texts.filter(({ text }) => text.startsWith('Party ')).map(({ text }) => text)).toEqual(
      rows.map(({ name }) => name),
    )
    const amounts = texts.filter(({ text }) => /^-\d+\.5$/.test(text))
    expect(amounts.map(({ text }) => text)).toEqual(rows.map(({ amount }) => amount))
    const ends = new Set(amounts.map(({ x, width }) => (x + width).toFixed(1)))
    expect(Math.max(...[...ends].map(Number)) - Math.min(...[...ends].map(Number))).toBeLessThan(0.3)
    expect(linesOf(texts)).toContain('2026-01-01 08:00:00')
    expectTidy(pages)
  })

  it('wraps what is too long and loses none of it, words, hashes and figures alike', async () => {
    const name = 'Société Générale des Eaux et Forêts et de toutes les autres choses de la République '.repeat(3).trim()
    const hash = `0x${'0123456789abcdef'.repeat(20)}`
    const amount = '9'.repeat(90)
    const wide: Column[] = [...columns, { key: 'hash', label: 'Tx hash', kind: 'text' }]
    const at = '2026-01-01T08:00:00.000Z'
    const rows = [
      { at, name, amount, hash },
      { at, name: 'x', amount: '1', hash: 'y' },
    ]
    const { pages } = await read(sampleDocument({ tables: [sampleTable(wide, rows)] }))
    expectTidy(pages)
    const texts = pages.flat()
    const within = (other: string) => joined(texts.filter(({ text }) => other.includes(text)))
    expect(within(hash)).toContain(hash)
    expect(joined(texts.filter(({ text }) => /^9+$/.test(text)))).toBe(amount)
    const words = texts.filter(({ text }) => text !== '' && name.includes(text) && /[A-Za-zéê]{2}/.test(text))
    expect(linesOf(words).join(' ')).toContain(name)
  })

  it('a row higher than a page goes on on the next, every character of it', async () => {
    const long = Array.from({ length: 4_000 }, (_, i) => `w${i}`).join(' ')
    for (const rows of [
      [{ at: null, name: long, amount: null }],
      [...rowsOf(1), { at: null, name: long, amount: '1' }],
    ]) {
      const { pages } = await read(sampleDocument({ tables: [sampleTable(columns, rows)] }))
      expect(pages.length).toBeGreaterThan(2)
      expectTidy(pages)
      const words = pages.flat().flatMap(({ text }) => text.split(' ').filter((word) => /^w\d+$/.test(word)))
      expect(words.join(' ')).toBe(long)
    }
  })

  it('tables with more columns than a page is wide are blocks of labelled values', async () => {
    const many: Column[] = Array.from({ length: 30 }, (_, i) => ({
      key: `k${i}`,
      label: `Figure number ${i}`,
      kind: i % 2 === 0 ? 'text' : 'amount',
    }))
    const rows = Array.from({ length: 40 }, (_, r) =>
      Object.fromEntries(many.map(({ key }, i) => [key, `value-${r}-${i}`])),
    )
    const { pages } = await read(sampleDocument({ tables: [sampleTable(many, rows)] }))
    expectTidy(pages)
    const values = linesOf(pages.flat()).filter((text) => text.startsWith('value-'))
    expect(values).toEqual(rows.flatMap((row) => many.map(({ key }) => row[key])))
  })

  it('leaves out columns whose content others hold, and marks missing values', async () => {
    const { pages } = await read(
      sampleDocument({
        tables: [
          sampleTable(
            [...columns, { key: 'id', label: 'Id', kind: 'text', isOmittedInPrint: true }],
            [
              { at: null, name: null, amount: null, id: 'hidden' },
              { at: null, name: 'x', amount: '1', id: 'hidden' },
            ],
          ),
          sampleTable(columns, [], 'Observations'),
        ],
      }),
    )
    const lines = linesOf(pages.flat())
    expect(lines.filter((line) => line === '–')).toHaveLength(4)
    expect(lines).not.toContain('hidden')
    expect(lines).toEqual(expect.arrayContaining(['Observations', 'None.']))
  })

  it.each([
    ['株式会社', '\\u{682a}\\u{5f0f}\\u{4f1a}\\u{793e}'],
    ['a😀b', 'a\\u{1f600}b'],
    ['Žluťoučký €5 – “quoted”', 'Žlu\\u{165}ou\\u{10d}ký €5 – “quoted”'],
    // Stored as two characters, shown as one.
    ['Mu\u0308ller', 'Müller'],
    ['\u202egnp.exe', '\\u{202e}gnp.exe'],
    ['soft\u00adhyphen', 'soft\\u{ad}hyphen'],
    ['\\u{41}', '\\u{5c}u{41}'],
    ['back\\slash (and) parentheses', 'back\\slash (and) parentheses'],
    [') Tj ET 0 0 0 rg BT (', ') Tj ET 0 0 0 rg BT ('],
    ['line\r\nbreak\ttab', 'line break tab'],
    ['nul\u0000', 'nul\\u{0}'],
  ])('shows %j as what it is, or spells it out', async (name, shown) => {
    const row = { at: null, name, amount: '1' }
    const { pages } = await read(sampleDocument({ tables: [sampleTable(columns, [row, row])] }))
    expect(linesOf(pages.flat()).filter((text) => text === shown)).toHaveLength(2)
    expectTidy(pages)
  })

  it('a head with very many filters leaves room for the report', async () => {
    const pageHead = ['Main vault', `filters: ${'addressIds = cmi8h2k1p0a1b2c3d4e5f6g7h; '.repeat(200)}`]
    const { pages } = await read(sampleDocument({ pageHead, tables: [sampleTable(columns, rowsOf(100))] }))
    expect(linesOf(pages[1]!).some((text) => text.endsWith('… (all on page 1)'))).toBe(true)
    expect(pages.length).toBeLessThan(8)
    expectTidy(pages)
  })

  it('is complete without any table', async () => {
    const { pages, total, source } = await read(sampleDocument())
    expect([pages.length, total]).toEqual([1, 'of 1'])
    expect(source.startsWith('%PDF-1.7')).toBe(true)
    expect(source.trimEnd().endsWith('%%EOF')).toBe(true)
    expect(source).toContain('Account statement</rdf:li>')
  })

  it('writes each page as soon as it is full', async () => {
    let read = 0
    function* rows() {
      for (const row of rowsOf(20_000)) {
        read += 1
        yield row
      }
    }
    let bytes = 0
    for await (const part of renderPdf(sampleDocument({ tables: [sampleTable(columns, rows())] }), () => {})) {
      bytes += part.length
      if (bytes > 50_000) break
    }
    expect(read).toBeLessThan(10_000)
  })
})
