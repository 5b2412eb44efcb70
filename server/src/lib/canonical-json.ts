/**
 * Returns JSON with sorted keys and no white space (the idea of RFC 8785, for the values that we hash: strings, integers,
 * booleans, null, arrays and objects). Equal values give equal text, so that a hash of the text binds the value.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`Only safe integers have one canonical form, not ${value}`)
    return String(value)
  }
  if (typeof value === 'bigint') return JSON.stringify(value.toString())
  if (value instanceof Date) return JSON.stringify(value.toISOString())
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object') {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    members.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
  }
  throw new TypeError(`A ${typeof value} has no canonical form`)
}

export const isSameJson = (value: unknown, other: unknown): boolean => canonicalJson(value) === canonicalJson(other)
