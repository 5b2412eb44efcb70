import { describe, expect, it } from 'vitest'
import { readCsv } from './csv.ts'

const read = (text: string) => {
  const file = readCsv(text)
  return 'faults' in file ? file.faults : [file.header, ...file.rows.map(({ line, cells }) => [line, ...cells])]
}

describe('a CSV file', () => {
  it.each<[string, string, unknown]>([
    [
      'commas and LF',
      'a,b\n1,2\n3,4\n',
      [
        ['a', 'b'],
        [2, '1', '2'],
        [3, '3', '4'],
      ],
    ],
    [
      'semicolons and CRLF',
      'a;b\r\n1,5;2\r\n',
      [
        ['a', 'b'],
        [2, '1,5', '2'],
      ],
    ],
    [
      'no line end at the end',
      'a,b\n1,2',
      [
        ['a', 'b'],
        [2, '1', '2'],
      ],
    ],
    [
      'a byte order mark',
      '\uFEFFa,b\n1,2',
      [
        ['a', 'b'],
        [2, '1', '2'],
      ],
    ],
    ['one column', 'a\n1\n', [['a'], [2, '1']]],
    [
      'cells as they are',
      'a,b\n 1 ,=2\n',
      [
        ['a', 'b'],
        [2, ' 1 ', '=2'],
      ],
    ],
    [
      'empty cells',
      'a,b,c\n,,\n',
      [
        ['a', 'b', 'c'],
        [2, '', '', ''],
      ],
    ],
    [
      'empty lines, which count as lines',
      '\na,b\n\n1,2\n\n',
      [
        ['a', 'b'],
        [4, '1', '2'],
      ],
    ],
    [
      'quotes',
      'a,b\n"1,5","say ""hi"""\n',
      [
        ['a', 'b'],
        [2, '1,5', 'say "hi"'],
      ],
    ],
    [
      'an empty cell in quotes',
      'a,b\n"","" \n'.replace(' ', ''),
      [
        ['a', 'b'],
        [2, '', ''],
      ],
    ],
    [
      'line breaks in quotes',
      'a,b\n"1\r\n2",3\n4,5\n',
      [
        ['a', 'b'],
        [2, '1\r\n2', '3'],
        [4, '4', '5'],
      ],
    ],
    ['no rows', 'a,b\n', [['a', 'b']]],
  ])('may have %s', (_, text, rows) => {
    expect(read(text)).toEqual(rows)
  })

  it.each<[string, string, number, string]>([
    ['nothing', '', 1, 'must name the columns'],
    ['two separators', 'a,b;c\n1,2;3', 1, 'uses both commas and semicolons'],
    ['a quote within a cell', 'a,b\n1,2"3\n', 2, 'has a quote within a cell'],
    ['a quote that is open', 'a,b\n1,2\n"3,4\n5,6', 3, 'is not closed'],
    ['text after a quote', 'a,b\n"1"2,3\n', 2, 'goes on after the closing quote'],
    ['a carriage return alone', 'a,b\r1,2\r', 1, 'carriage return alone'],
    ['fewer cells', 'a,b\n1,2\n3\n', 3, 'has 1 cells'],
    ['more cells, after a cell of two lines', 'a,b\n"1\n1",2\n3,4,5\n', 4, 'has 3 cells'],
  ])('with %s is refused', (_, text, line, message) => {
    expect(read(text)).toEqual([{ line, field: 'line', message: expect.stringContaining(message) }])
  })

  it('names every line with the wrong number of cells', () => {
    expect(read('a,b\n1\n1,2\n1,2,3\n')).toMatchObject([{ line: 2 }, { line: 4 }])
  })
})
