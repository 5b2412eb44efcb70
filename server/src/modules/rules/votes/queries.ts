import { type RawBuilder, sql } from 'kysely'
import type { Member } from '../../../access/caller.ts'
import { profileOf } from '../../../access/profile.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { wireTime } from '../../../db/wire-time.ts'
import type { Profile } from '../../../http/schema.ts'
import type { ApproverRow, RequirementState, VoteChoice } from './tally.ts'

export type ProfileRow = Profile

/** The requirements of a subject. */
export async function listRequirements(db: Db | Trx, vaultId: string, subjectId: string): Promise<RequirementState[]> {
  const { rows } = await sql<{ items: RequirementState[] }>`${prepared}
    select ${requirementsOf(sql`${vaultId}::text`, sql`${subjectId}::text`)} as items`.execute(db)
  return rows[0]!.items
}

/** A vote that is being cast. */
export type Cast = { userId: string; decision: VoteChoice; comment: string | null; now: Date }

/** The votes on a subject: `requirements` count the votes of entitled voters, and `approvers` show all votes. */
export type Votes = { requirements: RequirementState[]; approvers: ApproverRow[] }

/** SQL: JSON of Votes with this vote, or of the present votes without a vote. It is a column of another statement. */
export function votesAfter(cast: Cast | null, vaultId: string, subjectId: string): RawBuilder<Votes> {
  const of = [sql`${vaultId}::text`, sql`${subjectId}::text`] as const
  const voters = cast === null ? votersTable : votersAfter(cast)
  return sql`json_build_object('requirements', ${requirementsOf(...of, voters)}, 'approvers', ${approversOf(...of, voters)})`
}

/** SQL: JSON of a voter of a subject; null when the user is not a voter. */
export const voterOf = (userId: string, vaultId: string, subjectId: string): RawBuilder<Voter | null> => sql`(
  select json_build_object('decision', v.decision, 'isEntitled', exists (
    select from entitled_voters e
    where e.vault_id = v.vault_id and e.subject_id = v.subject_id and e.user_id = v.user_id))
  from approval_voters v where v.vault_id = ${vaultId} and v.subject_id = ${subjectId} and v.user_id = ${userId})`

export type Voter = { decision: VoteChoice | null; isEntitled: boolean }

const votersTable = sql`approval_voters`

/** SQL: the voters after the vote is cast. */
function votersAfter({ userId, decision, comment, now }: Cast): RawBuilder<unknown> {
  const after = (column: string, value: RawBuilder<unknown>) =>
    sql`case when v.user_id = ${userId} then ${value} else ${sql.ref(`v.${column}`)} end as ${sql.ref(column)}`
  return sql`(
    select v.vault_id, v.subject_id, v.user_id, v.id, v.created_at, ${after('decision', sql`${decision}::text`)},
      ${after('comment', sql`${comment}::text`)}, ${after('voted_at', sql`${now}::timestamptz`)}
    from approval_voters v)`
}

/**
 * SQL: JSON array of RequirementState, with the approvals that count now: the vote of a voter who lost the entitlement does not
 * count. It is an expression for the column list of a query that selects the subject.
 */
export function requirementsOf(
  vaultId: RawBuilder<unknown>,
  subjectId: RawBuilder<unknown>,
  voters = votersTable,
): RawBuilder<unknown> {
  const groupsOfVoters = groupsOf(voters)
  return sql`(
    select coalesce(json_agg(json_build_object('stepIndex', q.step_index, 'policyId', q.policy_id,
      'policyCode', q.policy_code, 'threshold', q.threshold, 'bypassed', q.bypassed,
      'approvalsCount', c.approvals, 'reachableCount', c.reachable, 'groups', q.group_thresholds,
      'approvals', ${groupsOfVoters(sql`w.decision = 'approve'`)},
      'reachable', ${groupsOfVoters(sql`w.decision is distinct from 'reject'`)}) order by q.step_index, q.policy_id), '[]')
    from approval_requirements q
    cross join lateral (
      select count(distinct w.user_id) filter (where w.decision = 'approve') as approvals,
        count(distinct w.user_id) filter (where w.decision is distinct from 'reject') as reachable
      from entitled_voters e
      join ${voters} w on w.vault_id = e.vault_id and w.subject_id = e.subject_id and w.user_id = e.user_id
      where e.vault_id = q.vault_id and e.subject_id = q.subject_id and e.step_index = q.step_index
        and e.policy_id = q.policy_id
    ) c
    where q.vault_id = ${vaultId} and q.subject_id = ${subjectId})`
}

