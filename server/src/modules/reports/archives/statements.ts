import type { ReportType } from '../catalogue/catalogue.ts'
import { renderers } from '../files/formats.ts'
import { collectGarbageAbove } from '../files/garbage.ts'
import type { Parameters } from '../requests/report-request.ts'
import { renderTable, toAbout } from '../spreadsheets/render-csv.ts'
import type { Making } from './making.ts'
import { openStatement } from './open-statement.ts'

/** The reports of an archive on the whole vault, in their order. */
export const statements: readonly { type: ReportType; parameters: Parameters }[] = [
  { type: 'asset_movement', parameters: { groupBy: 'month' } },
  { type: 'operations', parameters: {} },
  { type: 'operations_exceptions', parameters: {} },
  { type: 'fees', parameters: { groupBy: 'month' } },
  { type: 'approval_activity', parameters: {} },
]

/** Adds each report as a folder with a CSV file for each table, and as PDF. */
export async function addStatements(making: Making): Promise<void> {
  const { writer, onStep } = making
  for (const { type, parameters } of statements) {
    const path = `statements/${type}`
    await openStatement(making, type, parameters, async (document) => {
      for (const table of document.tables) {
        await writer.add(`${path}/${table.name}.csv`, renderTable(table, document.timezone, collectGarbageAbove))
      }
      await writer.add(`${path}/about.csv`, [Buffer.from(toAbout(document))])
    })
    onStep()
    await openStatement(making, type, parameters, (document) =>
      writer.add(`${path}.pdf`, renderers.pdf(document, collectGarbageAbove)),
    )
    onStep()
  }
}
