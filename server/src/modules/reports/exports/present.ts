import type { Static } from 'typebox'
import { isReport, type ReportExportRow } from './queries.ts'
import type { ReportExport } from './schema.ts'

export function toReportExport(row: ReportExportRow, vaultCode: string, now: Date): Static<typeof ReportExport> {
  const isExpired = row.state === 'done' && row.expires_at.getTime() <= now.getTime()
  return {
    id: row.id,
    type: row.report_type,
    format: isReport(row) ? row.format : 'zip',
    parameters: row.parameters,
    state: isExpired ? 'expired' : row.state,
    percent: row.percent,
    failure: row.failure,
    download:
      row.state === 'done' && !isExpired ? `/api/v1/vaults/${vaultCode}/reports/exports/${row.id}/download` : null,
    sizeBytes: row.size_bytes === null ? null : Number(row.size_bytes),
    sha256: row.sha256,
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null,
    expiresAt: row.expires_at.toISOString(),
  }
}
