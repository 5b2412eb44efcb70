import type { Deps } from '../../../deps.ts'
import { endpoints } from '../../../http/endpoints.ts'
import type { App } from '../../../http/route.ts'
import { VaultParams } from '../../../http/schema.ts'
import { inlineFilesMax, inlineFilesPerCallerMax } from '../../../lib/limits.ts'
import { type FileFormat, fileMediaTypes } from '../files/formats.ts'
import { createSlots } from '../files/slots.ts'
import { answerFile, answerJson } from './answer.ts'
import { reports } from './catalogue.ts'
import type { Parameters, Report } from './report.ts'

type Query = Parameters & { format?: FileFormat | 'json' }

/** One endpoint for each report of the catalogue. */
export function reportRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Reports')
  const slots = createSlots({ ofNode: inlineFilesMax, ofCaller: inlineFilesPerCallerMax })
  for (const report of reports as readonly Report[]) {
    api.get(
      `/vaults/:code/reports/${report.type}`,
      {
        ...report.documentation,
        access: 'member',
        params: VaultParams,
        querystring: report.query,
        answers: { 200: report.answer },
        files: fileMediaTypes,
      },
      async (_db, { member, query }, http) => {
        const { format = 'json', ...parameters } = query as Query
        const order = { report, member, parameters }
        return format === 'json' ? answerJson(deps, order) : answerFile(deps, slots, order, format, http)
      },
    )
  }
}
