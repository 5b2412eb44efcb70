import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { compareRows, ofTarget } from '../../record/audit/compare-rows.ts'
import { platformChain } from '../../record/audit/record.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'

type Stored = {
  id: string
  action: string
  target: string
  payload: unknown
  status: string
  author: string
  decider: string | null
}

/** Compares the platform changes, their authors and the users who decided on them with the audit records. */
export async function verifyPlatformChanges(trx: Trx): Promise<SubjectReport> {
  const { rows } = await sql<Stored>`
    select id, action, target_id as target, payload, status, created_by_id as author, decided_by_id as decider
    from platform_changes order by id`.execute(trx)
  return compareRows(trx, {
    chain: platformChain,
    targetType: 'platform_change',
    actions: ['platform_change.held', 'platform_change.confirmed', 'platform_change.rejected'],
    take: ofTarget((before, { action, actorId, details }) => {
      const { action: changeAction, targetId: target, payload } = details
      const status = action.slice('platform_change.'.length)
      return status === 'held'
        ? { action: changeAction, target, payload, status, author: actorId, decider: null }
        : { ...before, status, decider: actorId }
    }),
    rows: rows.map(({ id, ...row }) => ({ id, row })),
  })
}
