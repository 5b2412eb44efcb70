import type { Trx } from '../../../db/client.ts'
import { isSame } from '../../record/audit/compare-rows.ts'
import { type ReplayedRecord, replay } from '../../record/audit/queries.ts'
import type { SubjectDifference, SubjectReport } from '../../record/audit/verify-subjects.ts'
import { draftOfRow } from './actions.ts'
import { listAllPolicies, type PolicyRow } from './queries.ts'

type Fields = Record<string, unknown>
type Details = { groupId?: string; before?: Fields; after?: Fields }

/** A policy according to its audit records: the fields that they name. */
type Recorded = { groupId: string | null; fields: Fields; updates: { at: number; details: Details }[] }

/** Compares the policies of a vault with the audit records: every field, the rules and the approvers. */
export async function verifyPolicies(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const recorded = new Map<string, Recorded>()
  const differences: SubjectDifference[] = []
  const name = (targetId: string, detail: string) =>
    differences.push({ vaultId, targetType: 'policy', targetId, detail })
  for await (const record of replay(trx, vaultId, ['policy.created', 'policy.updated', 'policy.deleted'])) {
    if (record.fault === null) take(recorded, record)
    else name(record.targetId, `its audit record ${record.id}: ${record.fault}`)
  }
  const stored = await listAllPolicies(trx, vaultId)
  for (const row of stored) {
    const known = recorded.get(row.id)
    recorded.delete(row.id)
    const difference = known === undefined ? 'it is in no audit record' : differenceOf(known, row)
    if (difference !== null) name(row.id, difference)
  }
  for (const id of recorded.keys()) name(id, 'its row is gone')
  return { checked: stored.length, differences }
}

function take(recorded: Map<string, Recorded>, { action, targetId, at, details }: ReplayedRecord): void {
  const change = details as Details
  if (action === 'policy.deleted') recorded.delete(targetId)
  else if (action === 'policy.created')
    recorded.set(targetId, { groupId: change.groupId ?? null, fields: { ...change.after }, updates: [] })
  else {
    const known = recorded.get(targetId)
    if (known === undefined) return
    known.updates.push({ at: at.getTime(), details: change })
  }
}

/** Applies the updates. Of several updates at the same time, the update whose `before` fits the present values comes first. */
function applied({ fields, updates }: Recorded): Fields {
  let now = { ...fields }
  const waiting = [...updates]
  while (waiting.length > 0) {
    const ofMoment = waiting.filter(({ at }) => at === waiting[0]!.at)
    const next = ofMoment.find(({ details }) => follows(now, details.before)) ?? ofMoment[0]!
    waiting.splice(waiting.indexOf(next), 1)
    now = { ...now, ...next.details.after }
  }
  return now
}

const follows = (now: Fields, before: Fields = {}): boolean =>
  Object.keys(before).every((name) => !(name in now) || isSame(now[name], before[name]))

function differenceOf(recorded: Recorded, row: PolicyRow): string | null {
  const stored: Fields | null = readDraft(row)
  if (stored === null) return 'it cannot be read'
  const expected = applied(recorded)
  const names = Object.keys(expected).filter((field) => !isSame(expected[field], stored[field]))
  if (recorded.groupId !== null && recorded.groupId !== row.groupId) names.push('groupId')
  return names.length === 0 ? null : `not as recorded: ${names.sort().join(', ')}`
}

/** Rules that the service did not write may hold any value. */
function readDraft(row: PolicyRow): Fields | null {
  try {
    return { ...draftOfRow(row) }
  } catch {
    return null
  }
}
