import { sql } from 'kysely'
import type { Member } from '../../../access/caller.ts'
import { isHeldUser } from '../../../access/memberships.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { leasedJobs, type Taken } from '../../../db/leased-jobs.ts'
import type { ReportExports } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { exportAttemptsMax, exportLeaseSeconds, exportTtlHours } from '../../../lib/limits.ts'
import { findMembership } from '../../rules/decisions/decide.ts'
import { archiveType } from '../archives/making.ts'
import type { ReportType } from '../catalogue/catalogue.ts'
import type { FileFormat, FileKind } from '../files/formats.ts'
import type { AccessSnapshot } from './access-snapshot.ts'

export type ExportType = ReportType | typeof archiveType

/** An archive for an auditor is kept as CSV of the kind `zip`, as the reports are that have several tables. */
export type ReportExportRow = RowOf<
  ReportExports,
  {
    report_type: ExportType
    format: FileFormat
    parameters: Record<string, unknown>
    state: 'queued' | 'running' | 'done' | 'failed'
    file_kind: FileKind | null
  }
>

export type ReportRow = ReportExportRow & { report_type: ReportType }

export function isReport(row: ReportExportRow): row is ReportRow {
  return row.report_type !== archiveType
}

/** A file whose chunks are all written. */
export type StoredFile = { sizeBytes: number; sha256: string }

/** The files that wait to be made. */
export const exportJobs = leasedJobs<ReportExportRow>({
  table: 'report_exports',
  noun: 'export',
  attemptsMax: exportAttemptsMax,
  leaseSeconds: exportLeaseSeconds,
  begin: sql`, percent = 0`,
})

/** Returns an export that the caller requested; null for an export of another requester. */
export async function findReportExport(
  db: Db | Trx,
  { vault, userId }: Pick<Member, 'vault' | 'userId'>,
  id: string,
): Promise<ReportExportRow | null> {
  const { rows } = await sql<ReportExportRow>`
    select * from report_exports
    where vault_id = ${vault.id} and id = ${id} and requester_id = ${userId}`.execute(db)
  return rows[0] ?? null
}

/** Returns the exports that the caller requested in the vault, newest first; up to one row more than the limit. */
export async function listReportExports(
  db: Db | Trx,
  { vault, userId }: Pick<Member, 'vault' | 'userId'>,
  { after, limit }: Paging,
): Promise<ReportExportRow[]> {
  const { rows } = await sql<ReportExportRow>`
    select * from report_exports
    where vault_id = ${vault.id} and requester_id = ${userId}
      ${after === null ? sql`` : sql`and (created_at, id) < (${after.createdAt}, ${after.id})`}
    order by created_at desc, id desc limit ${limit + 1}`.execute(db)
  return rows
}

export async function insertReportExport(
  trx: Trx,
  order: Pick<ReportExportRow, 'vault_id' | 'id' | 'requester_id' | 'report_type' | 'format' | 'parameters'>,
  now: Date,
): Promise<void> {
  wake(trx, 'make-exports')
  await sql`
    insert into report_exports (vault_id, id, requester_id, report_type, format, parameters, state, percent, created_at, expires_at)
    values (${order.vault_id}, ${order.id}, ${order.requester_id}, ${order.report_type}, ${order.format},
      ${JSON.stringify(order.parameters)}, 'queued', 0, ${now}, ${expiryAfter(now)})`.execute(trx)
}

/** Counts the unfinished exports of the caller in all vaults; locks further requests of the caller until `trx` ends. */
export async function countOpenExports(trx: Trx, requesterId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`report exports of ${requesterId}`}, 0))`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from report_exports
    where requester_id = ${requesterId} and state in ('queued', 'running')`.execute(trx)
  return rows[0]!.count
}

