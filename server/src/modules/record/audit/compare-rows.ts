import type { Trx } from '../../../db/client.ts'
import { isSameJson } from '../../../lib/canonical-json.ts'
import { type ReplayedRecord, replay } from './queries.ts'
import type { SubjectDifference, SubjectReport } from './verify-subjects.ts'

/** What records make of a row, by the names in which a difference is told. A field that they do not hold is left out. */
export type RecordedRow = Record<string, unknown>

/** Rows of one kind of a chain, and how the records make them. */
export type RecordedKind = {
  chain: string
  targetType: string
  /** In the order in which those of one moment happened. */
  actions: readonly string[]
  /** What a record makes of the row it is about; `before` is undefined for the first one. null: there is no row any more. */
  apply(before: RecordedRow | undefined, record: ReplayedRecord): RecordedRow | null
  rows: { id: string; row: RecordedRow }[]
  /** Whether a row without records is one that the service makes without them. */
  isUnrecorded?(row: RecordedRow): boolean
}

/** Compares rows with what their records make of them. */
export async function compareRows(
  trx: Trx,
  { chain, targetType, actions, apply, rows, isUnrecorded }: RecordedKind,
): Promise<SubjectReport> {
  const differences: SubjectDifference[] = []
  const name = (targetId: string, detail: string) => differences.push({ vaultId: chain, targetType, targetId, detail })
  const recorded = new Map<string, RecordedRow>()
  for await (const record of replay(trx, chain, actions)) {
    if (record.fault !== null) name(record.targetId, `its audit record ${record.id}: ${record.fault}`)
    const after = apply(recorded.get(record.targetId), record)
    if (after === null) recorded.delete(record.targetId)
    else recorded.set(record.targetId, after)
  }
  for (const { id, row } of rows) {
    const known = recorded.get(id)
    recorded.delete(id)
    if (known !== undefined) for (const detail of differencesOf(row, known)) name(id, detail)
    else if (isUnrecorded?.(row) !== true) name(id, 'no audit record creates it')
  }
  for (const id of recorded.keys()) name(id, 'its row is gone')
  return { checked: rows.length, differences }
}

function differencesOf(row: RecordedRow, recorded: RecordedRow): string[] {
  return Object.keys(recorded)
    .filter((field) => recorded[field] !== undefined && !isSameJson(row[field], recorded[field]))
    .map((field) => `its ${field} is not what was recorded`)
}
