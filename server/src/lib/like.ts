/** Returns the pattern of LIKE for texts with `part` anywhere inside. `%`, `_` and `\` in it stand for themselves. */
export function containsPattern(part: string): string {
  return `%${escaped(part)}%`
}

/** Returns the pattern of LIKE for texts that begin with `part`. */
export function prefixPattern(part: string): string {
  return `${escaped(part)}%`
}

const escaped = (part: string) => part.replace(/[\\%_]/g, '\\$&')
