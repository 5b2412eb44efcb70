import type { Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { AppError, badRequest } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { exportsKeptPerCallerMax, exportsOpenPerCallerMax } from '../../../lib/limits.ts'
import { insertAuditRecord } from '../../record/audit/record.ts'
import type { FileFormat } from '../files/formats.ts'
import { countOpenExports, expireOldestExports, insertReportExport } from './queries.ts'
import { type ReportType, sources } from './sources.ts'

type Order = { member: Member; type: ReportType; format: FileFormat; parameters: Record<string, unknown>; now: Date }

/**
 * The parameters of one report out of those of all.
 *
 * @throws 400 naming the parameter that the report does not take, or needs
 */
export function checkParameters(type: ReportType, parameters: Record<string, unknown>): void {
  const { properties, required = [] } = sources[type].query as { properties?: object; required?: string[] }
  for (const name of Object.keys(parameters)) {
    if (!Object.hasOwn(properties ?? {}, name)) throw badRequest(name, 'is not a parameter of this report')
  }
  for (const name of required) {
    if (parameters[name] === undefined) throw badRequest(name, 'is required')
  }
}

/** @throws 429 when too many of the caller's orders are open */
export async function orderReportExport(trx: Trx, order: Order): Promise<string> {
  const { member, type, format, parameters, now } = order
  if ((await countOpenExports(trx, member.userId)) >= exportsOpenPerCallerMax) {
    throw new AppError(429, `No more than ${exportsOpenPerCallerMax} exports can be made for one caller at a time`, {
      headers: { 'retry-after': '10' },
    })
  }
  await expireOldestExports(trx, member.userId, exportsKeptPerCallerMax - 1, now)
  const id = newId(now)
  await insertReportExport(
    trx,
    { vault_id: member.vault.id, id, requester_id: member.userId, report_type: type, format, parameters },
    now,
  )
  await insertAuditRecord(trx, {
    vaultId: member.vault.id,
    actorId: member.userId,
    action: 'report.exported',
    targetType: 'report_export',
    targetId: id,
    details: { type, format, parameters },
    now,
  })
  return id
}
