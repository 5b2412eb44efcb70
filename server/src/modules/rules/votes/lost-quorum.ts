import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { notifyOfLostQuorum, type Subject } from '../../record/notifications/notification-rows.ts'
import { requirementsOf } from './queries.ts'
import { isQuorumReachable, type RequirementState } from './tally.ts'

/** Voters who lost, or may have lost, their vote in these vaults. */
type Leaving = { userIds: string[]; vaultIds: string[] }

/**
 * Warns the initiators of subjects that wait for votes of these users and can no longer get enough votes, in the transaction
 * in which the users lose their entitlement. The subjects continue to wait: a user may become entitled again, and the
 * initiator may cancel the subject.
 */
export async function warnOfLostQuorum(trx: Trx, leaving: Leaving, now: Date): Promise<void> {
  await notifyOfLostQuorum(trx, await listWithoutQuorum(trx, leaving), now)
}

/** Lists the subjects that wait for votes of these users and can no longer get enough votes. */
export async function listWithoutQuorum(db: Db | Trx, { userIds, vaultIds }: Leaving): Promise<Subject[]> {
  const { rows } = await sql<Subject & { requirements: RequirementState[] }>`
    select w.vault_id as "vaultId", w.subject_id as "subjectId", s.type as "subjectType", s.initiator_id as "initiatorId",
      ${requirementsOf(sql.ref('w.vault_id'), sql.ref('w.subject_id'))} as requirements
    from (
      select distinct e.vault_id, e.subject_id from approval_eligibilities e
      where e.vault_id = any(${vaultIds}::text[]) and e.user_id = any(${userIds}::text[]) and e.held is null
    ) w
    cross join lateral (
      select 'transfer' as type, o.initiator_id from transfers t join operations o on o.vault_id = t.vault_id and o.id = t.id
        where t.vault_id = w.vault_id and t.id = w.subject_id and t.phase = 'waiting'
      union all
      select 'approval_request', r.initiator_id from approval_requests r
        where r.vault_id = w.vault_id and r.id = w.subject_id and r.status = 'pending'
      union all
      select 'payout', p.initiator_id from payouts p
        where p.vault_id = w.vault_id and p.id = w.subject_id and p.status = 'awaiting_approval'
    ) s
    order by w.vault_id, w.subject_id`.execute(db)
  return rows.filter(({ requirements }) => !isQuorumReachable(requirements))
}
