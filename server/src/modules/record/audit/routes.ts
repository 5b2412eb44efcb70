import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { VaultParams } from '../../../http/schema.ts'
import { parseBounds } from '../../../lib/period.ts'
import { positionOfSeal, toAuditRecord, toAuditSeal } from './present.ts'
import { listAuditRecords, listSealsBefore } from './queries.ts'
import { platformChain } from './record.ts'
import { AuditLogQuery, AuditRecord, AuditSeal, AuditSealQuery } from './schema.ts'

const seals = { querystring: AuditSealQuery, item: AuditSeal } as const
const log = { querystring: AuditLogQuery, item: AuditRecord } as const

export function auditRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Audit')

  api.list(
    '/vaults/:code/audit-log',
    {
      operationId: 'listAuditRecords',
      summary: 'List audit records of a vault',
      description:
        'For administrators and auditors of the vault, newest first. Contains the changes and decisions in the vault, and the events ' +
        'outside that affect it: sign-ins of its members, and changes of the tokens that it uses.',
      access: 'auditor',
      params: VaultParams,
      ...log,
    },
    async (db, { member, query }, page) =>
      listAuditRecords(db, member.vault.id, { ...query, bounds: parseBounds(query) }, page),
    toAuditRecord,
  )

  api.list(
    '/vaults/:code/audit-log/seals',
    {
      operationId: 'listAuditSeals',
      summary: 'List audit seals of a vault',
      description:
        'For administrators and auditors of the vault, newest first: the chain of seals with everything that their ' +
        'hashes cover, so that the log can be verified from the answers alone (docs/audit.md).',
      access: 'auditor',
      params: VaultParams,
      ...seals,
    },
    async (db, { member, query }, page) => listSealsBefore(db, member.vault.id, query.sequence ?? null, page),
    toAuditSeal,
    positionOfSeal,
  )

  api.list(
    '/audit-log/seals',
    {
      operationId: 'listPlatformAuditSeals',
      summary: 'List audit seals of the platform',
      description: 'For platform administrators, newest first: the chain of seals of the record of the platform.',
      access: 'platform',
      ...seals,
    },
    async (db, { query }, page) => listSealsBefore(db, platformChain, query.sequence ?? null, page),
    toAuditSeal,
    positionOfSeal,
  )

  api.list(
    '/audit-log',
    {
      operationId: 'listPlatformAuditRecords',
      summary: 'List audit records of the platform',
      description:
        'For platform administrators, newest first. Contains the events that belong to no vault: sign-ins, users, ' +
        'tokens, networks, the creation of vaults, and actions of operators. Events inside a vault are in the audit log ' +
        'of that vault.',
      access: 'platform',
      ...log,
    },
    async (db, { query }, page) => listAuditRecords(db, platformChain, { ...query, bounds: parseBounds(query) }, page),
    toAuditRecord,
  )
}
