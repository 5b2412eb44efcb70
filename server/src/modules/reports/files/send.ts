import type { Readable } from 'node:stream'
import type { Reply, SentFile } from '../../../http/reply.ts'
import { type FileKind, mediaTypes } from './formats.ts'

/** Sends bytes as a download, which a browser never displays as a page of this service. */
export function sendFile(reply: Reply, bytes: Readable, kind: FileKind, fileName: string): SentFile {
  return reply
    .type(mediaTypes[kind])
    .header('content-disposition', `attachment; filename="${fileName}"`)
    .header('x-content-type-options', 'nosniff')
    .send(bytes)
}

/** Reads the first bytes and returns all of them. A failure before the first bytes can still be answered as an error. */
export async function begun(bytes: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const rest = bytes[Symbol.asyncIterator]()
  const first = await rest.next()
  return (async function* () {
    try {
      for (let next = first; next.done !== true; next = await rest.next()) yield next.value
    } finally {
      await rest.return?.()
    }
  })()
}
