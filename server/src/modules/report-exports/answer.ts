import { addAbortSignal, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { memberOf } from '../../access/caller.ts'
import type { Db } from '../../db/client.ts'
import type { Deps } from '../../deps.ts'
import { badRequest, unavailable } from '../../lib/errors.ts'
import { inlineFileMilliseconds, inlineFilesMax } from '../../lib/limits.ts'
import { type FileFormat, fileNameOf, mediaTypes, render } from './formats.ts'
import { type ReportType, sources } from './sources.ts'

type Query = Record<string, unknown> & { format?: string; cursor?: string; limit?: number }

/** Files that are being sent by this node: each may hold a connection to the database as long as its reader takes. */
const open = new WeakMap<Db, number>()

export function wantsFile(query: { format?: string }): query is { format: FileFormat } {
  return query.format !== undefined && query.format !== 'json'
}

/**
 * Answers a report as a file, made while it is sent: its rows are read no faster than the reader takes the bytes.
 *
 * @throws 400, 403, 404 as the report in JSON; 503 when too many files are being sent
 */
export async function answerFile(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  type: ReportType,
): Promise<FastifyReply> {
  const { format, cursor, limit: _, ...parameters } = request.query as Query & { format: FileFormat }
  if (cursor !== undefined) throw badRequest('cursor', 'is for format=json: a file holds every row')
  const report = await sources[type].prepare(deps.db, memberOf(request), parameters, deps.clock())
  const sending = open.get(deps.db) ?? 0
  if (sending >= inlineFilesMax) throw unavailable('Too many files are being sent; order an export instead', 10)
  open.set(deps.db, sending + 1)
  let isSending = false
  try {
    await report.open(async ({ document }) => {
      const bytes = Readable.from(
        render(format, document, () => {}),
        { objectMode: false },
      )
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
    open.set(deps.db, (open.get(deps.db) ?? 1) - 1)
  }
  return reply
}

/** Sends bytes as a file to be saved, never to be shown by a browser as a page of ours. */
export function sendFile(reply: FastifyReply, bytes: Readable, format: FileFormat, fileName: string): FastifyReply {
  return reply
    .type(mediaTypes[format])
    .header('content-disposition', `attachment; filename="${fileName}"`)
    .header('x-content-type-options', 'nosniff')
    .send(bytes)
}
