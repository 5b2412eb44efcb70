import { sql } from 'kysely'
import { prepared, type Trx } from '../../db/client.ts'
import { conflict } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'

/** What one policy demands before its subject may go on. */
export type ApprovalRequirement = {
  /** The step of a chain that the demand is about; a subject that is no chain is step 0. */
  stepIndex?: number
  policyId: string
  policyCode: string
  policyName: string
  threshold: number
  bypassed: boolean
  allowInitiator: boolean
  /** Explicit approvers; null: all members of `groupId`. */
  approvers: { kind: 'user' | 'group'; id: string }[] | null
  groupId: string
}

type Approval = {
  vaultId: string
  subjectId: string
  initiatorId: string
  requirements: ApprovalRequirement[]
  now: Date
}

/**
 * Takes the snapshot of who may vote on a subject and why. Only people and services that can sign in count; the
 * initiator counts where the policy allows it.
 *
 * @throws 409 when fewer can vote than a threshold demands
 */
export async function openApproval(
  trx: Trx,
  { vaultId, subjectId, initiatorId, requirements, now }: Approval,
): Promise<void> {
  await trx
    .insertInto('approval_requirements')
    .values(
      requirements.map((one) => ({
        vault_id: vaultId,
        subject_id: subjectId,
        step_index: one.stepIndex ?? 0,
        policy_id: one.policyId,
        policy_code: one.policyCode,
        policy_name: one.policyName,
        threshold: one.threshold,
        allow_initiator: one.allowInitiator,
        bypassed: one.bypassed,
        created_at: now,
      })),
    )
    .execute()
  const sources = requirements
    .filter((one) => !one.bypassed)
    .flatMap((one) =>
      (one.approvers ?? [{ kind: 'group' as const, id: one.groupId }]).map((source) => ({ requirement: one, source })),
    )
  await sql`${prepared}
    insert into approval_eligibilities (vault_id, subject_id, user_id, step_index, policy_id, group_id)
    select ${vaultId}, ${subjectId}, u.id, s.step_index, s.policy_id, coalesce(s.group_id, '')
    from unnest(
      ${sources.map(({ requirement }) => requirement.stepIndex ?? 0)}::smallint[],
      ${sources.map(({ requirement }) => requirement.policyId)}::text[],
      ${sources.map(({ source }) => (source.kind === 'user' ? source.id : null))}::text[],
      ${sources.map(({ source }) => (source.kind === 'group' ? source.id : null))}::text[],
      ${sources.map(({ requirement }) => requirement.allowInitiator)}::boolean[]
    ) as s(step_index, policy_id, user_id, group_id, allow_initiator)
    join users u on u.disabled_at is null and (u.id = s.user_id or exists (
      select from policy_group_memberships m join policy_groups g on g.vault_id = m.vault_id and g.id = s.group_id
      where m.vault_id = ${vaultId} and m.user_id = u.id
        and (m.group_id = s.group_id or (g.is_system and g.code = 'everyone'))))
    -- An explicit approver must still be a member of the vault: nobody else can reach it.
    where (s.allow_initiator or u.id <> ${initiatorId})
      and exists (select from policy_group_memberships m where m.vault_id = ${vaultId} and m.user_id = u.id)
    on conflict do nothing`.execute(trx)
  await assertQuorum(trx, vaultId, subjectId)
  const voters = await trx
    .selectFrom('approval_eligibilities')
    .select('user_id')
    .distinct()
    .where('vault_id', '=', vaultId)
    .where('subject_id', '=', subjectId)
    .execute()
  if (voters.length === 0) return
  await trx
    .insertInto('approval_voters')
    .values(
      voters.map((voter) => ({
        vault_id: vaultId,
        id: newId(now),
        subject_id: subjectId,
        user_id: voter.user_id,
        created_at: now,
      })),
    )
    .execute()
}

async function assertQuorum(trx: Trx, vaultId: string, subjectId: string): Promise<void> {
  const { rows } = await sql<{ policy_code: string; threshold: number; reachable: number }>`${prepared}
    select r.policy_code, r.threshold, count(distinct e.user_id)::int as reachable
    from approval_requirements r
    left join approval_eligibilities e using (vault_id, subject_id, step_index, policy_id)
    where r.vault_id = ${vaultId} and r.subject_id = ${subjectId} and not r.bypassed
    group by r.step_index, r.policy_id, r.policy_code, r.threshold having count(distinct e.user_id) < r.threshold
    order by r.policy_code limit 1`.execute(trx)
  const short = rows[0]
  if (short === undefined) return
  throw conflict(
    'quorum unreachable',
    `Policy ${short.policy_code} needs ${short.threshold} approvals, and only ${short.reachable} can vote`,
  )
}
