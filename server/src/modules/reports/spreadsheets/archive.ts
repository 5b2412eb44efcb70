import { Zip, ZipDeflate } from 'fflate'

/**
 * The maximum number of bytes of a part before compression. The format without its extension for large files ends at 2^32 - 1,
 * and some programs read sizes as signed numbers.
 */
export const partBytesMax = 2 ** 31 - 2 ** 20

/** Returns a ZIP archive whose parts are written one after the other; finished bytes are returned and not kept. */
export function createArchive(mtime: Date) {
  const ready: Uint8Array[] = []
  const zip = new Zip((error, bytes) => {
    if (error !== null) throw error
    if (bytes.length > 0) ready.push(bytes)
  })
  let part: ZipDeflate | undefined
  let bytesOfPart = 0
  function* take(): Generator<Uint8Array> {
    yield* ready.splice(0)
  }
  return {
    open(path: string): void {
      part = new ZipDeflate(path, { level: 3 })
      part.mtime = mtime
      bytesOfPart = 0
      zip.add(part)
    },
    /** Writes a text in UTF-8, or bytes, which must not change afterwards. */
    write(content: string | Uint8Array): void {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content
      bytesOfPart += bytes.length
      part?.push(bytes)
    },
    bytesOfPart: () => bytesOfPart,
    take,
    *close(): Generator<Uint8Array> {
      part?.push(new Uint8Array(0), true)
      yield* take()
    },
    *end(): Generator<Uint8Array> {
      zip.end()
      yield* take()
    },
  }
}
