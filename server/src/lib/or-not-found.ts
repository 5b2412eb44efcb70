import { notFound } from './errors.ts'

/** @throws 404 when there is no row that the caller may see */
export function orNotFound<Row>(row: Row | null | undefined, noun: string): Row {
  if (row === null || row === undefined) throw notFound(noun)
  return row
}
