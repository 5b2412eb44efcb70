import type { Trx } from '../../../db/client.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import { type ReplayedRecord, replay } from './queries.ts'
import type { SubjectDifference, SubjectReport } from './verify-subjects.ts'

/** What records make of a row, by the names in which a difference is told. A field that they do not hold is left out. */
export type RecordedRow = Record<string, unknown>

/** Changes what was recorded so far, by the ids of the rows. */
type Take = (recorded: Map<string, RecordedRow>, record: ReplayedRecord) => void

/** Rows of one kind of a chain, and how the records make them. */
export type RecordedKind = {
  chain: string
  targetType: string
  /** In the order in which those of one moment happened. */
  actions: readonly string[]
  take: Take
  /** A function throws for a row that nobody can read. */
  rows: { id: string; row: RecordedRow | (() => RecordedRow) }[]
  /** Whether a row without records is one that the service makes without them. */
  isUnrecorded?(row: RecordedRow): boolean
}

/**
 * For records that are about one row each. `apply` returns what a record makes of it: `before` is undefined for the first one, and
 * null means that there is no row any more.
 */
export const ofTarget =
  (apply: (before: RecordedRow | undefined, record: ReplayedRecord) => RecordedRow | null): Take =>
  (recorded, record) => {
    const after = apply(recorded.get(record.targetId), record)
    if (after === null) recorded.delete(record.targetId)
    else recorded.set(record.targetId, after)
  }

/** Compares rows with what their records make of them. */
export async function compareRows(
  trx: Trx,
  { chain, targetType, actions, take, rows, isUnrecorded }: RecordedKind,
): Promise<SubjectReport> {
  const differences: SubjectDifference[] = []
  const name = (targetId: string, detail: string) => differences.push({ vaultId: chain, targetType, targetId, detail })
  const recorded = new Map<string, RecordedRow>()
  for await (const record of replay(trx, chain, actions)) {
    if (record.fault !== null) name(record.targetId, `its audit record ${record.id}: ${record.fault}`)
    take(recorded, record)
  }
  for (const { id, row: stored } of rows) {
    const known = recorded.get(id)
    recorded.delete(id)
    const row = readRow(stored)
    if (row === null) name(id, 'it cannot be read')
    else if (known !== undefined) for (const detail of differencesOf(row, known)) name(id, detail)
    else if (isUnrecorded?.(row) !== true) name(id, 'no audit record creates it')
  }
  for (const id of recorded.keys()) name(id, 'its row is gone')
  return { checked: rows.length, differences }
}

/** A row that was not written by the service may hold anything. */
function readRow(row: RecordedRow | (() => RecordedRow)): RecordedRow | null {
  try {
    return typeof row === 'function' ? row() : row
  } catch {
    return null
  }
}

function differencesOf(row: RecordedRow, recorded: RecordedRow): string[] {
  return Object.keys(recorded)
    .filter((field) => recorded[field] !== undefined && !isSame(row[field], recorded[field]))
    .map((field) => `its ${field} is not what was recorded`)
}

/** A row that the service did not write may hold what has no canonical form. */
export function isSame(one: unknown, other: unknown): boolean {
  try {
    return isSameJson(one ?? null, other ?? null)
  } catch {
    return false
  }
}