/** SQL: for each voter of the requirement `q`, the groups that entitle the voter; null unless groups must give some votes. */
const groupsOf = (voters: RawBuilder<unknown>) => (condition: RawBuilder<unknown>) =>
  sql`
  case when q.group_thresholds is not null then (
    select coalesce(json_agg(v.groups), '[]') from (
      select json_agg(e.group_id) as groups from entitled_voters e
      join ${voters} w on w.vault_id = e.vault_id and w.subject_id = e.subject_id and w.user_id = e.user_id
      where e.vault_id = q.vault_id and e.subject_id = q.subject_id and e.step_index = q.step_index
        and e.policy_id = q.policy_id and ${condition}
      group by e.user_id) v) end`

/** JSON of ApprovalState: the parts of an approval that are compared with the audit records; see `requirementsOf`. */
export function approvalStateOf(vaultId: RawBuilder<unknown>, subjectId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`json_build_object(
    'requirements', (
      select coalesce(json_agg(json_build_object('stepIndex', q.step_index, 'policyId', q.policy_id,
        'policyCode', q.policy_code, 'threshold', q.threshold, 'bypassed', q.bypassed, 'voters', (
          select coalesce(json_agg(distinct e.user_id), '[]') from approval_eligibilities e
          where e.vault_id = q.vault_id and e.subject_id = q.subject_id and e.step_index = q.step_index
            and e.policy_id = q.policy_id),
        'groups', case when q.group_thresholds is not null then (
          select json_agg(json_build_object('groupId', g.one ->> 'groupId', 'threshold', g.one -> 'threshold', 'voters', (
            select coalesce(json_agg(e.user_id), '[]') from approval_eligibilities e
            where e.vault_id = q.vault_id and e.subject_id = q.subject_id and e.step_index = q.step_index
              and e.policy_id = q.policy_id and e.group_id = g.one ->> 'groupId')))
          from jsonb_array_elements(q.group_thresholds) as g(one)) end)), '[]')
      from approval_requirements q where q.vault_id = ${vaultId} and q.subject_id = ${subjectId}),
    'votes', (
      select coalesce(json_agg(json_build_object('userId', w.user_id, 'decision', w.decision)), '[]')
      from approval_voters w
      where w.vault_id = ${vaultId} and w.subject_id = ${subjectId} and w.decision is not null))`
}

/** JSON array of ApproverRow, as `requirementsOf`. */
export function approversOf(
  vaultId: RawBuilder<unknown>,
  subjectId: RawBuilder<unknown>,
  voters = votersTable,
): RawBuilder<unknown> {
  return sql`(
    select coalesce(json_agg(json_build_object('id', w.id, 'userId', w.user_id, 'decision', w.decision,
      'comment', w.comment, 'votedAt', ${wireTime('w.voted_at')}, 'createdAt', ${wireTime('w.created_at')},
      'stepIndexes', (
        select coalesce(json_agg(distinct s.step_index), '[]') from approval_eligibilities s
        where s.vault_id = w.vault_id and s.subject_id = w.subject_id and s.user_id = w.user_id),
      'isEntitled', exists (
        select from entitled_voters e
        where e.vault_id = w.vault_id and e.subject_id = w.subject_id and e.user_id = w.user_id),
      'user', ${profileOf('u')}) order by w.created_at, w.id), '[]')
    from ${voters} w join users u on u.id = w.user_id
    where w.vault_id = ${vaultId} and w.subject_id = ${subjectId})`
}

/**
 * SQL condition: the viewer may read the subject of `alias`, a row of `approval_requests` or `payouts`. The initiator, the
 * voters and the readers of the whole vault may read it.
 */
export function isSubjectVisible(
  alias: string,
  { readsAll, userId }: Pick<Member, 'readsAll' | 'userId'>,
): RawBuilder<boolean> {
  if (readsAll) return sql<boolean>`true`
  return sql<boolean>`(${sql.ref(`${alias}.initiator_id`)} = ${userId} or ${isVoter(alias, userId)})`
}

/**
 * SQL condition: the user is a voter of the subject of `alias`, a row of `operations`, `approval_requests` or `payouts`. A
 * voter may read the subject even after the vote or after the entitlement has ended.
 */
export function isVoter(alias: string, userId: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from approval_voters voter where voter.vault_id = ${sql.ref(`${alias}.vault_id`)}
      and voter.subject_id = ${sql.ref(`${alias}.id`)} and voter.user_id = ${userId})`
}
