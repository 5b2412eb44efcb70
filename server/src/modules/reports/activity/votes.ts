import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import type { ApprovalCount, ApprovalTimes } from '../blocks/approvals.ts'
import { isSubject, neededVotes, subjectsOfVotes } from '../requests/needed-votes.ts'
import { isReported, type OperationFilter } from '../requests/operation-filter.ts'
import { middles } from './statistics.ts'

/** SQL condition: the votes that the transfer `o` needed were given. */
export const wasApproved = sql<boolean>`o.status in ('pending', 'confirmed', 'failed')`

/** SQL: milliseconds from the creation of the transfer `o` to the vote that approved the subject `s` of its votes. */
export const approvalMilliseconds = sql`(select round(extract(epoch from max(v.voted_at) - o.created_at) * 1000)
  from approval_voters v where v.vault_id = o.vault_id and v.subject_id = s.subject_id and v.decision = 'approve')`

/** SQL: the transfers `o` of a report with the subjects `s` of their votes, in a statement that has `subjects`. */
export const votedTransfers = sql`operations o join subjects s on o.type = 'transfer' and s.operation_id = o.id`

export type Approvals = { counts: ApprovalCount[]; times: ApprovalTimes | null }

/** Returns the transfers of the report that needed votes: by status, and the waiting times of approved transfers. */
export async function summarizeVotes(trx: Trx, filter: OperationFilter): Promise<Approvals> {
  const { rows } = await sql<TimesRow & { status: OperationStatus | null; count: number }>`
    with ${subjectsOfVotes(filter)}, needed as (
      select o.status, case when ${wasApproved} then round(extract(epoch from max(v.voted_at) - o.created_at) * 1000) end as waited
      from ${votedTransfers}
      left join approval_voters v on v.vault_id = o.vault_id and ${isSubject(filter, 'v.subject_id')}
        and v.subject_id = s.subject_id and v.decision = 'approve'
      where ${isReported(filter)} and ${neededVotes(filter)}
      group by o.vault_id, o.id
    )
    select status, count(*)::float8 as count, ${timesOf}
    from needed group by grouping sets ((status), ())`.execute(trx)
  const overall = rows.find(({ status }) => status === null)
  return {
    counts: rows.flatMap(({ status, count }) => (status === null ? [] : [{ status, count }])),
    times: overall === undefined ? null : toTimes(overall),
  }
}

/** Returns the waiting times of approved transfers, by the policy that decided them and asked for votes. */
export async function listVotesByPolicy(
  trx: Trx,
  filter: OperationFilter,
): Promise<{ policyId: string; policyCode: string; times: ApprovalTimes }[]> {
  const { rows } = await sql<TimesRow & { policy_id: string; policy_code: string }>`
    with ${subjectsOfVotes(filter)}, needed as (
      select t.decision_policy_id as policy_id, t.decision_policy_code as policy_code, ${approvalMilliseconds} as waited
      from ${votedTransfers} join transfers t on t.vault_id = o.vault_id and t.id = o.id
      where ${isReported(filter)} and ${wasApproved} and ${neededVotes(filter, sql`q.policy_id = t.decision_policy_id`)}
    )
    select policy_id, max(policy_code) as policy_code, ${timesOf}
    from needed group by policy_id order by policy_id`.execute(trx)
  return rows.flatMap((row) => {
    const times = toTimes(row)
    return times === null ? [] : [{ policyId: row.policy_id, policyCode: row.policy_code, times }]
  })
}

/** SQL: the columns that `toTimes` reads, from a column `waited` in milliseconds. */
export const timesOf = sql`count(waited)::float8 as timed, sum(waited) as sum,
  (percentile_disc(${middles}) within group (order by waited))::text[] as middles, max(waited) as longest`

/** Waiting times in milliseconds, as numeric sums. */
export type TimesRow = { timed: number; sum: string | null; middles: string[] | null; longest: string | null }

export function toTimes(row: TimesRow): ApprovalTimes | null {
  if (row.timed === 0) return null
  const [lower, upper] = row.middles!
  return {
    count: row.timed,
    sum: BigInt(row.sum!),
    lower: BigInt(lower!),
    upper: BigInt(upper!),
    longest: BigInt(row.longest!),
  }
}
