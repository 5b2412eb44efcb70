import { describe, expect, it } from 'vitest'
import { csvOf } from './csv-columns.ts'
import { parseCsv } from './parse-csv.ts'

describe('a CSV file', () => {
  it('is read with each delimiter and each end of line, without its byte order mark and its empty lines', () => {
    const lines = [
      ['name', 'amount'],
      ['Ann', '1'],
    ]
    for (const file of ['name,amount\r\nAnn,1\r\n', '\uFEFFname;amount\rAnn;1', '\n\nname\tamount\n \t \nAnn\t1\n'])
      expect(parseCsv(file)).toEqual(lines)
    expect(parseCsv('')).toEqual([])
  })

  it('keeps delimiters, ends of line and quotes in a quoted cell', () => {
    expect(parseCsv('"a;b",c\n"two\r\nlines","say ""yes"""\n,"",\n')).toEqual([
      ['a;b', 'c'],
      ['two\r\nlines', 'say "yes"'],
    ])
  })

  it('is refused where a quoted cell does not end, or goes on after its end', () => {
    for (const file of ['name\n"Ann', 'name\n"Ann"a,1', '"']) expect(parseCsv(file)).toBe(null)
  })

  it('keeps a decimal comma where semicolons delimit', () => {
    expect(parseCsv('name;amount\nAnn;1.234,56\n')).toEqual([
      ['name', 'amount'],
      ['Ann', '1.234,56'],
    ])
  })

  it('is what was written', () => {
    const lines = [
      ['a', 'b"', '\n'],
      ['', ',', 'ü'],
    ]
    expect(parseCsv(csvOf(lines))).toEqual(lines)
  })
})
