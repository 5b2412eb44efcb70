import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { parseBounds } from '../../../lib/period.ts'
import { positionOfSeal, toAuditRecord, toAuditSeal } from './present.ts'
import { listAuditRecords, listSealsBefore } from './queries.ts'
import { platformChain } from './record.ts'
import { AuditLogQuery, AuditRecord, AuditSeal, AuditSealQuery } from './schema.ts'

const seals = { querystring: AuditSealQuery, item: AuditSeal, present: toAuditSeal, position: positionOfSeal } as const
const log = { querystring: AuditLogQuery, item: AuditRecord, present: toAuditRecord } as const

export function auditRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Audit', { access: 'auditor', scopes: { reads: 'report' } })

  api.list('listAuditRecords', '/vaults/:code/audit-log', {
    summary: 'List audit records of a vault',
    description:
      'For administrators and auditors of the vault, newest first. Contains the changes and decisions in the vault, and the events ' +
      'outside that affect it: sign-ins of its members, and changes of the tokens that it uses.',
    ...log,
    load: (db, { member, query }, page) =>
      listAuditRecords(db, member.vault.id, { ...query, bounds: parseBounds(query) }, page),
  })

  api.list('listAuditSeals', '/vaults/:code/audit-log/seals', {
    summary: 'List audit seals of a vault',
    description:
      'For administrators and auditors of the vault, newest first: the seal chain, with everything that the ' +
      'hashes cover, so that the log can be verified from the answers alone (docs/audit.md).',
    ...seals,
    load: (db, { member, query }, page) => listSealsBefore(db, member.vault.id, query.sequence ?? null, page),
  })

  api.list('listPlatformAuditSeals', '/audit-log/seals', {
    summary: 'List audit seals of the platform',
    description: 'For platform administrators, newest first: the seal chain of the record of the platform.',
    access: 'platform',
    ...seals,
    load: (db, { query }, page) => listSealsBefore(db, platformChain, query.sequence ?? null, page),
  })

  api.list('listPlatformAuditRecords', '/audit-log', {
    summary: 'List audit records of the platform',
    description:
      'For platform administrators, newest first. Contains the events that belong to no vault: sign-ins, users, ' +
      'tokens, networks, the creation of vaults, and actions of operators. Events inside a vault are in the audit log ' +
      'of that vault.',
    access: 'platform',
    ...log,
    load: (db, { query }, page) => listAuditRecords(db, platformChain, { ...query, bounds: parseBounds(query) }, page),
  })
}
