import { describe, expect, it } from 'vitest'
import { readArchive, readCsv } from '../../../testing/read-files.ts'
import { bytesOf, sampleDocument, sampleSha256, sampleTable } from '../../../testing/sample-document.ts'
import type { Column } from '../documents/document.ts'
import { renderCsv, renderCsvArchive } from './render-csv.ts'

const text = (key: string): Column => ({ key, label: key, kind: 'text' })
const render = async (document = sampleDocument()) => (await bytesOf(renderCsv(document, () => {}))).toString('utf8')
const archive = async (document = sampleDocument(), limits?: Parameters<typeof renderCsvArchive>[2]) =>
  readArchive(await bytesOf(renderCsvArchive(document, () => {}, limits)))

/** Returns the line with this text as its only cell. */
async function cellOf(value: string, kind: Column['kind'] = 'text'): Promise<string> {
  const written = await render(
    sampleDocument({ facts: [], tables: [sampleTable([{ key: 'cell', label: 'Cell', kind }], [{ cell: value }])] }),
  )
  const [, body] = written.split('cell\r\n')
  return body!.replace(/\r\n$/, '')
}

describe('CSV', () => {
  it('holds exactly one table, in the form of RFC 4180', async () => {
    const columns: Column[] = [
      { key: 'createdAt', label: 'Created at', kind: 'timestamp' },
      { key: 'counterparty.name', label: 'Counterparty', kind: 'text' },
      { key: 'change', label: 'Change', kind: 'amount' },
      { key: 'count', label: 'Count', kind: 'integer' },
    ]
    const rows = [
      { createdAt: '2026-01-01T08:00:00.000Z', 'counterparty.name': 'Müller, "Söhne"', change: '-1250.50', count: 2 },
      { createdAt: '2026-01-02T08:00:00.000Z', 'counterparty.name': null, change: '0', count: null },
      { createdAt: '2026-01-03T08:00:00.000Z', 'counterparty.name': 'two\nlines', change: '7', count: 0 },
    ]
    expect(await render(sampleDocument({ tables: [sampleTable(columns, rows)] }))).toBe(
      [
        '\uFEFFcreatedAt,counterparty.name,change,count',
        '2026-01-01T09:00:00.000+01:00,"Müller, ""Söhne""",-1250.50,2',
        '2026-01-02T09:00:00.000+01:00,,0,',
        '2026-01-03T09:00:00.000+01:00,"two\nlines",7,0',
        '',
      ].join('\r\n'),
    )
  })

  it('holds the main table of several, and is refused where none is', async () => {
    const tables = [sampleTable([text('a')], []), sampleTable([text('b')], [{ b: 'x' }], 'Lines')]
    expect(await render(sampleDocument({ tables, mainTable: 'lines' }))).toBe('\uFEFFb\r\nx\r\n')
    await expect(render(sampleDocument({ tables, mainTable: null }))).rejects.toThrow('this one has none')
  })

  it('has times on the clocks of the zone, with both hours of a change of clocks, and in UTC with Z', async () => {
    const at: Column = { key: 'at', label: 'At', kind: 'timestamp' }
    const rows = ['2026-10-25T00:30:00.250Z', '2026-10-25T01:30:00.250Z'].map((instant) => ({ at: instant }))
    const tables = () => [sampleTable([at], rows)]
    expect(await render(sampleDocument({ tables: tables() }))).toBe(
      '\uFEFFat\r\n2026-10-25T02:30:00.250+02:00\r\n2026-10-25T02:30:00.250+01:00\r\n',
    )
    expect(await render(sampleDocument({ timezone: 'UTC', tables: tables() }))).toContain('2026-10-25T00:30:00.250Z')
  })

  it.each([
    ['=1+1', "'=1+1"],
    ['+1+1', "'+1+1"],
    ['-1+1', "'-1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1+1', "'\t'=1+1"],
    ['\r=1+1', `"'\r'=1+1"`],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠A1', "'＠A1"],
    ['=HYPERLINK("https://example.org","x")', `"'=HYPERLINK(""https://example.org"",""x"")"`],
    // Quotes are removed when a spreadsheet reads the file, so they do not turn a formula into text.
    ['"=1+1"', `"""=1+1"""`],
    ['a;=1+1', "a;'=1+1"],
    ['a|=cmd', "a|'=cmd"],
    // Split at the semicolon, the second cell begins with an empty pair of quotes, and the formula follows.
    ['a;"=1+1', `"a;""'=1+1"`],
    ['two\n=1+1', `"two\n'=1+1"`],
  ])('escapes a formula: %j', async (value, cell) => {
    expect(await cellOf(value)).toBe(cell)
  })

  it.each(['-1', '-0.000001', '-1250.50'])('keeps a negative amount as a number: %s', async (value) => {
    for (const kind of ['amount', 'usd'] as const) expect(await cellOf(value, kind)).toBe(value)
  })

  it.each(['-1+1', '=1', '-', '--1', '-1e5', '+1', '-1\t', '-.5'])(
    'escapes a text that only resembles an amount: %j',
    async (value) => {
      expect(await cellOf(value, 'amount')).toBe(`'${value}`)
    },
  )

  it('writes a negative number in a text column as text', async () => {
    expect(await cellOf('-1')).toBe("'-1")
  })

  it('reports the number of rows of each batch, and is made no faster than it is read', async () => {
    let read = 0
    function* rows() {
      for (; read < 3_000; read += 1) yield { cell: read }
    }
    const counts: number[] = []
    const parts = renderCsv(
      sampleDocument({ tables: [sampleTable([{ key: 'cell', label: 'Cell', kind: 'integer' }], rows())] }),
      (count) => counts.push(count),
    )
    for (let i = 0; i < 3; i += 1) await parts.next()
    // The head of the table, and two batches.
    expect(read).toBeLessThan(1_000)
    for await (const _ of parts);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3_000)
    expect(counts.length).toBeGreaterThan(3)
  })
})

