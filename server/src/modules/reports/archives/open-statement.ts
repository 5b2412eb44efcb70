import { prepare } from '../catalogue/answer.ts'
import { type ReportType, reportOf } from '../catalogue/catalogue.ts'
import { openDocument } from '../catalogue/to-document.ts'
import type { ReportDocument } from '../documents/document.ts'
import type { Parameters } from '../requests/report-request.ts'
import type { Making } from './making.ts'

/** Opens a report on the period of an archive. Its rows can be read until `use` returns. */
export async function openStatement(
  { db, order }: Pick<Making, 'db' | 'order'>,
  type: ReportType,
  parameters: Parameters,
  use: (document: ReportDocument) => Promise<void>,
): Promise<void> {
  const { member, organisationName, now } = order
  const report = reportOf(type)
  const whole = { report, member, parameters: { ...order.parameters, ...parameters }, organisationName }
  const request = await prepare(db, whole, now)
  await openDocument(db, whole, request, ({ document }) => use(document))
}
