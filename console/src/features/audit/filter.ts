import type { AuditFilter } from './queries.ts'

export type AuditSearch = { [Name in keyof AuditFilter]?: string }
export const filterNames = ['actor', 'action', 'target', 'from', 'to'] as const
