import type { Static } from 'typebox'
import type { ScreeningColumns } from './queries.ts'
import type { Screening } from './schema.ts'

/** JSON of PostgreSQL writes instants with its own offset. */
const instantOf = (text: string | null) => (text === null ? null : new Date(text).toISOString())

export function toScreening(row: ScreeningColumns | null): Static<typeof Screening> | null {
  return row === null ? null : { ...row, askedAt: instantOf(row.askedAt), answeredAt: instantOf(row.answeredAt) }
}
