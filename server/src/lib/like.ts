/** The pattern of LIKE that matches texts with `part` anywhere inside; `%`, `_` and `\` in it stand for themselves. */
export function containsPattern(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`
}
