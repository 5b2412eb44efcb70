import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import { notAMember } from '../../../access/refusals.ts'
import type { Db } from '../../../db/client.ts'
import type { SlowReads } from '../../../db/slow-reads.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden } from '../../../lib/errors.ts'
import { makeArchive } from '../archives/make-archive.ts'
import type { ArchiveParameters } from '../archives/making.ts'
import type { Signer } from '../archives/manifest.ts'
import { prepare } from '../catalogue/answer.ts'
import { reportOf } from '../catalogue/catalogue.ts'
import { openDocument } from '../catalogue/to-document.ts'
import { fileKindOf, renderers } from '../files/formats.ts'
import { collectGarbageAbove } from '../files/garbage.ts'
import { mergeSnapshots, readAccessSnapshot } from './access-snapshot.ts'
import { findRequester, finishReportExport, isReport, type ReportExportRow, type ReportRow } from './queries.ts'
import { openChunks, Stopped } from './store-chunks.ts'

/** The databases of a file: the one that has the order, and the one that the report is read from. */
type Workshop = {
  db: Db
  slowReads: Pick<SlowReads, 'db' | 'forReports'>
  clock: () => Date
  organisationName: string | null
  /** Signs archives with the key of the node. */
  signer: Signer
  /** The ids of the keys that may have signed seals. */
  trusted: ReadonlySet<string>
}

/** Reports progress while a file is made, and signals when to stop. */
export type Watch = { onPercent(percent: number): void; isStopped(): boolean }

/** Reads the report as the requester may read it now, and stores its file; false when it was aborted. */
export async function makeFile(workshop: Workshop, taken: ReportExportRow, watch: Watch): Promise<boolean> {
  const member = await findRequester(workshop.db, taken.vault_id, taken.requester_id)
  if (member === null) throw notAMember()
  try {
    return await (isReport(taken)
      ? makeReportFile(workshop, { taken, member }, watch)
      : makeArchiveFile(workshop, { taken, member }, watch))
  } catch (error) {
    if (error instanceof Stopped) return false
    throw error
  }
}

/** The earlier attempt may have failed because a replica cancelled the read. */
const sourceOf = (slowReads: Workshop['slowReads'], { attempt }: ReportExportRow) =>
  attempt > 1 ? slowReads.db : slowReads.forReports()

async function makeReportFile(
  { db, slowReads, clock, organisationName }: Workshop,
  { taken, member }: { taken: ReportRow; member: Member },
  watch: Watch,
): Promise<boolean> {
  const report = reportOf(taken.report_type)
  const kind = fileKindOf(taken.format, report, taken.parameters)
  const order = { report, member, parameters: taken.parameters, organisationName }
  const now = clock()
  const { scope } = (await prepare(db, order, now)).filter
  const before = await readAccessSnapshot(db, member, scope)
  const source = await sourceOf(slowReads, taken)
  const request = await prepare(source, order, now)
  return openDocument(source, order, request, async ({ document, totalRows }) => {
    // The snapshot of the report was taken between the two.
    const access = mergeSnapshots(before, await readAccessSnapshot(db, member, scope))
    let written = 0
    const chunks = openChunks(db, taken, watch.isStopped)
    const bytes = renderers[kind](document, (count) => {
      collectGarbageAbove()
      written += count
      watch.onPercent(Math.min(99, Math.floor((100 * written) / Math.max(1, totalRows))))
    })
    for await (const part of bytes) await chunks.write(part)
    const file = await chunks.end()
    return inTransaction(db, (trx) => finishReportExport(trx, taken, { access, kind, file, now: clock() }))
  })
}

/** @throws 403 for a requester who does not read the whole vault any more */
async function makeArchiveFile(
  { db, slowReads, clock, organisationName, signer, trusted }: Workshop,
  { taken, member }: { taken: ReportExportRow; member: Member },
  watch: Watch,
): Promise<boolean> {
  if (!member.readsAll) throw forbidden('not_permitted', 'Only administrators and auditors may export for an auditor')
  const now = clock()
  const access = await readAccessSnapshot(db, member, visibleScopeOf(member))
  const chunks = openChunks(db, taken, watch.isStopped)
  const parameters = taken.parameters as ArchiveParameters
  const order = { id: taken.id, member, parameters, organisationName, signer, trusted, now }
  await makeArchive(await sourceOf(slowReads, taken), order, {
    sink: chunks.write,
    onPercent: (percent) => watch.onPercent(Math.min(99, percent)),
  })
  const file = await chunks.end()
  return inTransaction(db, (trx) => finishReportExport(trx, taken, { access, kind: 'zip', file, now: clock() }))
}
