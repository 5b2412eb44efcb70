import { addAbortSignal, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { badRequest } from '../../../lib/errors.ts'
import { inlineFileMilliseconds, inlineFilesMax, inlineFilesPerCallerMax } from '../../../lib/limits.ts'
import { type FileFormat, fileNameOf, mediaTypes, render } from '../files/formats.ts'
import { boundGarbage } from '../files/garbage.ts'
import { createSlots, type Slots } from '../files/slots.ts'
import { type ReportType, sources } from './sources.ts'

type Query = Record<string, unknown> & { format?: FileFormat | 'json'; cursor?: string; limit?: number }

/**
 * What stands before the handler of each report: it answers `format=csv|xlsx|pdf` and leaves JSON to the handler.
 *
 * @throws 400, 403, 404 as the report in JSON; 429 and 503 when too many files are being sent
 */
export function fileAnswers(deps: Deps) {
  const slots = createSlots({ ofNode: inlineFilesMax, ofCaller: inlineFilesPerCallerMax })
  return (type: ReportType) => async (request: FastifyRequest, reply: FastifyReply) => {
    const { format = 'json', cursor, limit: _, ...parameters } = request.query as Query
    if (format === 'json') return
    if (cursor !== undefined) throw badRequest('cursor', 'is for format=json: a file holds every row')
    return sendReport(deps, slots, { request, reply, type, format, parameters })
  }
}

type Wanted = {
  request: FastifyRequest
  reply: FastifyReply
  type: ReportType
  format: FileFormat
  parameters: Record<string, unknown>
}

/** Makes the file while it is sent: rows are read no faster than the reader takes the bytes, and for a bounded time. */
async function sendReport(deps: Deps, slots: Slots, { request, reply, type, format, parameters }: Wanted) {
  const member = memberOf(request)
  const report = await sources[type].prepare(deps.slowReads.db, member, parameters, deps.clock())
  const leave = slots.take(member.userId)
  let isSending = false
  try {
    await report.open(async ({ document }) => {
      const bytes = Readable.from(await begun(render(format, document, boundGarbage)), { objectMode: false })
      addAbortSignal(AbortSignal.timeout(inlineFileMilliseconds), bytes)
      isSending = true
      sendFile(reply, bytes, format, fileNameOf(type, document.id, format))
      await finished(bytes)
    })
  } catch (error) {
    // Part of the answer is on its way: the connection was cut, which is how the reader knows that it is incomplete.
    if (!isSending) throw error
    request.log.warn({ err: error }, 'a file was not sent to its end')
  } finally {
    leave()
  }
  return reply
}

/** The same bytes, of which the first are there: what fails before them can still be answered as an error. */
async function begun(bytes: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
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

/** Sends bytes as a file to be saved, never to be shown by a browser as a page of ours. */
export function sendFile(reply: FastifyReply, bytes: Readable, format: FileFormat, fileName: string): FastifyReply {
  return reply
    .type(mediaTypes[format])
    .header('content-disposition', `attachment; filename="${fileName}"`)
    .header('x-content-type-options', 'nosniff')
    .send(bytes)
}
