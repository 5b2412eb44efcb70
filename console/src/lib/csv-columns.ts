/** Other names that a column of a file may have: `{ address: ['wallet'] }`. */
export type Aliases<Field extends string> = Record<Field, readonly string[]>

export type Columns<Field extends string> = {
  rows: Record<Field, string>[]
  /** Fields without a column. */
  missing: Field[]
  /** Columns without a field, which are left out. */
  unknown: string[]
}

/** Splits the lines of a file into rows. The first line names the columns, in any order. */
export function columnsOf<Field extends string>(lines: string[][], aliases: Aliases<Field>): Columns<Field> {
  const [header = [], ...body] = lines
  const fields = Object.keys(aliases) as Field[]
  const found = header.map((name) =>
    fields.find((field) => [field, ...aliases[field]].some((title) => plain(title) === plain(name))),
  )
  const rows = body.map((line) => {
    const row = Object.fromEntries(fields.map((field) => [field, ''])) as Record<Field, string>
    line.forEach((cell, index) => {
      const field = found[index]
      if (field !== undefined) row[field] = cell.trim()
    })
    return row
  })
  return {
    rows,
    missing: fields.filter((field) => !found.includes(field)),
    unknown: header.filter((_, index) => found[index] === undefined),
  }
}

/** Returns the name without case, spaces, hyphens and byte order mark, which do not distinguish columns. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** Returns the lines as a CSV file. */
export function csvOf(lines: readonly (readonly string[])[]): string {
  const cell = (text: string) => (/[",;\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return lines.map((line) => line.map(cell).join(',')).join('\r\n')
}
