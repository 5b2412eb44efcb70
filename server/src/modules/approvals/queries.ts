import { sql } from 'kysely'
import type { Db, Trx } from '../../db/client.ts'
import type { RequirementState } from './tally.ts'

/** The requirements of a subject with the approvals that count now: a vote of someone who lost entitlement does not. */
export async function listRequirements(db: Db | Trx, vaultId: string, subjectId: string): Promise<RequirementState[]> {
  const { rows } = await sql<RequirementState>`
    select r.step_index as "stepIndex", r.policy_id as "policyId", r.policy_code as "policyCode", r.threshold, r.bypassed,
      count(distinct v.user_id)::int as "approvalsCount"
    from approval_requirements r
    left join entitled_voters e using (vault_id, subject_id, step_index, policy_id)
    left join approval_voters v on v.vault_id = e.vault_id and v.subject_id = e.subject_id and v.user_id = e.user_id
      and v.decision = 'approve'
    where r.vault_id = ${vaultId} and r.subject_id = ${subjectId}
    group by r.step_index, r.policy_id, r.policy_code, r.threshold, r.bypassed
    order by r.step_index, r.policy_id`.execute(db)
  return rows
}
