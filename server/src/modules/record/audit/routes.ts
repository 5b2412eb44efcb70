import type { Deps } from '../../../deps.ts'
import { endpoints } from '../../../http/endpoints.ts'
import type { App } from '../../../http/route.ts'
import { VaultParams } from '../../../http/schema.ts'
import { parseBounds } from '../../../lib/period.ts'
import { toAuditRecord } from './present.ts'
import { listAuditRecords } from './queries.ts'
import { platformChain } from './record.ts'
import { AuditLogQuery, AuditRecord } from './schema.ts'

const log = { querystring: AuditLogQuery, item: AuditRecord } as const

export function auditRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Audit')

  api.list(
    '/vaults/:code/audit-log',
    {
      operationId: 'listAuditRecords',
      summary: 'Read the audit log of a vault',
      description:
        'What happened in the vault, and what touched it from outside: the sign-ins of its members, and changes of the tokens that it uses.',
      access: 'administrator',
      params: VaultParams,
      ...log,
    },
    async (db, { member, query }, page) =>
      listAuditRecords(db, member.vault.id, { ...query, bounds: parseBounds(query) }, page),
    toAuditRecord,
  )

  api.list(
    '/audit-log',
    {
      operationId: 'listPlatformAuditRecords',
      summary: 'Read the audit log of the platform',
      description:
        'What belongs to no vault: sign-ins, users, tokens and networks, the creation of vaults, and what operators did. What happens inside of vaults is on their own logs.',
      access: 'platform',
      ...log,
    },
    async (db, { query }, page) => listAuditRecords(db, platformChain, { ...query, bounds: parseBounds(query) }, page),
    toAuditRecord,
  )
}
