import { describe, expect, it } from 'vitest'
import { bytesOf, sampleDocument, sampleTable } from '../../../testing/sample-document.ts'
import type { Column } from './document.ts'
import { renderCsv } from './render-csv.ts'

const text = (key: string): Column => ({ key, label: key, kind: 'text' })
const render = async (document = sampleDocument()) => (await bytesOf(renderCsv(document, () => {}))).toString('utf8')

/** The one line with this text as its only cell. */
async function cellOf(value: string, kind: Column['kind'] = 'text'): Promise<string> {
  const written = await render(
    sampleDocument({ facts: [], tables: [sampleTable([{ key: 'cell', label: 'Cell', kind }], [{ cell: value }])] }),
  )
  const [, body] = written.split('cell\r\n')
  return body!.replace(/\r\n$/, '')
}

describe('CSV', () => {
  it('holds the title, the facts and every table, as RFC 4180 has it', async () => {
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
    const written = await render(
      sampleDocument({
        facts: [
          { label: 'Vault', value: 'Main, vault' },
          { label: 'Filter', value: 'none' },
        ],
        tables: [sampleTable(columns, rows), sampleTable([text('kind')], [], 'Observations')],
      }),
    )
    expect(written).toBe(
      [
        '\uFEFFAccount statement',
        'Vault,"Main, vault"',
        'Filter,none',
        '',
        'Postings',
        'createdAt,counterparty.name,change,count',
        '2026-01-01T08:00:00.000Z,"Müller, ""Söhne""",-1250.50,2',
        '2026-01-02T08:00:00.000Z,,0,',
        '2026-01-03T08:00:00.000Z,"two\nlines",7,0',
        '',
        'Observations',
        'kind',
        '',
      ].join('\r\n'),
    )
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
    ['two\n=1+1', `"two\n'=1+1"`],
  ])('a formula is no formula: %j', async (value, cell) => {
    expect(await cellOf(value)).toBe(cell)
  })

  it.each(['-1', '-0.000001', '-1250.50'])('an amount below zero stays a number: %s', async (value) => {
    for (const kind of ['amount', 'usd'] as const) expect(await cellOf(value, kind)).toBe(value)
  })

  it.each(['-1+1', '=1', '-', '--1', '-1e5', '+1', '-1\t', '-.5'])(
    'what only looks like an amount is none: %j',
    async (value) => {
      expect(await cellOf(value, 'amount')).toBe(`'${value}`)
    },
  )

  it('a negative number in a column of text is text', async () => {
    expect(await cellOf('-1')).toBe("'-1")
  })

  it('a title or a fact is as harmless as a cell', async () => {
    const written = await render(sampleDocument({ facts: [{ label: 'Vault', value: '=1+1' }] }))
    expect(written).toContain("Vault,'=1+1\r\n")
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
    // The facts, the head of the table, and one batch.
    expect(read).toBeLessThan(1_000)
    for await (const _ of parts);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3_000)
    expect(counts.length).toBeGreaterThan(3)
  })
})
