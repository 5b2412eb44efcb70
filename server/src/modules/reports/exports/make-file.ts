import { createHash } from 'node:crypto'
import { notAMember } from '../../../access/refusals.ts'
import type { Db } from '../../../db/client.ts'
import type { SlowReads } from '../../../db/slow-reads.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { AppError } from '../../../lib/errors.ts'
import { exportBytesMax, exportChunkBytes } from '../../../lib/limits.ts'
import { prepare } from '../catalogue/answer.ts'
import { reportOf } from '../catalogue/catalogue.ts'
import { openDocument } from '../catalogue/to-document.ts'
import { fileKindOf, renderers } from '../files/formats.ts'
import { collectGarbageAbove } from '../files/garbage.ts'
import { mergeSnapshots, readAccessSnapshot } from './access-snapshot.ts'
import { findRequester, finishReportExport, insertChunk, type ReportExportRow, type StoredFile } from './queries.ts'

/** The databases of a file: the one that has the order, and the one that the report is read from. */
export type Workshop = {
  db: Db
  slowReads: Pick<SlowReads, 'db' | 'forReports'>
  clock: () => Date
  organisationName: string | null
}

/** Reports progress while a file is made, and signals when to stop. */
export type Watch = { onPercent(percent: number): void; isStopped(): boolean }

/** Reads the report as the requester may read it now, and stores its file; false when it was aborted. */
export async function makeFile(workshop: Workshop, taken: ReportExportRow, watch: Watch): Promise<boolean> {
  const { db, slowReads, clock, organisationName } = workshop
  const member = await findRequester(db, taken.vault_id, taken.requester_id)
  if (member === null) throw notAMember()
  const report = reportOf(taken.report_type)
  const kind = fileKindOf(taken.format, report, taken.parameters)
  const order = { report, member, parameters: taken.parameters, organisationName }
  const now = clock()
  const { scope } = (await prepare(db, order, now)).filter
  const before = await readAccessSnapshot(db, member, scope)
  // The earlier attempt may have failed because a replica cancelled the read.
  const source = taken.attempt > 1 ? slowReads.db : await slowReads.forReports()
  const request = await prepare(source, order, now)
  return openDocument(source, order, request, async ({ document, totalRows }) => {
    // The snapshot of the report was taken between the two.
    const access = mergeSnapshots(before, await readAccessSnapshot(db, member, scope))
    let written = 0
    const bytes = renderers[kind](document, (count) => {
      collectGarbageAbove()
      written += count
      watch.onPercent(Math.min(99, Math.floor((100 * written) / Math.max(1, totalRows))))
    })
    const file = await storeChunks(db, taken, bytes, watch)
    if (file === null) return false
    return inTransaction(db, (trx) => finishReportExport(trx, taken, { access, kind, file, now: clock() }))
  })
}

/** Stores the bytes while they are made; null when it was aborted. */
async function storeChunks(
  db: Db,
  taken: ReportExportRow,
  bytes: AsyncIterable<Uint8Array>,
  watch: Watch,
): Promise<StoredFile | null> {
  const hash = createHash('sha256')
  let position = 0
  let sizeBytes = 0
  for await (const chunk of inChunks(until(watch, bytes), exportChunkBytes)) {
    sizeBytes += chunk.length
    hash.update(chunk)
    if (sizeBytes > exportBytesMax) {
      throw new AppError(
        'validation_failed',
        `The file is larger than ${exportBytesMax} bytes; choose a shorter interval`,
      )
    }
    if (watch.isStopped() || !(await insertChunk(db, taken, position, chunk))) return null
    position += 1
  }
  return watch.isStopped() ? null : { sizeBytes, sha256: hash.digest('hex') }
}

/** Yields the bytes and stops as soon as `watch` reports a stop, without waiting for the next chunk to be full. */
async function* until(watch: Watch, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of bytes) {
    if (watch.isStopped()) return
    yield part
  }
}

/** Yields chunks of `size` bytes that reuse one buffer: the consumer is done with a chunk before it requests the next. */
async function* inChunks(bytes: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(size)
  let length = 0
  for await (const part of bytes) {
    for (let start = 0; start < part.length; ) {
      const piece = part.subarray(start, start + size - length)
      chunk.set(piece, length)
      length += piece.length
      start += piece.length
      if (length < size) continue
      yield chunk
      length = 0
    }
  }
  if (length > 0) yield chunk.subarray(0, length)
}