describe('an archive of CSV', () => {
  const tables = () => [
    sampleTable([text('kind')], [{ kind: 'one' }, { kind: '=1+1' }]),
    sampleTable([text('code')], [], 'By asset'),
  ]

  it('has a file for each table, named after it, and the facts with the hash of the content', async () => {
    const files = await archive(
      sampleDocument({
        facts: [
          { label: 'Vault', value: 'Main, vault' },
          { label: 'Token', value: 'USDT on ethereum', reference: 'ctoken' },
          { label: 'Filter', value: '=1+1' },
        ],
        tables: tables(),
      }),
    )
    expect([...files.keys()]).toEqual(['postings.csv', 'by-asset.csv', 'about.csv'])
    expect(files.get('postings.csv')).toBe("\uFEFFkind\r\none\r\n'=1+1\r\n")
    expect(files.get('by-asset.csv')).toBe('\uFEFFcode\r\n')
    expect(readCsv(files.get('about.csv')!)).toEqual([
      ['fact', 'value', 'id'],
      ['Title', 'Account statement', ''],
      ['Vault', 'Main, vault', ''],
      ['Token', 'USDT on ethereum', 'ctoken'],
      // A title or a fact is as harmless as a cell.
      ['Filter', "'=1+1", ''],
      ['Content SHA-256', sampleSha256, ''],
    ])
  })

  it('continues in another file where one is too long, without losing or repeating a row', async () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => ({ kind: `row ${i}` }))
    const files = await archive(sampleDocument({ tables: [sampleTable([text('kind')], rows)] }), { bytesMax: 3_000 })
    const names = [...files.keys()]
    expect(names.slice(0, 2)).toEqual(['postings.csv', 'postings-2.csv'])
    const parts = names.filter((name) => name !== 'about.csv').map((name) => readCsv(files.get(name)!))
    expect(parts.length).toBeGreaterThan(2)
    for (const [head] of parts) expect(head).toEqual(['kind'])
    expect(parts.flatMap((lines) => lines.slice(1).map(([cell]) => cell))).toEqual(rows.map(({ kind }) => kind))
  })

  it('is made no faster than it is read', async () => {
    let read = 0
    function* rows() {
      for (; read < 100_000; read += 1) yield { kind: `${Math.sin(read)}` }
    }
    let bytes = 0
    for await (const part of renderCsvArchive(
      sampleDocument({ tables: [sampleTable([text('kind')], rows())] }),
      () => {},
    )) {
      bytes += part.length
      if (bytes > 100_000) break
    }
    expect(read).toBeLessThan(50_000)
  })
})
