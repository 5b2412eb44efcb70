/** Other names that a column of a file may have: `{ address: ['wallet'] }`. */
export type Aliases<Field extends string> = Record<Field, readonly string[]>

/** The place of the column of each field; null for a field without a column. */
export type Mapping<Field extends string> = Record<Field, number | null>

/** Finds the column of each field by its names. The first line of a file names the columns, in any order. */
export function mappingOf<Field extends string>(header: readonly string[], aliases: Aliases<Field>): Mapping<Field> {
  const fields = Object.keys(aliases) as Field[]
  const found = fields.map((field) => {
    const titles = [field, ...aliases[field]].map(plain)
    const index = header.findIndex((name) => titles.includes(plain(name)))
    return [field, index === -1 ? null : index] as const
  })
  return Object.fromEntries(found) as Mapping<Field>
}

/** Returns the lines below the first one as rows. */
export function rowsBy<Field extends string>(
  lines: readonly string[][],
  mapping: Mapping<Field>,
): Record<Field, string>[] {
  const columns = Object.entries(mapping) as [Field, number | null][]
  return lines.slice(1).map((line) => {
    const cells = columns.map(([field, index]) => [field, (index === null ? '' : (line[index] ?? '')).trim()])
    return Object.fromEntries(cells) as Record<Field, string>
  })
}

const rememberedMax = 20

/**
 * Returns the columns that a person chose for an earlier file with the same first line, or else those that are found by name.
 *
 * @param key what the files are about
 */
export function knownMapping<Field extends string>(
  storage: Pick<Storage, 'getItem'>,
  key: string,
  header: readonly string[],
  aliases: Aliases<Field>,
): Mapping<Field> {
  const guessed = mappingOf(header, aliases)
  const chosen = remembered(storage, key).find(([line]) => line === lineOf(header))?.[1]
  const isPlace = (value: unknown) => value === null || (Number.isInteger(value) && Number(value) < header.length)
  const kept = Object.entries(chosen ?? {}).filter(([field, value]) => field in guessed && isPlace(value))
  return { ...guessed, ...(Object.fromEntries(kept) as Partial<Mapping<Field>>) }
}

export function rememberMapping<Field extends string>(
  storage: Pick<Storage, 'getItem' | 'setItem'>,
  key: string,
  header: readonly string[],
  mapping: Mapping<Field>,
): void {
  const others = remembered(storage, key).filter(([line]) => line !== lineOf(header))
  storage.setItem(storageKey(key), JSON.stringify([[lineOf(header), mapping], ...others].slice(0, rememberedMax)))
}

const storageKey = (key: string) => `columns of ${key}`
const lineOf = (header: readonly string[]) => header.map(plain).join(';')

function remembered(
  storage: Pick<Storage, 'getItem'>,
  key: string,
): [line: string, mapping: Record<string, unknown>][] {
  try {
    const list: unknown = JSON.parse(storage.getItem(storageKey(key)) ?? '[]')
    return Array.isArray(list) ? list.filter((entry) => Array.isArray(entry) && typeof entry[1] === 'object') : []
  } catch {
    return []
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
