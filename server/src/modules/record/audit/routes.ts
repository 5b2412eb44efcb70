import type { Static } from 'typebox'
import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultParams } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { parseBounds } from '../../../lib/period.ts'
import { toAuditRecord } from './present.ts'
import { listAuditRecords } from './queries.ts'
import { platformChain } from './record.ts'
import { AuditLogQuery, AuditRecord } from './schema.ts'

export function auditRoutes(app: App, { db }: Deps): void {
  app.get(
    '/vaults/:code/audit-log',
    route({
      operationId: 'listAuditRecords',
      summary: 'Read the audit log of a vault',
      description:
        'What happened in the vault, and what touched it from outside: the sign-ins of its members, and changes of the tokens that it uses.',
      tag: 'Audit',
      access: 'administrator',
      params: VaultParams,
      querystring: AuditLogQuery,
      answers: { 200: PageOf(Ref(AuditRecord)) },
    }),
    (request) => listPage(memberOf(request).vault.id, request.query),
  )

  app.get(
    '/audit-log',
    route({
      operationId: 'listPlatformAuditRecords',
      summary: 'Read the audit log of the platform',
      description:
        'What belongs to no vault: sign-ins, users, tokens and networks, the creation of vaults, and what operators did. What happens inside of vaults is on their own logs.',
      tag: 'Audit',
      access: 'platform',
      querystring: AuditLogQuery,
      answers: { 200: PageOf(Ref(AuditRecord)) },
    }),
    (request) => listPage(platformChain, request.query),
  )

  async function listPage(chain: string, { actor, action, target, from, to, ...paging }: Static<typeof AuditLogQuery>) {
    const page = pageOf(paging)
    const rows = await listAuditRecords(db, chain, { actor, action, target, bounds: parseBounds({ from, to }) }, page)
    return toPage(rows, page.limit, (row) => ({ createdAt: row.created_at, id: row.id }), toAuditRecord)
  }
}
