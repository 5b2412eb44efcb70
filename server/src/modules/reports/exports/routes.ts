import { addAbortSignal, Readable } from 'node:stream'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, type Endpoints, endpoints } from '../../../http/endpoints.ts'
import { conflict, forbidden, notFound } from '../../../lib/errors.ts'
import {
  downloadBytesPerSecondMin,
  downloadGraceMilliseconds,
  downloadsMax,
  downloadsPerCallerMax,
} from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { archiveType } from '../archives/making.ts'
import { prepare } from '../catalogue/answer.ts'
import { reportOf } from '../catalogue/catalogue.ts'
import { fileMediaTypes, fileNameOf } from '../files/formats.ts'
import { sendFile } from '../files/send.ts'
import { createSlots } from '../files/slots.ts'
import { coversSnapshot, readAccessSnapshot } from './access-snapshot.ts'
import { checkParameters, orderReportExport } from './actions.ts'
import { toReportExport } from './present.ts'
import { findChunk, findReportExport, listReportExports, type ReportExportRow } from './queries.ts'
import {
  AuditorArchiveCreation,
  ReportExport,
  ReportExportCreation,
  ReportExportOrder,
  reportTypeParams,
} from './schema.ts'

export function reportExportRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Reports', { access: 'member', scopes: { reads: 'report', writes: 'report' } })
  const downloads = createSlots({ ofNode: downloadsMax, ofCaller: downloadsPerCallerMax })

  api.send.post('createReportExport', '/vaults/:code/reports/:type/exports', {
    summary: 'Create a report export',
    description:
      'Orders a report as a file, which is made in the background; `GET …/reports/exports/{id}` shows its progress. ' +
      'The body holds the parameters of the report and the format. Without `to` the interval ends now. 429 when three ' +
      'exports of the caller are under way.',
    // Auditors may export, because the file is for them alone.
    openToAuditors: true,
    errors: ['administrator_required'],
    params: reportTypeParams,
    body: ReportExportCreation,
    answers: { 202: ReportExportOrder },
    handler: async ({ member, params: { type }, body, now }, { write }) => {
      const { format, ...order } = body
      checkParameters(type, order)
      const { filter } = await prepare(deps.db, { report: reportOf(type), member, parameters: order }, now)
      // Defaults are resolved when the export is requested, not when the file is made.
      const { from, to } = filter.interval
      const parameters = { ...order, from: from.toISOString(), to: to.toISOString() }
      return write(async (trx) => ({ id: await orderReportExport(trx, { type, format, parameters }, { member, now }) }))
    },
  })

  registerArchive(api, deps)

  api.list('listReportExports', '/vaults/:code/reports/exports', {
    summary: 'List report exports',
    description:
      'The exports that the caller ordered in this vault, newest first; exports of other people are not listed.',
    item: ReportExport,
    load: (db, { member }, page) => listReportExports(db, member, page),
    present: (row, { member, now }) => toReportExport(row, member.vault.code, now),
  })

  api.get('getReportExport', '/vaults/:code/reports/exports/:id', {
    summary: 'Get a report export',
    description:
      'The state and progress of the export, and the path of its file once it is done. Only for the person who ' +
      'ordered it; 404 for everybody else.',
    answers: { 200: ReportExport },
    handler: async (db, { member, params, now }) =>
      toReportExport(await getReportExport(db, member, params.id), member.vault.code, now),
  })

  api.get('downloadReportExport', '/vaults/:code/reports/exports/:id/download', {
    summary: 'Download a report export',
    description:
      'The file. Only for the person who ordered it, for 24 hours, and only while that person may still see ' +
      'everything that the file was made from (403 otherwise). 409 while it is not done. `Repr-Digest` (RFC 9530) is ' +
      'the SHA-256 of the file.',
    answers: {},
    files: fileMediaTypes,
    errors: ['wrong_state'],
    handler: async (db, { member, params, now }, { reply }) => {
      const row = await getReportExport(db, member, params.id)
      if (row.state === 'failed') throw conflict('wrong_state', 'The export failed; its `failure` says why')
      if (row.state !== 'done')
        throw conflict('wrong_state', `The export is ${row.state}; wait until \`state\` is \`done\``)
      if (row.expires_at.getTime() <= now.getTime()) throw notFound('File')
      if (!coversSnapshot(await readAccessSnapshot(db, member, visibleScopeOf(member)), row)) {
        throw forbidden('not_permitted', 'You may no longer see everything in this file; create a new export')
      }
      const bytes = Readable.from(chunksOf(db, row), { objectMode: false })
      bytes.once('close', downloads.take(member.userId))
      addAbortSignal(AbortSignal.timeout(downloadMilliseconds(Number(row.size_bytes))), bytes)
      if (row.size_bytes !== null) reply.header('content-length', row.size_bytes)
      if (row.sha256 !== null) reply.header('repr-digest', toReprDigest(row.sha256))
      // Files of earlier versions, which made no archives, have no kind; their format decides.
      const kind = row.file_kind ?? row.format
      return sendFile(reply, bytes, kind, fileNameOf(row.report_type, row.id, kind))
    },
  })
}

/** Registers the order of an archive for an auditor, which is read as every export. */
function registerArchive(api: Endpoints<'member'>, deps: Deps): void {
  api.send.post('createAuditorArchive', '/vaults/:code/reports/archives', {
    summary: 'Create an archive for an auditor',
    description:
      'For administrators and auditors of the vault. Orders one ZIP archive for a period: statements as CSV and PDF, the ' +
      'evidence of each transfer, the seals, the verification of the vault and a readme, with a signed list of their SHA-256 ' +
      'sums. `strongroom archive verify` checks it. It is made in the background, and read as an export of the type ' +
      '`auditor_archive`. Without `to` the period ends now. 429 when three exports of the caller are under way.',
    access: 'auditor',
    openToAuditors: true,
    body: AuditorArchiveCreation,
    answers: { 202: ReportExportOrder },
    handler: async ({ member, body, now }, { write }) => {
      const { timezone = 'UTC', language = 'en', ...period } = body
      const whole = { report: reportOf('operations'), member, parameters: { ...period, timezone } }
      const { from, to } = (await prepare(deps.db, whole, now)).filter.interval
      const parameters = { from: from.toISOString(), to: to.toISOString(), timezone, language }
      const order = { type: archiveType, format: 'zip', parameters } as const
      return write(async (trx) => ({ id: await orderReportExport(trx, order, { member, now }) }))
    },
  })
}

async function getReportExport(db: Db, member: Member, id: string): Promise<ReportExportRow> {
  return orNotFound(await findReportExport(db, member, id), 'Report export')
}

/** Returns the digest in the form of RFC 9530. */
const toReprDigest = (sha256: string) => `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`

/** The maximum duration of a download, so that a client that stopped reading does not hold a slot forever. */
const downloadMilliseconds = (sizeBytes: number) =>
  downloadGraceMilliseconds + Math.ceil((1_000 * sizeBytes) / downloadBytesPerSecondMin)

/** Yields one chunk at a time, so that a slow client costs no more memory than a fast one. */
async function* chunksOf(db: Db, row: ReportExportRow): AsyncGenerator<Buffer> {
  let left = Number(row.size_bytes)
  for (let position = 0; left > 0; position += 1) {
    const chunk = await findChunk(db, row, position)
    if (chunk === null) throw new Error(`Chunk ${position} of export ${row.id} is not there any more`)
    left -= chunk.length
    yield chunk
  }
}
