import { createHash } from 'node:crypto'
import { AppError } from '../../../lib/errors.ts'
import { createArchive, partBytesMax } from '../spreadsheets/archive.ts'

/** Takes the bytes of a file in their order. They must not change afterwards. */
export type Sink = (bytes: Uint8Array) => Promise<void>

export type MemberWriter = ReturnType<typeof createMemberWriter>

/** Returns a writer of a ZIP archive, which passes on what is finished and keeps no more than the sum of each member. */
export function createMemberWriter(madeAt: Date, sink: Sink) {
  const archive = createArchive(madeAt)
  const sums: string[] = []
  async function pass(bytes: Iterable<Uint8Array>): Promise<void> {
    for (const part of bytes) await sink(part)
  }
  return {
    /** Writes a member. @throws 400 for a member that is too long for the format */
    async add(name: string, bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
      const hash = createHash('sha256')
      archive.open(name)
      for await (const part of bytes) {
        hash.update(part)
        archive.write(part)
        if (archive.bytesOfPart() > partBytesMax) {
          throw new AppError(
            'validation_failed',
            `${name} is longer than ${partBytesMax} bytes; choose a shorter period`,
          )
        }
        await pass(archive.take())
      }
      await pass(archive.close())
      sums.push(`${hash.digest('hex')}  ${name}\n`)
    },
    /** The lines of the members so far, in the form of `sha256sum`. */
    sums: (): readonly string[] => sums,
    end: () => pass(archive.end()),
  }
}
