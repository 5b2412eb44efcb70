import { strFromU8, unzipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { readWorkbook } from '../../../testing/read-files.ts'
import { bytesOf, sampleDocument, sampleTable } from '../../../testing/sample-document.ts'
import type { Column, ReportDocument } from './document.ts'
import { renderXlsx } from './render-xlsx.ts'

const read = async (document: ReportDocument, limits?: Parameters<typeof renderXlsx>[2]) =>
  readWorkbook(await bytesOf(renderXlsx(document, () => {}, limits)))
const text = (key: string): Column => ({ key, label: key, kind: 'text' })
const count: Column = { key: 'count', label: 'Count', kind: 'integer' }
/** The formats of ECMA-376: 0 is general, 49 is text; ours is a percentage. */
const [general, asText, asPercent] = [0, 49, 164]

describe('XLSX', () => {
  it('has a sheet of facts and one per table, with typed cells', async () => {
    const columns: Column[] = [
      { key: 'at', label: 'Created at', kind: 'timestamp' },
      { key: 'amount', label: 'Amount', kind: 'amount' },
      { key: 'usd', label: 'USD', kind: 'usd' },
      { key: 'count', label: 'Count', kind: 'integer' },
      { key: 'share', label: 'Share', kind: 'percent' },
      { key: 'name', label: 'Name', kind: 'text' },
    ]
    const huge = '115792089237316195423570985008687907853269984665640564039457.584007913129639935'
    const sheets = await read(
      sampleDocument({
        facts: [{ label: 'Vault', value: 'A & <B>' }],
        tables: [
          sampleTable(columns, [
            { at: '2026-01-01T08:00:00.000Z', amount: huge, usd: '-12.30', count: 3, share: 12.5, name: ' Müller' },
            { at: null, amount: '0', usd: '0.00', count: null, share: null, name: '' },
          ]),
        ],
      }),
    )
    expect(sheets.map(({ name }) => name)).toEqual(['Report', 'Postings'])
    const [facts, postings] = sheets
    expect([...facts!.cells].map(([place, { value }]) => [place, value])).toEqual([
      ['A1', 'Account statement'],
      ['A2', 'Vault'],
      ['B2', 'A & <B>'],
    ])
    expect(postings!.isFrozen).toBe(true)
    expect([...postings!.cells].map(([place, cell]) => [place, cell.value, cell.isText, cell.format])).toEqual([
      ['A1', 'Created at', true, asText],
      ['B1', 'Amount', true, asText],
      ['C1', 'USD', true, asText],
      ['D1', 'Count', true, asText],
      ['E1', 'Share', true, asText],
      ['F1', 'Name', true, asText],
      ['A2', '2026-01-01T08:00:00.000Z', true, asText],
      ['B2', huge, true, asText],
      ['C2', '-12.30', true, asText],
      ['D2', '3', false, general],
      ['E2', '12.5', false, asPercent],
      ['F2', ' Müller', true, asText],
      ['B3', '0', true, asText],
      ['C3', '0.00', true, asText],
    ])
  })

  it.each([
    '=1+1',
    '@SUM(A1)',
    '+1',
    '-1',
    '\t=1',
    '<f>1+1</f>',
    '</t></is></c><c r="Z9"><f>1</f></c>',
    '_x0041_',
    'a\u0000b\u000bc\uFFFF',
  ])('text is text, whatever it holds: %j', async (value) => {
    const files = unzipSync(
      await bytesOf(renderXlsx(sampleDocument({ tables: [sampleTable([text('cell')], [{ cell: value }])] }), () => {})),
    )
    expect(strFromU8(files['xl/worksheets/sheet2.xml']!)).not.toMatch(/<f>|(?![\n\r\t])[\p{Cc}\uFFFF]/u)
    const [, sheet] = await read(sampleDocument({ tables: [sampleTable([text('cell')], [{ cell: value }])] }))
    expect(sheet!.cells.get('A2')).toEqual({ value, isText: true, format: asText })
    expect(sheet!.cells.size).toBe(2)
  })

  it('goes on in the next sheet where one is full, without losing or repeating a row', async () => {
    const rows = Array.from({ length: 25 }, (_, i) => ({ count: i }))
    const sheets = await read(sampleDocument({ tables: [sampleTable([count], rows)] }), {
      rowsMax: 11,
      bytesMax: 2 ** 31,
    })
    expect(sheets.map(({ name }) => name)).toEqual(['Report', 'Postings', 'Postings (2)', 'Postings (3)'])
    const numbers = sheets.slice(1).map(({ cells }) => [...cells.values()].filter((cell) => !cell.isText))
    expect(numbers.map((cells) => cells.length)).toEqual([10, 10, 5])
    expect(numbers.flat().map(({ value }) => Number(value))).toEqual(rows.map((row) => row.count))
    for (const { cells } of sheets.slice(1)) expect(cells.get('A1')?.value).toBe('Count')
  })

  it('goes on in the next sheet where one has too many bytes', async () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => ({ count: i }))
    const sheets = await read(sampleDocument({ tables: [sampleTable([count], rows)] }), {
      rowsMax: 1_048_576,
      bytesMax: 10_000,
    })
    expect(sheets.length).toBeGreaterThan(2)
    const numbers = sheets.slice(1).flatMap(({ cells }) => [...cells.values()].filter((cell) => !cell.isText))
    expect(numbers.map(({ value }) => Number(value))).toEqual(rows.map((row) => row.count))
  })

  it('gives sheets names that differ and that Excel takes', async () => {
    const titles = [
      'A title that is longer than a sheet may have',
      'A title that is longer than a sheet can bear',
      "'By: [own] address?'",
    ]
    const sheets = await read(sampleDocument({ tables: titles.map((title) => sampleTable([count], [], title)) }))
    const names = sheets.map(({ name }) => name)
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(4)
    for (const name of names) {
      expect(name.length).toBeLessThanOrEqual(31)
      expect(name).not.toMatch(/[[\]:*?/\\]|^'|'$/)
    }
  })

  it('has a sheet with nothing but its header for a table without rows', async () => {
    const [, sheet] = await read(sampleDocument({ tables: [sampleTable([count], [])] }))
    expect([...sheet!.cells.keys()]).toEqual(['A1'])
  })

  it('cuts text that is longer than a cell may hold, and shows that it did', async () => {
    const [, sheet] = await read(
      sampleDocument({ tables: [sampleTable([text('cell')], [{ cell: 'x'.repeat(40_000) }])] }),
    )
    const { value } = sheet!.cells.get('A2')!
    expect([value.length, value.at(-1)]).toEqual([32_767, '…'])
  })
})
