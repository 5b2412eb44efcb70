import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { notAMember } from '../../../access/refusals.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { AppError } from '../../../lib/errors.ts'
import {
  exportAttemptsMax,
  exportBytesMax,
  exportChunkBytes,
  exportHeartbeatMilliseconds,
} from '../../../lib/limits.ts'
import { prepare } from '../catalogue/answer.ts'
import { reportOf } from '../catalogue/catalogue.ts'
import { openDocument } from '../catalogue/to-document.ts'
import { fileKindOf, renderers } from '../files/formats.ts'
import { collectGarbageAbove } from '../files/garbage.ts'
import { mergeSnapshots, readAccessSnapshot } from './access-snapshot.ts'
import {
  exportJobs,
  failReportExport,
  findRequester,
  finishReportExport,
  insertChunk,
  type ReportExportRow,
  releaseReportExport,
  type StoredFile,
} from './queries.ts'

/** Makes the requested files, one after the other, until none waits or `signal` aborts. */
export async function runDueExports(deps: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const taken = await exportJobs.take(deps.db, deps.clock())
    if (taken === null) return
    await runExport(deps, taken, signal)
  }
}

async function runExport(deps: Deps, taken: ReportExportRow, signal: AbortSignal): Promise<void> {
  const watch = { percent: 0, isLost: false, isStopped: () => signal.aborted || watch.isLost }
  const heartbeat = setInterval(() => {
    exportJobs.renew(deps.db, taken, deps.clock(), sql`, percent = ${watch.percent}`).then(
      (isOurs) => {
        watch.isLost ||= !isOurs
      },
      (error: unknown) => deps.log.warn({ err: error, exportId: taken.id }, 'the lease of an export was not renewed'),
    )
  }, exportHeartbeatMilliseconds)
  try {
    const isComplete = await makeFile(deps, taken, watch)
    // A worker that has claimed it since is not affected: a release concerns this attempt only.
    if (!isComplete) await inTransaction(deps.db, (trx) => releaseReportExport(trx, taken))
  } catch (error) {
    await giveUp(deps, taken, error)
  } finally {
    clearInterval(heartbeat)
  }
}

type Watch = { percent: number; isStopped(): boolean }

/** Reads the report as the requester may read it now, and stores its file; false when it was aborted. */
async function makeFile(deps: Deps, taken: ReportExportRow, watch: Watch): Promise<boolean> {
  const member = await findRequester(deps.db, taken.vault_id, taken.requester_id)
  if (member === null) throw notAMember()
  const { db } = deps.slowReads
  const report = reportOf(taken.report_type)
  const kind = fileKindOf(taken.format, report)
  const order = { report, member, parameters: taken.parameters }
  const request = await prepare(db, order, deps.clock())
  const before = await readAccessSnapshot(deps.db, member, request.filter.scope)
  return openDocument(db, order, request, async ({ document, totalRows }) => {
    // The report's snapshot was taken between the two.
    const access = mergeSnapshots(before, await readAccessSnapshot(deps.db, member, request.filter.scope))
    let written = 0
    const bytes = renderers[kind](document, (count) => {
      collectGarbageAbove()
      written += count
      watch.percent = Math.min(99, Math.floor((100 * written) / Math.max(1, totalRows)))
    })
    const file = await storeChunks(deps, taken, bytes, watch)
    if (file === null) return false
    return inTransaction(deps.db, (trx) => finishReportExport(trx, taken, { access, kind, file, now: deps.clock() }))
  })
}

/** Stores the bytes while they are made; null when it was aborted. */
async function storeChunks(
  { db }: Deps,
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

/** Stops as soon as `signal` aborts, without waiting for the next chunk to be full. */
async function* until(watch: Watch, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of bytes) {
    if (watch.isStopped()) return
    yield part
  }
}

/** Chunks of `size` bytes that reuse one buffer: the consumer is done with a chunk before it requests the next. */
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

/** A mistake of the requester is reported and final; any other failure is retried a few times. */
async function giveUp(deps: Deps, taken: ReportExportRow, error: unknown): Promise<void> {
  const isFinal = error instanceof AppError && error.status < 500
  if (!isFinal) deps.log.error({ err: error, exportId: taken.id }, 'an export failed')
  await inTransaction(deps.db, async (trx) => {
    if (!isFinal && taken.attempt < exportAttemptsMax) return releaseReportExport(trx, taken)
    const failure = isFinal ? error.message : 'The file could not be made; try again later'
    return failReportExport(trx, taken, failure, deps.clock())
  })
}
