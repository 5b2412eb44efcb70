import { addAbortSignal, Readable } from 'node:stream'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import { memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { accepted, mutate } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { Ref, VaultAndIdParams } from '../../../http/schema.ts'
import { conflict, forbidden, notFound } from '../../../lib/errors.ts'
import {
  downloadBytesPerSecondMin,
  downloadGraceMilliseconds,
  downloadsMax,
  downloadsPerCallerMax,
} from '../../../lib/limits.ts'
import { type FileFormat, fileMediaTypes, fileNameOf } from '../files/formats.ts'
import { createSlots } from '../files/slots.ts'
import { coversSnapshot, readAccessSnapshot } from './access-snapshot.ts'
import { checkParameters, orderReportExport } from './actions.ts'
import { sendFile } from './answer.ts'
import { toReportExport } from './present.ts'
import { findChunk, findReportExport, type ReportExportRow } from './queries.ts'
import { ReportExport, ReportExportCreation, ReportExportOrder, ReportTypeParams } from './schema.ts'
import { sources } from './sources.ts'

const tag = 'Reports'

export function reportExportRoutes(app: App, deps: Deps): void {
  const downloads = createSlots({ ofNode: downloadsMax, ofCaller: downloadsPerCallerMax })

  app.post(
    '/vaults/:code/reports/:type/exports',
    route({
      operationId: 'createReportExport',
      summary: 'Have a report made as a file',
      description:
        'The file is made in the background; `GET …/reports/exports/{id}` says how far it is. Without `to` the interval ends now.',
      tag,
      access: 'member',
      params: ReportTypeParams,
      body: ReportExportCreation,
      answers: { 202: Ref(ReportExportOrder) },
    }),
    async (request, reply) => {
      const { format, ...parameters } = request.body as { format: FileFormat } & Record<string, unknown>
      const { type } = request.params
      const member = memberOf(request)
      const now = deps.clock()
      checkParameters(type, parameters)
      const { interval } = (await sources[type].prepare(deps.db, member, parameters, now)).request
      // What was left open is settled by the order, not by when its turn comes.
      const meant = { ...parameters, from: interval.from.toISOString(), to: interval.to.toISOString() }
      return mutate(deps, request, reply, async (trx) =>
        accepted({ id: await orderReportExport(trx, { member, type, format, parameters: meant, now }) }),
      )
    },
  )

  app.get(
    '/vaults/:code/reports/exports/:id',
    route({
      operationId: 'getReportExport',
      summary: 'How far an export is',
      description: 'Visible to whoever ordered it.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(ReportExport) },
    }),
    async (request) => {
      const member = memberOf(request)
      const row = await findReportExport(deps.db, member, request.params.id)
      if (row === null) throw notFound('Report export')
      return toReportExport(row, member.vault.code, deps.clock())
    },
  )

  app.get(
    '/vaults/:code/reports/exports/:id/download',
    route({
      operationId: 'downloadReportExport',
      summary: 'The file of an export',
      description:
        'For whoever ordered it, for 24 hours, and only while they still see everything that it was made from.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: {},
      files: fileMediaTypes,
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      const row = await findReportExport(deps.db, member, request.params.id)
      if (row === null) throw notFound('Report export')
      if (row.state !== 'done') throw conflict(`The export is ${row.state}`)
      if (row.expires_at.getTime() <= deps.clock().getTime()) throw notFound('File')
      if (!coversSnapshot(await readAccessSnapshot(deps.db, member, visibleScopeOf(member)), row)) {
        throw forbidden('You may no longer see everything in this file; order it again')
      }
      const bytes = Readable.from(chunksOf(deps, row), { objectMode: false })
      bytes.once('close', downloads.take(member.userId))
      addAbortSignal(AbortSignal.timeout(downloadMilliseconds(Number(row.size_bytes))), bytes)
      reply.header('content-length', row.size_bytes)
      return sendFile(reply, bytes, row.format, fileNameOf(row.report_type, row.id, row.format))
    },
  )
}

/** How long a reader may take: so slow that a file holds its slot for ever is nobody who wants it. */
const downloadMilliseconds = (sizeBytes: number) =>
  downloadGraceMilliseconds + Math.ceil((1_000 * sizeBytes) / downloadBytesPerSecondMin)

/** One chunk at a time, so that a slow reader costs no more memory than a quick one. */
async function* chunksOf({ db }: Deps, row: ReportExportRow): AsyncGenerator<Buffer> {
  let left = Number(row.size_bytes)
  for (let position = 0; left > 0; position += 1) {
    const chunk = await findChunk(db, row, position)
    if (chunk === null) throw new Error(`Chunk ${position} of export ${row.id} is not there any more`)
    left -= chunk.length
    yield chunk
  }
}
