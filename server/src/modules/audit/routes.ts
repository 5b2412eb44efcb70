import { memberOf } from '../../access/caller.ts'
import type { Deps } from '../../deps.ts'
import { type App, route } from '../../http/route.ts'
import { PageOf, Ref, VaultParams } from '../../http/schema.ts'
import { pageOf, toPage } from '../../lib/cursor.ts'
import { parseBounds } from '../../lib/period.ts'
import { toAuditRecord } from './present.ts'
import { listAuditRecords } from './queries.ts'
import { AuditLogQuery, AuditRecord } from './schema.ts'

export function auditRoutes(app: App, { db }: Deps): void {
  app.get(
    '/vaults/:code/audit-log',
    route({
      operationId: 'listAuditRecords',
      summary: 'Read the audit log of a vault',
      tag: 'Audit',
      access: 'administrator',
      params: VaultParams,
      querystring: AuditLogQuery,
      answers: { 200: PageOf(Ref(AuditRecord)) },
    }),
    async (request) => {
      const { actor, action, target, from, to, ...paging } = request.query
      const page = pageOf(paging)
      const filter = { actor, action, target, bounds: parseBounds({ from, to }) }
      const rows = await listAuditRecords(db, memberOf(request).vault.id, filter, page)
      return toPage(rows, page.limit, (row) => ({ createdAt: row.created_at, id: row.id }), toAuditRecord)
    },
  )
}
