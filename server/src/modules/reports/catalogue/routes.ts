import type { Member } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints, type Http } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import type { SentFile } from '../../../http/reply.ts'
import { inlineFilesMax, inlineFilesPerCallerMax } from '../../../lib/limits.ts'
import { type FileFormat, fileMediaTypesOf } from '../files/formats.ts'
import { createSlots } from '../files/slots.ts'
import type { Parameters, Report } from '../requests/report-request.ts'
import { answerFile, answerJson } from './answer.ts'
import { reports } from './catalogue.ts'

type ReportInput = Parameters & { format?: FileFormat | 'json' }

/** Each report of the catalogue has two endpoints: with parameters in the query or, where they are too long for it, in a body. */
export function reportRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Reports', { access: 'member', scopes: { reads: 'report', writes: 'report' } })
  const slots = createSlots({ ofNode: inlineFilesMax, ofCaller: inlineFilesPerCallerMax })
  for (const report of reports as readonly Report[]) {
    const path = `/vaults/:code/reports/${report.type}`
    const { operationId, summary, description } = report
    const common = {
      // The error of a request with `userId` of another member.
      errors: ['administrator_required'],
      answers: { 200: report.answer },
      files: fileMediaTypesOf(report),
    } as const
    const answer = (member: Member, query: unknown, http: Http) => {
      const { format = 'json', ...parameters } = query as ReportInput
      const order = { report, member, parameters }
      return format === 'json' ? answerJson(deps, order) : answerFile(deps, slots, order, format, http)
    }
    api.get(operationId, path, {
      ...common,
      summary,
      description,
      querystring: report.query,
      handler: async (_db, { member, query }, http) => answer(member, query, http),
    })
    api.send.post(`post${operationId[0]!.toUpperCase()}${operationId.slice(1)}`, path, {
      ...common,
      errors: [...common.errors, 'invalid_cursor'],
      openToAuditors: true,
      summary: `${summary}, with a body`,
      description:
        `${description} The body holds the parameters of the GET, lists as arrays; the answer is the same. With an ` +
        '`Idempotency-Key` a repeated request gets the stored answer in JSON; a file is made again.',
      body: report.query,
      handler: async ({ member, body }, http) => {
        const isJson = ((body as ReportInput).format ?? 'json') === 'json'
        if (!isJson) return (await answer(member, body, http)) as SentFile
        return http.answerOnce(async () => ok(await answer(member, body, http)))
      },
    })
  }
}
