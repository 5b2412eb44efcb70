import { createHash } from 'node:crypto'
import type { Db } from '../../../db/client.ts'
import { AppError } from '../../../lib/errors.ts'
import { exportBytesMax, exportChunkBytes } from '../../../lib/limits.ts'
import { insertChunk, type ReportExportRow, type StoredFile } from './queries.ts'

/** Thrown where a file is made, when the node stops or another node has the export by now. */
export class Stopped extends Error {}

/** Returns a place for the bytes of a file, which are stored while they are made. */
export function openChunks(db: Db, taken: ReportExportRow, isStopped: () => boolean) {
  const hash = createHash('sha256')
  const chunk = new Uint8Array(exportChunkBytes)
  let length = 0
  let position = 0
  let sizeBytes = 0

  async function store(): Promise<void> {
    const bytes = chunk.subarray(0, length)
    sizeBytes += length
    if (sizeBytes > exportBytesMax) {
      throw new AppError(
        'validation_failed',
        `The file is larger than ${exportBytesMax} bytes; choose a shorter interval`,
      )
    }
    hash.update(bytes)
    if (isStopped() || !(await insertChunk(db, taken, position, bytes))) throw new Stopped()
    position += 1
    length = 0
  }

  return {
    /** Adds bytes. @throws Stopped, without waiting for a chunk to be full; 400 for a file that is too large */
    async write(part: Uint8Array): Promise<void> {
      if (isStopped()) throw new Stopped()
      for (let start = 0; start < part.length; ) {
        const piece = part.subarray(start, start + chunk.length - length)
        chunk.set(piece, length)
        length += piece.length
        start += piece.length
        if (length === chunk.length) await store()
      }
    },
    /** Stores the rest. @throws as `write` */
    async end(): Promise<StoredFile> {
      if (length > 0) await store()
      if (isStopped()) throw new Stopped()
      return { sizeBytes, sha256: hash.digest('hex') }
    },
  }
}
