import { sql } from 'kysely'
import { isAdministrators, isAuditor, isHeldUser } from '../../../access/memberships.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { conflict } from '../../../lib/errors.ts'
import type { GovernanceSettings, RulesDocument } from '../rules-versions/document-schema.ts'

/** The group whose members vote on changes of the rules. */
export function approverGroupOf({ governance, groups }: Pick<RulesDocument, 'governance' | 'groups'>): string {
  return governance.approverGroupId ?? groups.find(({ isSystem, code }) => isSystem && code === 'administrators')!.id
}

/** SQL: the people who could vote now: in the group, not disabled, not held and no auditors. */
const electorate = (vaultId: string, groupId: string | null) => sql`
  select u.id from policy_groups g
  join policy_group_memberships m on m.vault_id = g.vault_id and m.group_id = g.id
  join users u on u.id = m.user_id and u.kind = 'person' and u.disabled_at is null
  where g.vault_id = ${vaultId} and ${groupId === null ? isAdministrators('g') : sql`g.id = ${groupId}`}
    and not ${isAuditor(sql`${vaultId}::text`, sql`u.id`)} and not ${isHeldUser(sql`${vaultId}::text`, sql`u.id`)}`

/**
 * Checks that the group has more members who can vote than the threshold: the initiator does not vote. A smaller group could
 * never change the rules again.
 * @throws 409
 */
export async function assertQuorum(
  trx: Trx,
  vaultId: string,
  { threshold, approverGroupId }: Pick<GovernanceSettings, 'threshold' | 'approverGroupId'>,
): Promise<void> {
  if (threshold === 0) return
  const { rows } = await sql`${electorate(vaultId, approverGroupId)}`.execute(trx)
  if (rows.length > threshold) return
  throw conflict(
    'quorum_unreachable',
    'Too few people could agree to a change of the rules',
    `A threshold of ${threshold} needs ${threshold + 1} people in the group that votes, and it has ${rows.length}`,
  )
}

/** Counts the approvals of a request whose voters could vote now. */
export async function countValidVotes(
  db: Db | Trx,
  vaultId: string,
  { requestId, approverGroupId }: { requestId: string; approverGroupId: string | null },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct w.user_id)::int as count from approval_voters w
    where w.vault_id = ${vaultId} and w.subject_id = ${requestId} and w.decision = 'approve'
      and w.user_id in (${electorate(vaultId, approverGroupId)})`.execute(db)
  return rows[0]!.count
}

/** A member of the group that votes. */
export type Voter = { userId: string; email: string | null; isHeld: boolean; isAble: boolean }

/** Lists the people in the group that votes, including people who cannot vote now, without auditors. */
export async function listElectorate(trx: Trx, vaultId: string, groupId: string | null): Promise<Voter[]> {
  const isHeld = isHeldUser(sql`${vaultId}::text`, sql`u.id`)
  const { rows } = await sql<Voter>`
    select u.id as "userId", u.email, ${isHeld} as "isHeld", u.disabled_at is null and not ${isHeld} as "isAble"
    from policy_groups g
    join policy_group_memberships m on m.vault_id = g.vault_id and m.group_id = g.id
    join users u on u.id = m.user_id and u.kind = 'person'
    where g.vault_id = ${vaultId} and ${groupId === null ? isAdministrators('g') : sql`g.id = ${groupId}`}
      and not ${isAuditor(sql`${vaultId}::text`, sql`u.id`)}
    order by u.created_at, u.id`.execute(trx)
  return rows
}
