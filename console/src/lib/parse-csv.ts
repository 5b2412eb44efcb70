const delimiters = [',', ';', '\t'] as const

/**
 * Returns the cells of a CSV file (RFC 4180) line by line, without lines that hold nothing. The delimiter is a comma, a semicolon or
 * a tab: the one that the first line has most of. Returns null for a quoted cell that does not end, or is followed by more text.
 */
export function parseCsv(file: string): string[][] | null {
  const text = file.startsWith('\uFEFF') ? file.slice(1) : file
  const delimiter = delimiterOf(text)
  const lines: string[][] = []
  let line: string[] = []
  let at = 0
  while (at <= text.length) {
    const cell = text[at] === '"' ? quotedAt(text, at) : plainAt(text, at, delimiter)
    if (cell === null) return null
    line.push(cell.value)
    const next = text[cell.end]
    const isLineEnd = next === undefined || next === '\r' || next === '\n'
    if (!isLineEnd && next !== delimiter) return null
    at = cell.end + (next === '\r' && text[cell.end + 1] === '\n' ? 2 : 1)
    if (!isLineEnd) continue
    if (line.some((value) => value.trim() !== '')) lines.push(line)
    line = []
  }
  return lines
}

type Cell = { value: string /** The place after the cell. */; end: number }

function plainAt(text: string, start: number, delimiter: string): Cell {
  let end = start
  while (end < text.length && text[end] !== delimiter && text[end] !== '\r' && text[end] !== '\n') end += 1
  return { value: text.slice(start, end), end }
}

/** Reads a cell in quotes, in which a doubled quote stands for a quote. */
function quotedAt(text: string, start: number): Cell | null {
  let value = ''
  let from = start + 1
  for (;;) {
    const quote = text.indexOf('"', from)
    if (quote === -1) return null
    value += text.slice(from, quote)
    if (text[quote + 1] !== '"') return { value, end: quote + 1 }
    value += '"'
    from = quote + 2
  }
}

function delimiterOf(text: string): string {
  const [first = ''] = text
    .trimStart()
    .replace(/"(?:[^"]|"")*"/g, '')
    .split(/[\r\n]/, 1)
  const count = (delimiter: string) => first.split(delimiter).length
  return delimiters.reduce<string>((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best), ',')
}
