/** A field of a record. `before` is absent where the record names no earlier value. */
export type Line = { path: string; before?: string; after: string | null }

/** Returns the changed fields of a record. For a record without a change, returns all its details. */
export function linesOf(details: Record<string, unknown>): Line[] {
  const { before, after, changes, ...rest } = details
  const detailLines = [...flat(rest), ...(isObject(changes) ? flat(changes) : [])].map(([path, value]) => ({
    path,
    after: value,
  }))
  if (!isObject(before) && !isObject(after)) {
    return [...detailLines, ...flat(named({ before, after })).map(([path, value]) => ({ path, after: value }))]
  }
  const old = new Map(flat(isObject(before) ? before : {}))
  const now = new Map(flat(isObject(after) ? after : {}))
  const paths = [...new Set([...old.keys(), ...now.keys()])].filter((path) => old.get(path) !== now.get(path))
  const changed = paths.map((path) => ({
    path,
    ...(isObject(before) ? { before: old.get(path) ?? '' } : {}),
    after: now.get(path) ?? null,
  }))
  return [...changed, ...detailLines]
}

function named(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns nested members by their path, such as "rules.0.effect". Empty members and null are left out. */
function flat(value: unknown, path = ''): [path: string, value: string][] {
  if (value === null || value === undefined) return []
  if (typeof value !== 'object') return [[path, String(value)]]
  const members = Object.entries(value)
  const isPlainList = Array.isArray(value) && value.every((item) => typeof item !== 'object')
  if (isPlainList) return value.length === 0 ? [] : [[path, value.join(', ')]]
  return members.flatMap(([key, member]) => flat(member, path === '' ? key : `${path}.${key}`))
}
