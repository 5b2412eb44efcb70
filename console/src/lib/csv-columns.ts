/** What a column of a file may be called, besides its own name: `{ address: ['wallet'] }`. */
export type Aliases<Field extends string> = Record<Field, readonly string[]>

export type Columns<Field extends string> = {
  rows: Record<Field, string>[]
  /** Fields that no column is called after. */
  missing: Field[]
  /** Columns that no field is called after, and which are left out. */
  unknown: string[]
}

/** Takes the rows of a file apart by its first one, which names the columns in any order. */
export function columnsOf<Field extends string>(lines: string[][], aliases: Aliases<Field>): Columns<Field> {
  const [header = [], ...body] = lines
  const fields = Object.keys(aliases) as Field[]
  const found = header.map((name) =>
    fields.find((field) => [field, ...aliases[field]].some((each) => plain(each) === plain(name))),
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

/** Case, spaces, hyphens and a byte order mark do not tell columns apart. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** A CSV file of these lines. */
export function csvOf(lines: readonly (readonly string[])[]): string {
  const cell = (text: string) => (/[",;\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return lines.map((line) => line.map(cell).join(',')).join('\r\n')
}
