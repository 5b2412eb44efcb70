import { strFromU8, unzipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { readWorkbook } from '../../../testing/read-files.ts'
import { bytesOf, sampleDocument, sampleSha256, sampleTable } from '../../../testing/sample-document.ts'
import type { Column, ReportDocument } from '../documents/document.ts'
import { renderXlsx } from './render-xlsx.ts'

const read = async (document: ReportDocument, limits?: Parameters<typeof renderXlsx>[2]) =>
  readWorkbook(await bytesOf(renderXlsx(document, () => {}, limits)))
const text = (key: string): Column => ({ key, label: key, kind: 'text' })
const count: Column = { key: 'count', label: 'Count', kind: 'integer' }
/** The formats of ECMA-376: 0 is general, 4 has two decimals, 49 is text; ours are a percentage, a time, and an amount. */
const [general, asUsd, asText, asPercent, asTime, asAmount] = [0, 4, 49, 164, 165, 166]

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
    expect(sheets.map(({ name }) => name)).toEqual(['About', 'Postings'])
    const [facts, postings] = sheets
    expect([...facts!.cells].map(([place, { value }]) => [place, value])).toEqual([
      ['A1', 'Account statement'],
      ['A2', 'Vault'],
      ['B2', 'A & <B>'],
      ['A3', 'Times'],
      ['B3', 'on the clocks of Europe/Berlin'],
      ['A4', 'Content SHA-256'],
      ['B4', sampleSha256],
    ])
    expect(postings!.noted).toEqual([])
    expect(postings!.isFrozen).toBe(true)
    expect([...postings!.cells].map(([place, cell]) => [place, cell.value, cell.isText, cell.format])).toEqual([
      ['A1', 'Created at (Europe/Berlin)', true, asText],
      ['B1', 'Amount', true, asText],
      ['C1', 'Amount, exact', true, asText],
      ['D1', 'USD', true, asText],
      ['E1', 'Count', true, asText],
      ['F1', 'Share', true, asText],
      ['G1', 'Name', true, asText],
      // 46023 days after 1899-12-30, and nine hours on the clocks of Berlin.
      ['A2', '46023.375', false, asTime],
      ['B2', String(Number(huge)), false, asAmount],
      ['C2', huge, true, asText],
      ['D2', '-12.30', false, asUsd],
      ['E2', '3', false, general],
      ['F2', '12.5', false, asPercent],
      ['G2', ' Müller', true, asText],
      ['B3', '0', false, asAmount],
      ['C3', '0', true, asText],
      ['D3', '0.00', false, asUsd],
    ])
  })

  it('has amounts that can be summed up, in one format, and every digit beside them', async () => {
    const amount: Column = { key: 'amount', label: 'Amount', kind: 'amount' }
    const values = ['123456789012345678901234567.5', '0.000000000000000001', '-2.5', '100', '1.000000000000000000']
    const rows = values.map((value) => ({ amount: value }))
    const [, sheet] = await read(sampleDocument({ tables: [sampleTable([amount], rows)] }))
    const cellsOf = (column: string) => values.map((_, i) => sheet!.cells.get(`${column}${i + 2}`)!)
    expect(cellsOf('A').map(({ value }) => Number(value))).toEqual(values.map(Number))
    expect(cellsOf('A').every(({ isText, format }) => !isText && format === asAmount)).toBe(true)
    expect(cellsOf('B')).toEqual(values.map((value) => ({ value, isText: true, format: asText })))
  })

  it('has a filter over each table, and is printed on A4 landscape with its header on each page', async () => {
    const table = sampleTable([count, text('name')], [{ count: 1, name: 'x' }], "Peter's table")
    const files = unzipSync(await bytesOf(renderXlsx(sampleDocument({ tables: [table] }), () => {})))
    const sheet = strFromU8(files['xl/worksheets/sheet2.xml']!)
    expect(sheet).toContain('</sheetData><autoFilter ref="A1:B2"/><pageMargins')
    expect(sheet).toContain('orientation="landscape" fitToWidth="1" fitToHeight="0"')
    const workbook = strFromU8(files['xl/workbook.xml']!)
    expect(workbook).toContain(`localSheetId="1" hidden="1">'Peter''s table'!$A$1:$B$2</definedName>`)
    expect(workbook).toContain(`name="_xlnm.Print_Titles" localSheetId="1">'Peter''s table'!$1:$1</definedName>`)
  })

  it.each<[string, boolean, number]>([
    ['123456789012345', false, asUsd],
    ['1234567890123456', true, asText],
    ['12345678901234500000', false, asUsd],
    ['0.000000000000000001', false, asUsd],
    ['-1.00000000000001', false, asUsd],
    ['1.000000000000001', true, asText],
    ['1.000000000000000000', false, asUsd],
    [`0.${'0'.repeat(30)}1`, true, asText],
    ['1e5', true, asText],
    ['+1', true, asText],
  ])('writes the USD value %s as text: %s', async (value, isText, format) => {
    const usd: Column = { key: 'usd', label: 'USD', kind: 'usd' }
    const [about, sheet] = await read(sampleDocument({ tables: [sampleTable([usd], [{ usd: value }])] }))
    const cell = sheet!.cells.get('A2')!
    expect(cell).toEqual({ value, isText, format })
    // A program that reads the number as a double shows the same digits again.
    if (!isText) expect(Number(cell.value).toPrecision(15)).toBe(Number(value).toPrecision(15))
    const isLong = isText && /^[\d.]+$/.test(value)
    expect(sheet!.noted).toEqual(isLong ? ['A'] : [])
    expect([...about!.cells.values()].some((fact) => fact.value === 'Numbers as text')).toBe(isLong)
  })

  it('writes a time before the dates of a spreadsheet, and both hours of a change of clocks', async () => {
    const at: Column = { key: 'at', label: 'At', kind: 'timestamp' }
    const rows = ['1899-01-01T00:00:00.000Z', '2026-10-25T00:30:00.250Z', '2026-10-25T01:30:00.250Z'].map(
      (instant) => ({
        at: instant,
      }),
    )
    const [, sheet] = await read(sampleDocument({ tables: [sampleTable([at], rows)] }))
    const [early, first, second] = ['A2', 'A3', 'A4'].map((place) => sheet!.cells.get(place)!)
    expect(early).toEqual({ value: '1899-01-01 01:00:00 +01:00', isText: true, format: asText })
    // Both are 2:30 on the clocks.
    expect(first).toEqual(second)
    const milliseconds = Math.round((Number(first!.value) - 25_569) * 86_400_000)
    expect(new Date(milliseconds).toISOString()).toBe('2026-10-25T02:30:00.250Z')
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
  ])('writes any text as text: %j', async (value) => {
    const files = unzipSync(
      await bytesOf(renderXlsx(sampleDocument({ tables: [sampleTable([text('cell')], [{ cell: value }])] }), () => {})),
    )
    expect(strFromU8(files['xl/worksheets/sheet2.xml']!)).not.toMatch(/<f>|(?![\n\r\t])[\p{Cc}\uFFFF]/u)
    const [, sheet] = await read(sampleDocument({ tables: [sampleTable([text('cell')], [{ cell: value }])] }))
    expect(sheet!.cells.get('A2')).toEqual({ value, isText: true, format: asText })
    expect(sheet!.cells.size).toBe(2)
  })

  it('continues in the next sheet where one is full, without losing or repeating a row', async () => {
    const rows = Array.from({ length: 25 }, (_, i) => ({ count: i }))
    const sheets = await read(sampleDocument({ tables: [sampleTable([count], rows)] }), {
      rowsMax: 11,
      bytesMax: 2 ** 31,
    })
    expect(sheets.map(({ name }) => name)).toEqual(['About', 'Postings', 'Postings (2)', 'Postings (3)'])
    const numbers = sheets.slice(1).map(({ cells }) => [...cells.values()].filter((cell) => !cell.isText))
    expect(numbers.map((cells) => cells.length)).toEqual([10, 10, 5])
    expect(numbers.flat().map(({ value }) => Number(value))).toEqual(rows.map((row) => row.count))
    for (const { cells } of sheets.slice(1)) expect(cells.get('A1')?.value).toBe('Count')
  })

  it('continues in the next sheet where one has too many bytes', async () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => ({ count: i }))
    const sheets = await read(sampleDocument({ tables: [sampleTable([count], rows)] }), {
      rowsMax: 1_048_576,
      bytesMax: 10_000,
    })
    expect(sheets.length).toBeGreaterThan(2)
    const numbers = sheets.slice(1).flatMap(({ cells }) => [...cells.values()].filter((cell) => !cell.isText))
    expect(numbers.map(({ value }) => Number(value))).toEqual(rows.map((row) => row.count))
  })

  it('gives sheets different names that Excel accepts', async () => {
    const titles = [
      'A title that is longer than a sheet may have',
      'A title that is longer than a sheet can bear',
      "'By: [own] address?'",
      'History',
      'x'.repeat(40),
    ]
    const sheets = await read(sampleDocument({ tables: titles.map((title) => sampleTable([count], [], title)) }))
    const names = sheets.map(({ name }) => name)
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(6)
    expect(names.slice(1)).toEqual([
      'A title that is longer than a',
      'A title that is longer than (2)',
      'By own address',
      'History (2)',
      'x'.repeat(31),
    ])
    for (const name of names) {
      expect(name.length).toBeLessThanOrEqual(31)
      expect(name).not.toMatch(/[[\]:*?/\\]|^'|'$/)
    }
  })

  it('has a sheet with nothing but its header for a table without rows', async () => {
    const [, sheet] = await read(sampleDocument({ tables: [sampleTable([count], [])] }))
    expect([...sheet!.cells.keys()]).toEqual(['A1'])
  })

  it('cuts text that is longer than a cell may hold, and marks the cut', async () => {
    const [, sheet] = await read(
      sampleDocument({ tables: [sampleTable([text('cell')], [{ cell: 'x'.repeat(40_000) }])] }),
    )
    const { value } = sheet!.cells.get('A2')!
    expect([value.length, value.at(-1)]).toEqual([32_767, '…'])
  })
})
