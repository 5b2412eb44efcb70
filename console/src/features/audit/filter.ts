import type { AuditFilter } from './queries.ts'

export type AuditSearch = { [Name in keyof AuditFilter]?: string }
export const filterNames = ['actor', 'action', 'target', 'from', 'to'] as const

/** Reads the filter of a URL. */
export function auditSearchOf(raw: Record<string, unknown>): AuditSearch {
  const present = filterNames.filter((name) => typeof raw[name] === 'string' && raw[name] !== '')
  return Object.fromEntries(present.map((name) => [name, raw[name]]))
}
