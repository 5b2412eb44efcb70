import { expect, it } from 'vitest'
import { csvOf, knownMapping, mappingOf, rememberMapping, rowsBy } from './csv-columns.ts'

const aliases = { name: ['Empfänger'], address: ['wallet', 'to address'], note: [] }
const header = ['\uFEFFTo-Address', 'IBAN', 'EMPFÄNGER']

it('finds columns in any order, by other names and with a byte order mark', () => {
  const mapping = mappingOf(header, aliases)
  expect(mapping).toEqual({ name: 2, address: 0, note: null })
  expect(rowsBy([header, [' 0x1 ', 'DE00', 'Acme'], ['0x2']], mapping)).toEqual([
    { name: 'Acme', address: '0x1', note: '' },
    { name: '', address: '0x2', note: '' },
  ])
})

it('finds nothing in an empty file', () => {
  expect(mappingOf([], aliases)).toEqual({ name: null, address: null, note: null })
})

/** The storage of a browser. */
function storageOf(kept: Record<string, string> = {}) {
  return {
    getItem: (key: string) => kept[key] ?? null,
    setItem(key: string, value: string) {
      kept[key] = value
    },
  }
}

it('remembers the columns that a person chose for files with the same first line', () => {
  const storage = storageOf()
  rememberMapping(storage, 'payouts', header, { name: 1, address: 0, note: 2 })
  expect(knownMapping(storage, 'payouts', header, aliases)).toEqual({ name: 1, address: 0, note: 2 })
  expect(knownMapping(storage, 'payouts', [...header, 'note'], aliases)).toEqual({ name: 2, address: 0, note: 3 })
  expect(knownMapping(storage, 'imports', header, aliases)).toEqual({ name: 2, address: 0, note: null })
})

it.each([
  ['no JSON'],
  ['{}'],
  ['[1]'],
  [JSON.stringify([['toaddress;iban;empfänger', { name: 7, address: 'x', other: 1 }]])],
])('ignores a storage with other content: %s', (text) => {
  expect(knownMapping(storageOf({ 'columns of payouts': text }), 'payouts', header, aliases)).toEqual({
    name: 2,
    address: 0,
    note: null,
  })
})

it('quotes texts that contain delimiters', () => {
  expect(
    csvOf([
      ['a', 'b,c'],
      ['say "hi"', 'x\ny'],
    ]),
  ).toBe('a,"b,c"\r\n"say ""hi""","x\ny"')
})
