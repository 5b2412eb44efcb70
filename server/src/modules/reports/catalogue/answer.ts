import { addAbortSignal, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import type { Http } from '../../../http/endpoints.ts'
import type { SentFile } from '../../../http/reply.ts'
import { badRequest } from '../../../lib/errors.ts'
import { inlineFileMilliseconds } from '../../../lib/limits.ts'
import { type FileFormat, fileKindOf, fileNameOf, renderers } from '../files/formats.ts'
import { collectGarbageAbove } from '../files/garbage.ts'
import { begun, sendFile } from '../files/send.ts'
import type { Slots } from '../files/slots.ts'
import { requireKnownFields } from '../requests/operation-filter.ts'
import type { Parameters, Report, ReportRequest } from '../requests/report-request.ts'
import { requireSubjects } from '../requests/subject-names.ts'
import { openDocument } from './to-document.ts'

/** A report with its viewer and parameters. */
export type Order = { report: Report; member: Member; parameters: Parameters }

/**
 * Parses the parameters of a report and checks that the caller may see its subject.
 * @throws 400 naming the parameter, 403 for operations of another user, 404 for a subject that the caller may not see
 */
export async function prepare(db: Db, { report, member, parameters }: Order, now: Date): Promise<ReportRequest> {
  const request = report.prepare(report.type, member, parameters, now)
  await requireSubjects(db, request.filter.scope, parameters)
  await requireKnownFields(db, request.filter)
  return request
}

/**
 * Builds the report as JSON when the turn of the caller comes.
 * @throws 400, 403, 404 before the turn comes; 429 and 503 when too many reports are waiting
 */
export async function answerJson(deps: Deps, order: Order): Promise<unknown> {
  // An invalid request is refused at once.
  await prepare(deps.db, order, deps.clock())
  return deps.slowReads.inTurn(order.member.userId, () => {
    // The request is prepared again, so that `dataCutoff` and the access rights are those of the snapshot, which may be later.
    const now = deps.clock()
    return deps.slowReads.onReplica(async (db) => order.report.build(db, await prepare(db, order, now)))
  })
}

/**
 * Sends the report as a file while the file is made. Rows are read no faster than the client takes the bytes. The time is limited.
 * A file holds a slot, not a turn, because its client decides how long it takes.
 * @throws 400, 403, 404 as the report in JSON; 429 and 503 when too many files are being sent
 */
export async function answerFile(
  deps: Deps,
  slots: Slots,
  order: Order,
  format: FileFormat,
  { request: { log }, reply }: Http,
): Promise<SentFile> {
  if (order.parameters.cursor !== undefined)
    throw badRequest('cursor', 'applies to format=json only; a file contains every row')
  const kind = fileKindOf(format, order.report, order.parameters)
  const now = deps.clock()
  const db = await deps.slowReads.forReports()
  const request = await prepare(db, order, now)
  const leave = slots.take(order.member.userId)
  let sent = undefined as SentFile | undefined
  try {
    await openDocument(
      db,
      { ...order, organisationName: deps.config.organisationName },
      request,
      async ({ document }) => {
        const bytes = Readable.from(await begun(renderers[kind](document, collectGarbageAbove)), { objectMode: false })
        addAbortSignal(AbortSignal.timeout(inlineFileMilliseconds), bytes)
        sent = sendFile(reply, bytes, kind, fileNameOf(order.report.type, document.id, kind))
        await finished(bytes)
      },
    )
  } catch (error) {
    // Part of the answer was sent already. The connection was closed, which shows the client that the file is incomplete.
    if (sent === undefined) throw error
    log.warn({ err: error }, 'a file was not sent to its end')
  } finally {
    leave()
  }
  return sent!
}
