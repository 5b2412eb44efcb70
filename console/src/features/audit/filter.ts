import type { AuditFilter } from './queries.ts'

export type AuditSearch = { [Name in keyof AuditFilter]?: string }
export const filterNames = ['actor', 'action', 'target', 'from', 'to'] as const

/** What a URL says about the filter. */
export function auditSearchOf(raw: Record<string, unknown>): AuditSearch {
  const given = filterNames.filter((name) => typeof raw[name] === 'string' && raw[name] !== '')
  return Object.fromEntries(given.map((name) => [name, raw[name]]))
}
