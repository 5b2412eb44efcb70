import { expect, it } from 'vitest'
import { columnsOf, csvOf } from './csv-columns.ts'

const aliases = { name: ['Empfänger'], address: ['wallet', 'to address'], note: [] }

it('finds columns in any order, by other names and with a byte order mark', () => {
  const { rows, missing, unknown } = columnsOf(
    [['\uFEFFTo-Address', 'IBAN', 'EMPFÄNGER'], [' 0x1 ', 'DE00', 'Acme'], ['0x2']],
    aliases,
  )
  expect(rows).toEqual([
    { name: 'Acme', address: '0x1', note: '' },
    { name: '', address: '0x2', note: '' },
  ])
  expect(missing).toEqual(['note'])
  expect(unknown).toEqual(['IBAN'])
})

it('finds nothing in an empty file', () => {
  expect(columnsOf([], aliases)).toEqual({ rows: [], missing: ['name', 'address', 'note'], unknown: [] })
})

it('quotes what a CSV file would take for a delimiter', () => {
  expect(
    csvOf([
      ['a', 'b,c'],
      ['say "hi"', 'x\ny'],
    ]),
  ).toBe('a,"b,c"\r\n"say ""hi""","x\ny"')
})
