import { describe, expect, it } from 'vitest'
import { readPdf, type DrawnText as Text } from '../../../testing/read-files.ts'
import { bytesOf, sampleDocument, sampleSha256, sampleTable } from '../../../testing/sample-document.ts'
import type { Column, ReportDocument, Table } from '../documents/document.ts'
import { renderPdf } from './render-pdf.ts'

const [pageWidth, pageHeight] = [841.89, 595.28]

/** Returns the texts of every page with their positions, as the operators of the file draw them. */
async function read(document: ReportDocument) {
  const bytes = await bytesOf(renderPdf(document, () => {}, { isCompressed: false }))
  const { drawn, text, fonts } = readPdf(bytes)
  return { pages: drawn, total: /of \d+$/.exec(text)![0], source: bytes.toString('latin1'), fonts, text }
}

/** Fails when a text overlaps another or leaves the page. */
function expectTidy(pages: Text[][]): void {
  const faults: string[] = []
  for (const [number, texts] of pages.entries()) {
    for (const [i, text] of texts.entries()) {
      const isInside =
        text.x >= 39 && text.x + text.width <= pageWidth - 39 && text.y - text.size >= 20 && text.y <= pageHeight - 20
      if (!isInside) faults.push(`page ${number + 1}: "${text.text}" leaves the page`)
      for (const other of texts.slice(i + 1)) {
        // The height from the top of a capital to the baseline.
        if (Math.abs(text.y - other.y) >= 0.72 * Math.max(text.size, other.size)) continue
        const isBeside = text.x + text.width <= other.x + 0.5 || other.x + other.width <= text.x + 0.5
        if (!isBeside) faults.push(`page ${number + 1}: "${text.text}" over "${other.text}"`)
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
      expect(lines).toContain(
        'Report cmi8h2k1p0a1b2c3d4e5f6g7h · generated at 2026-02-01 11:00:00 +01:00 Europe/Berlin',
      )
      if (i > 0) expect(lines).toEqual(expect.arrayContaining([...pageHead, 'Postings (continued)']))
      expect(lines).toEqual(expect.arrayContaining(['Created (Europe/Berlin)', 'Counterparty', 'Amount']))
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
    expect(linesOf(texts)).toContain('2026-01-01 09:00:00 +01:00')
    expectTidy(pages)
  })

  it('wraps long words, hashes and figures, and loses no character', async () => {
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
    const grouped = joined(texts.filter(({ text }) => /^[9,]+$/.test(text)))
    expect(grouped).toMatch(/^999(,999){29}$/)
    expect(grouped.replaceAll(',', '')).toBe(amount)
    const words = texts.filter(({ text }) => text !== '' && name.includes(text) && /[A-Za-zéê]{2}/.test(text))
    expect(linesOf(words).join(' ')).toContain(name)
  })

  it('breaks no word of a head, and no group of digits', async () => {
    const figures = ['In', 'Out', 'Left'].map((label): Column => ({ key: label, label, kind: 'amount' }))
    const texts = ['Counterparty', 'Address', 'Note'].map((label): Column => ({ key: label, label, kind: 'text' }))
    const whale = { In: '123456789012345678901234567.123456789012345678', Out: '1', Left: `-${'9'.repeat(27)}.5` }
    const row = { ...whale, Counterparty: 'x'.repeat(90), Address: 'y'.repeat(90), Note: 'z '.repeat(90) }
    for (const columns of [
      [...texts, ...figures],
      [...texts, ...figures, ...texts.map((column, i) => ({ ...column, key: `t${i}` }))],
    ]) {
      const { pages } = await read(sampleDocument({ tables: [sampleTable(columns, [row, row])] }))
      expectTidy(pages)
      const lines = linesOf(pages.flat())
      for (const { label } of columns) expect(lines).toContain(label)
      const groups = lines.filter((line) => /^-?[\d,]+$/.test(line) && line.length > 9)
      expect(groups.length).toBeGreaterThan(0)
      for (const line of groups) expect(line).toMatch(/^-?\d{1,3}(,\d{3})*,?$/)
    }
  })

  it('continues a row that is higher than a page on the next one, with every character', async () => {
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

  it('draws tables with more columns than a page is wide as blocks of labelled values', async () => {
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

  it('leaves out columns whose content other columns have, and marks missing values', async () => {
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
    expect(lines).toEqual(expect.arrayContaining(['Unusual operations', 'None.']))
  })

  it.each([
    ['a😀b', 'a\\u{1f600}b'],
    ['Žluťoučký €5 – “quoted”', 'Žluťoučký €5 – “quoted”'],
    ['Zażółć gęślą jaźń Sp. z o.o.', 'Zażółć gęślą jaźń Sp. z o.o.'],
    ['İstanbul Şişli Ağaoğlu', 'İstanbul Şişli Ağaoğlu'],
    ['Ελληνική Εταιρεία', 'Ελληνική Εταιρεία'],
    ['ООО «Щит и Меч» Київ ґ', 'ООО «Щит и Меч» Київ ґ'],
    ['हिन्दी', '\\u{939}\\u{93f}\\u{928}\\u{94d}\\u{926}\\u{940}'],
    // A mark without a composed character could be drawn over its neighbour.
    ['x\u0323', 'x\\u{323}'],
    // Two stored characters are shown as one.
    ['Mu\u0308ller', 'Müller'],
    ['\u202egnp.exe', '\\u{202e}gnp.exe'],
    ['soft\u00adhyphen', 'soft\\u{ad}hyphen'],
    ['\\u{41}', '\\u{5c}u{41}'],
    ['back\\slash (and) parentheses', 'back\\slash (and) parentheses'],
    [') Tj ET 0 0 0 rg BT (', ') Tj ET 0 0 0 rg BT ('],
    ['line\r\nbreak\ttab', 'line break tab'],
    ['nul\u0000', 'nul\\u{0}'],
  ])('shows %j as it is, or escapes it', async (name, shown) => {
    const row = { at: null, name, amount: '1' }
    const { pages } = await read(sampleDocument({ tables: [sampleTable(columns, [row, row])] }))
    expect(linesOf(pages.flat()).filter((text) => text === shown)).toHaveLength(2)
    expectTidy(pages)
  })

  it('leaves room for the report below a head with very many filters', async () => {
    const pageHead = ['Main vault', `filters: ${'addressIds = cmi8h2k1p0a1b2c3d4e5f6g7h; '.repeat(200)}`]
    const { pages } = await read(sampleDocument({ pageHead, tables: [sampleTable(columns, rowsOf(100))] }))
    expect(linesOf(pages[1]!).some((text) => text.endsWith('... (all on page 1)'))).toBe(true)
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

  it('embeds the glyphs that it draws, of an open font, and nothing of the built-in fonts', async () => {
    const { fonts, source } = await read(sampleDocument({ tables: [sampleTable(columns, rowsOf(3))] }))
    expect(fonts.map((name) => name.replace(/^[A-Z]{6}\+/, '')).sort()).toEqual(['Arimo-Bold', 'Arimo-Regular'])
    expect(source).toContain('/FontFile2')
    expect(source).not.toContain('Helvetica')
    // A whole font of this family has more than 400 kB.
    expect(source.length).toBeLessThan(150_000)
  })

  it('shows times on the clocks of the zone, with both hours of a change of clocks', async () => {
    const rows = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z', '2026-07-01T00:00:00.000Z'].map((at) => ({
      at,
      name: 'x',
      amount: '1',
    }))
    const { pages } = await read(sampleDocument({ tables: [sampleTable(columns, rows)] }))
    expect(linesOf(pages.flat())).toEqual(
      expect.arrayContaining([
        '2026-10-25 02:30:00 +02:00',
        '2026-10-25 02:30:00 +01:00',
        '2026-07-01 02:00:00 +02:00',
      ]),
    )
    const utc = await read(sampleDocument({ timezone: 'UTC', tables: [sampleTable(columns, rows)] }))
    expect(linesOf(utc.pages.flat())).toEqual(expect.arrayContaining(['Created (UTC)', '2026-07-01 00:00:00']))
  })

  it('groups digits, and has the decimal points of a column below each other', async () => {
    const amounts = ['1234567.123456789012345678', '0.5', '-42', '1000000', '12.34']
    const rows = amounts.map((amount) => ({ at: null, name: 'x', amount }))
    const { pages } = await read(sampleDocument({ tables: [sampleTable(columns, rows)] }))
    const shown = ['1,234,567.123456789012345678', '0.5', '-42', '1,000,000', '12.34']
    const drawn = shown.map((text) => pages.flat().find((drawnText) => drawnText.text === text)!)
    const { width, size } = pages.flat().find(({ text }) => text === '0.5')!
    const digit = (width - widthOfPoint(drawn[1]!, drawn[4]!)) / 2
    const points = drawn.map(({ x, text }) => {
      const [whole = ''] = text.split('.')
      const digits = whole.replace(/\D/g, '').length
      const commas = whole.split(',').length - 1
      return x + digits * digit + commas * comma(size) + (whole.startsWith('-') ? minus(size) : 0)
    })
    expect(Math.max(...points) - Math.min(...points)).toBeLessThan(0.05)
    expectTidy(pages)
  })

  it('keeps the rows of an asset on a page where one can hold them, and repeats heading and header otherwise', async () => {
    const asset = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ asset: name, at: '2026-01-01T08:00:00.000Z', amount: `${i}.5` }))
    const rows = [...asset('AAA', 20), ...asset('BBB', 15), ...asset('CCC', 80), ...asset('DDD', 2)]
    const table: Table = {
      ...sampleTable(
        [{ key: 'asset', label: 'Asset', kind: 'text' }, ...columns.filter(({ key }) => key !== 'name')],
        rows,
      ),
      printed: [
        { label: 'Created at', kind: 'timestamp', keys: ['at'] },
        { label: 'Amount', kind: 'amount', keys: ['amount'] },
      ],
      headingOf: ({ asset }) => `${asset} on ethereum`,
      isGrouped: true,
    }
    const { pages } = await read(sampleDocument({ tables: [table] }))
    expectTidy(pages)
    const pagesOf = (heading: string) => pages.flatMap((texts, i) => (linesOf(texts).includes(heading) ? [i] : []))
    for (const name of ['AAA', 'BBB', 'DDD']) {
      expect(pagesOf(`${name} on ethereum`), name).toHaveLength(1)
      expect(pagesOf(`${name} on ethereum (continued)`), name).toEqual([])
    }
    expect(pagesOf('BBB on ethereum')).not.toEqual(pagesOf('AAA on ethereum'))
    expect(pagesOf('CCC on ethereum (continued)').length).toBeGreaterThan(0)
    for (const [i, texts] of pages.entries()) {
      const lines = linesOf(texts)
      if (!lines.some((line) => /^\d+\.5$/.test(line))) continue
      expect(lines, `page ${i + 1}`).toEqual(expect.arrayContaining(['Created (Europe/Berlin)', 'Amount']))
      // The heading of its asset is above the first row of every page.
      const first = texts.findIndex(({ text }) => /^\d+\.5$/.test(text))
      expect(texts.slice(0, first).some(({ text }) => / on ethereum/.test(text))).toBe(true)
    }
    expect(pages.flat().filter(({ text }) => /^\d+\.5$/.test(text))).toHaveLength(rows.length)
  })

  it('keeps a small table together with its title', async () => {
    for (let before = 1; before < 60; before += 7) {
      const { pages } = await read(
        sampleDocument({
          tables: [sampleTable(columns, rowsOf(before)), sampleTable(columns, rowsOf(6), 'Small')],
        }),
      )
      const [title] = pages.flatMap((texts, i) => (linesOf(texts).includes('Small') ? [i] : []))
      const after = linesOf(pages[title!]!).slice(linesOf(pages[title!]!).indexOf('Small'))
      expect(
        after.filter((text) => text.startsWith('Party ')),
        `after ${before} rows`,
      ).toHaveLength(6)
    }
  })

  it('prints the hash of the content in the foot of the last page, and only there', async () => {
    const { pages } = await read(sampleDocument({ tables: [sampleTable(columns, rowsOf(100))] }))
    const line = `SHA-256 of the content: ${sampleSha256}`
    expect(pages.map((texts) => linesOf(texts).filter((text) => text === line).length)).toEqual([
      ...Array(pages.length - 1).fill(0),
      1,
    ])
    expectTidy(pages)
  })

  describe('the chart', () => {
    const points = [
      { start: new Date('2026-01-31T23:00:00.000Z'), incoming: 1_500, outgoing: 500, net: 1_000 },
      { start: new Date('2026-02-28T23:00:00.000Z'), incoming: 0, outgoing: 750, net: -750 },
      { start: new Date('2026-03-31T22:00:00.000Z'), incoming: 0, outgoing: 0, net: 0 },
    ]
    /** Returns the filled rectangles of the first page by their colour. */
    const barsOf = (source: string) =>
      [...source.matchAll(/^(\S+ \S+ \S+) rg (\S+) (\S+) (\S+) (\S+) re f$/gm)].map(([, color, x, top, , height]) => ({
        color: color!,
        x: Number(x),
        top: Number(top),
        height: Number(height),
      }))
    const incoming = '0.1 0.36 0.46'
    const outgoing = '0.93 0.67 0.36'

    it('has a bar upwards and one downwards for every bucket, to scale, and a line for the net', async () => {
      const chart = { title: 'Flow over time', unit: 'USD', points }
      const { pages, source } = await read(sampleDocument({ chart }))
      expectTidy(pages)
      const lines = linesOf(pages[0]!)
      expect(lines).toEqual(expect.arrayContaining(['Flow over time', 'In, USD', 'Out, USD', 'Net, USD', '1,500', '0']))
      expect(lines).toEqual(expect.arrayContaining(['2026-02-01', '2026-03-01', '2026-04-01']))
      // The first rectangle of each colour is that of the legend.
      const [, up, ...moreUp] = barsOf(source).filter(({ color }) => color === incoming)
      const [, down, second, ...moreDown] = barsOf(source).filter(({ color }) => color === outgoing)
      expect([moreUp, moreDown]).toEqual([[], []])
      expect(up!.height / down!.height).toBeCloseTo(3, 1)
      expect(second!.height / down!.height).toBeCloseTo(1.5, 1)
      expect(up!.top + up!.height).toBeCloseTo(down!.top, 1)
      expect(second!.x).toBeGreaterThan(down!.x)
      expect(source).toMatch(/0\.08 0\.08 0\.08 RG 0\.9 w (\S+ \S+ m) (\S+ \S+ l) (\S+ \S+ l) S/)
    })

    it('says so when there is nothing to draw, and holds years of days', async () => {
      const nothing = points.map(({ start }) => ({ start, incoming: 0, outgoing: 0, net: 0 }))
      const empty = await read(sampleDocument({ chart: { title: 'Flow over time', unit: 'USD', points: nothing } }))
      expect(empty.text).toContain('There is nothing to draw')
      const days = Array.from({ length: 3_653 }, (_, i) => ({
        start: new Date(Date.UTC(2016, 0, 1 + i)),
        incoming: i % 90,
        outgoing: i % 70,
        net: (i % 90) - (i % 70),
      }))
      const long = await read(sampleDocument({ chart: { title: 'Flow over time', unit: 'USD', points: days } }))
      expectTidy(long.pages)
      expect(barsOf(long.source).length).toBeGreaterThan(7_000)
    })

    it('has powers of ten where the digits of a value have no room beside the axis', async () => {
      const whale = points.map((point) => ({ ...point, incoming: 1.2e26, net: 1.2e26 }))
      const { pages, text } = await read(
        sampleDocument({ chart: { title: 'Flow over time', unit: 'USD', points: whale } }),
      )
      expectTidy(pages)
      expect(text).toMatch(/\d × 10\^2\d/)
      expect(text).not.toMatch(/\de\+\d/)
    })

    it('is missing in a report without buckets', async () => {
      const { text } = await read(sampleDocument({ tables: [sampleTable(columns, rowsOf(1))] }))
      expect(text).not.toContain('Net, USD')
    })
  })
})

/** Returns the width of a decimal point, from two numbers whose digits all have the same width. */
function widthOfPoint(short: Text, long: Text): number {
  // 0.5 has two digits, 12.34 four.
  return 2 * short.width - long.width
}
/** The width of a comma of Arimo, whose commas and hyphens have these parts of the size. */
const comma = (size: number) => size * 0.27783203125
const minus = (size: number) => size * 0.3330078125
