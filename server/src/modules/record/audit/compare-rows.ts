import type { Trx } from '../../../db/client.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import { type ReplayedRecord, replay } from './queries.ts'
import type { SubjectDifference, SubjectReport } from './verify-subjects.ts'

/**
 * The content of a row according to its records, by the names with which a difference is reported. Fields that the
 * records do not hold are left out.
 */
export type RecordedRow = Record<string, unknown>

/** Applies a record to the rows that were recorded so far, by their ids. */
type Take = (recorded: Map<string, RecordedRow>, record: ReplayedRecord) => void

/** The rows of one type that a seal chain records, and the way in which records create them. */
type RecordedKind = {
  chain: string
  targetType: string
  /** The actions, in the order in which those of one moment happened. */
  actions: readonly string[]
  take: Take
  /** A function reads its row, and throws for a row that cannot be read. */
  rows: { id: string; row: RecordedRow | (() => RecordedRow) }[]
  /** Returns true if the service creates such a row without records. */
  isUnrecorded?(row: RecordedRow): boolean
}

/**
 * Returns a `Take` for records about one row each. `apply` returns the row after a record: `before` is undefined for
 * the first record, and null means that the row no longer exists.
 */
export const ofTarget =
  (apply: (before: RecordedRow | undefined, record: ReplayedRecord) => RecordedRow | null): Take =>
  (recorded, record) => {
    const after = apply(recorded.get(record.targetId), record)
    if (after === null) recorded.delete(record.targetId)
    else recorded.set(record.targetId, after)
  }

/** Compares rows with their records. */
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

/** Returns the row, or null when it cannot be read: a row that the service did not write may hold anything. */
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
    .map((field) => `not as recorded: ${field}`)
}

/** Returns true if two values are equal. A row that the service did not write may hold a value without a canonical form. */
export function isSame(value: unknown, other: unknown): boolean {
  try {
    return isSameJson(value ?? null, other ?? null)
  } catch {
    return false
  }
}