/** Expires the oldest files of the caller, so that at most `kept` remain. */
export async function expireOldestExports(trx: Trx, requesterId: string, kept: number, now: Date): Promise<void> {
  await sql`
    update report_exports set expires_at = ${now} where (vault_id, id) in (
      select vault_id, id from report_exports
      where requester_id = ${requesterId} and state = 'done' and expires_at > ${now}
      order by created_at desc, id desc offset ${kept})`.execute(trx)
}

/** Returns false when another worker has the export. */
export async function insertChunk(db: Db, taking: Taken, position: number, bytes: Uint8Array): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into report_export_chunks (vault_id, export_id, attempt, position, bytes)
    select vault_id, id, attempt, ${position}, ${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)}
    from report_exports where ${exportJobs.isOf(taking)}`.execute(db)
  return numAffectedRows === 1n
}

export async function finishReportExport(
  trx: Trx,
  taking: Taken,
  { access, kind, file, now }: { access: AccessSnapshot; kind: FileKind; file: StoredFile; now: Date },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update report_exports set state = 'done', percent = 100, leased_until = null, size_bytes = ${file.sizeBytes},
      sha256 = ${file.sha256}, file_kind = ${kind},
      seen_whole_vault = ${access.seen_whole_vault}, seen_group_ids = ${access.seen_group_ids},
      seen_shared_ids = ${access.seen_shared_ids}, seen_category_rights = ${access.seen_category_rights},
      finished_at = ${now}, expires_at = ${expiryAfter(now)}
    where ${exportJobs.isOf(taking)}`.execute(trx)
  if (numAffectedRows !== 1n) return false
  await deleteChunks(trx, taking, 'other attempts')
  return true
}

export async function failReportExport(trx: Trx, taking: Taken, failure: string, now: Date): Promise<void> {
  await exportJobs.fail(trx, taking, failure, now)
  await deleteChunks(trx, taking, 'this attempt')
}

/** Returns an export to the queue, to be made from the beginning. */
export async function releaseReportExport(trx: Trx, taking: Taken): Promise<void> {
  await sql`update report_exports set state = 'queued', percent = 0, leased_until = null where ${exportJobs.isOf(taking)}`.execute(
    trx,
  )
  await deleteChunks(trx, taking, 'this attempt')
}

async function deleteChunks(trx: Trx, { vault_id, id, attempt }: Taken, which: 'this attempt' | 'other attempts') {
  const wanted = which === 'this attempt' ? sql`attempt = ${attempt}` : sql`attempt <> ${attempt}`
  await sql`
    delete from report_export_chunks where vault_id = ${vault_id} and export_id = ${id} and ${wanted}`.execute(trx)
}

export async function findChunk(db: Db, { vault_id, id, attempt }: Taken, position: number): Promise<Buffer | null> {
  const { rows } = await sql<{ bytes: Buffer }>`
    select bytes from report_export_chunks where vault_id = ${vault_id} and export_id = ${id} and attempt = ${attempt}
      and position = ${position}`.execute(db)
  return rows[0]?.bytes ?? null
}

/** Returns the requester with their current membership; null when they are no longer a member or a hold stops them. */
export async function findRequester(db: Db, vaultId: string, userId: string): Promise<Member | null> {
  const found = await findMembership(db, vaultId, userId)
  if (found === null) return null
  const { rows } = await sql<Pick<Member, 'kind' | 'email' | 'isHeld'> & Member['vault']>`
    select u.kind, u.email, ${isHeldUser(sql.ref('v.id'), sql.ref('u.id'))} as "isHeld", v.id, v.code, v.name, v.locked_at as "lockedAt"
    from users u, vaults v where u.id = ${userId} and v.id = ${vaultId}`.execute(db)
  const { kind, email, isHeld, ...vault } = rows[0]!
  if (isHeld) return null
  const readsAll = found.isAdmin || found.isAuditor
  return {
    ...found,
    readsAll,
    isHeld,
    vault,
    kind,
    email,
    isPlatformAdmin: false,
    sessionId: null,
    expiresAt: null,
    scopes: null,
  }
}

const expiryAfter = (now: Date) => new Date(now.getTime() + exportTtlHours * 3_600_000)
