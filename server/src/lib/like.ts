/** The pattern of LIKE that matches texts with `part` anywhere inside; `%`, `_` and `\` in it stand for themselves. */
export function containsPattern(part: string): string {
  return `%${escaped(part)}%`
}

/** The pattern of LIKE that matches texts that begin with `part`. */
export function prefixPattern(part: string): string {
  return `${escaped(part)}%`
}

const escaped = (part: string) => part.replace(/[\\%_]/g, '\\$&')
