import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { badRequest, tooManyRequests } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { exportsKeptPerCallerMax, exportsOpenPerCallerMax } from '../../../lib/limits.ts'
import { audit } from '../../record/audit/record.ts'
import { type ReportType, reportOf } from '../catalogue/catalogue.ts'
import type { FileFormat } from '../files/formats.ts'
import type { Parameters } from '../requests/report-request.ts'
import { countOpenExports, type ExportType, expireOldestExports, insertReportExport } from './queries.ts'

/** The format of an archive for an auditor is `zip`. */
type ExportOrder = { type: ExportType; format: FileFormat | 'zip'; parameters: Parameters }

/**
 * Checks that the parameters are those of the report; the schema of an export accepts the parameters of all reports.
 * @throws 400 naming a parameter that the report does not take, or a required one that is missing
 */
export function checkParameters(type: ReportType, parameters: Parameters): void {
  const { properties, required = [] } = reportOf(type).query as { properties?: object; required?: string[] }
  for (const name of Object.keys(parameters)) {
    if (!Object.hasOwn(properties ?? {}, name)) throw badRequest(name, 'is not a parameter of this report')
  }
  for (const name of required) {
    if (parameters[name] === undefined) throw badRequest(name, 'is required')
  }
}

/** Stores the request for an export. @throws 429 when the caller has too many unfinished exports */
export async function orderReportExport(trx: Trx, order: ExportOrder, by: ByMember): Promise<string> {
  const { type, format, parameters } = order
  const { member, now } = by
  if ((await countOpenExports(trx, member.userId)) >= exportsOpenPerCallerMax) {
    throw tooManyRequests(
      'too_many_at_once',
      `No more than ${exportsOpenPerCallerMax} exports can be made for one caller at a time`,
      10,
    )
  }
  await expireOldestExports(trx, member.userId, exportsKeptPerCallerMax - 1, now)
  const id = newId(now)
  const row = { vault_id: member.vault.id, id, requester_id: member.userId, report_type: type, parameters }
  await insertReportExport(trx, { ...row, format: format === 'zip' ? 'csv' : format }, now)
  await audit(trx, byMember(by), 'report.exported', { type: 'report_export', id }, { type, format, parameters })
  return id
}
