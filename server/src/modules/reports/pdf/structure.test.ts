import { describe, expect, it } from 'vitest'
import { type Element, readStructure } from '../../../testing/read-structure.ts'
import { bytesOf, sampleDocument, sampleTable } from '../../../testing/sample-document.ts'
import type { Column, ReportDocument } from '../documents/document.ts'
import { taggedRowsMax } from './pdf-structure.ts'
import { renderPdf } from './render-pdf.ts'

const columns: Column[] = [
  { key: 'at', label: 'Created at', kind: 'timestamp' },
  { key: 'name', label: 'Counterparty', kind: 'text' },
  { key: 'amount', label: 'Amount', kind: 'amount' },
]
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ at: null, name: `Party ${i}`, amount: `${i}.5` }))

const read = async (document: ReportDocument) =>
  readStructure(await bytesOf(renderPdf(document, () => {}, { isCompressed: false })))
const outline = (element: Element): unknown[] =>
  element.elements.map((inner) =>
    inner.elements.length === 0 ? `${inner.type} ${inner.text}` : [inner.type, ...outline(inner)],
  )

// The reader fails where the structure is not whole.
describe('the structure of a PDF', () => {
  it('has the title, facts, tables with their heads, and the chart, in the order in which they are read', async () => {
    const points = [{ start: new Date('2026-01-31T23:00:00.000Z'), incoming: 2, outgoing: 1, net: 1 }]
    const document = await read(
      sampleDocument({
        print: {
          block: [{ label: 'Period', value: 'January' }],
          notice: 'Not ended',
          facts: [{ label: 'Vault', value: 'שרה כהן' }],
        },
        chart: { title: 'Flow over time', unit: 'USD', points },
        tables: [sampleTable(columns, rowsOf(2)), sampleTable(columns, [], 'Observations')],
      }),
    )
    expect(document.type).toBe('Document')
    const [figure] = document.elements.filter(({ type }) => type === 'Figure')
    expect(figure!.head).toContain('/Alt (Flow over time)')
    expect(outline(document).filter((part) => !String(part).startsWith('Figure'))).toEqual([
      'H1 Account statement',
      'P Period January',
      'P Not ended',
      'P Vault שרה כהן',
      'H2 Flow over time',
      'H2 Postings',
      [
        'Table',
        ['TR', 'TH Created (Europe/Berlin)', 'TH Counterparty', 'TH Amount'],
        ['TR', 'TD –', 'TD Party 0', 'TD 0.5'],
        ['TR', 'TD –', 'TD Party 1', 'TD 1.5'],
      ],
      'H2 Unusual operations',
      'P None.',
      expect.stringMatching(/^P SHA-256 of the content: /),
    ])
    const [, , , , , , , table] = document.elements
    for (const head of table!.elements[0]!.elements) expect(head.head).toContain('/Scope /Column')
  })

  it('has each table and each head once, however many pages it fills', async () => {
    const table = { ...sampleTable(columns, rowsOf(150)), isGrouped: true, headingOf: () => 'ETH on ethereum' }
    const document = await read(sampleDocument({ tables: [table] }))
    const tables = document.elements.filter(({ type }) => type === 'Table')
    expect(tables).toHaveLength(1)
    const rows = tables[0]!.elements
    expect(rows).toHaveLength(152)
    expect(rows[1]!.elements.map(({ type, text }) => `${type} ${text}`)).toEqual(['TH ETH on ethereum'])
    expect(rows.slice(2).map(({ elements }) => elements[1]!.text)).toEqual(rowsOf(150).map(({ name }) => name))
    expect(JSON.stringify(document)).not.toContain('(continued)')
  })

  it('has the values of rows that are drawn as blocks, and a long fact as one paragraph over two pages', async () => {
    const many: Column[] = Array.from({ length: 30 }, (_, i) => ({ key: `k${i}`, label: `Figure ${i}`, kind: 'text' }))
    const rows = [0, 1].map((r) => Object.fromEntries(many.map(({ key }, i) => [key, `value-${r}-${i}`])))
    const long = Array.from({ length: 2_500 }, (_, i) => `w${i}`).join(' ')
    const facts = [{ label: 'Filter', value: long }]
    const document = await read(sampleDocument({ print: { facts }, facts, tables: [sampleTable(many, rows)] }))
    expect(document.elements.map(({ text }) => text)).toContain(`Filter ${long}`)
    const leaves = (element: Element): Element[] =>
      element.elements.length === 0 ? [element] : element.elements.flatMap(leaves)
    const blocks = document.elements.find(({ type }) => type === 'Div')!
    expect(leaves(blocks).map(({ text }) => text)).toEqual(
      rows.flatMap((row) => many.map(({ key, label }) => `${label} ${row[key]}`)),
    )
  })

  it('has rows beyond the first ones as one paragraph for each page, with all of their text', async () => {
    const count = taggedRowsMax + 500
    const document = await read(sampleDocument({ tables: [sampleTable(columns, rowsOf(count))] }))
    const [table] = document.elements.filter(({ type }) => type === 'Table')
    expect(table!.elements).toHaveLength(taggedRowsMax)
    const rest = document.elements.filter(({ type, text }) => type === 'P' && text.includes('Party '))
    expect(rest.length).toBeLessThan(30)
    const names = rest.flatMap(({ text }) => text.match(/Party \d+/g) ?? [])
    expect(names).toEqual(
      rowsOf(count)
        .map(({ name }) => name)
        .slice(taggedRowsMax - 1),
    )
  })
})
