import { sql } from 'kysely'
import { isAdministrators, isAuditor, isEveryone, isHeldUser } from '../../../access/memberships.ts'
import type { Trx } from '../../../db/client.ts'

type Placing = { vaultId: string; subjectId: string; placerId: string }

/**
 * Returns true if a hold on a person leaves enough voters, without the person who places it, in every electorate of the held
 * person: for changes of the rules, and for releases of holds by administrators and by the approvers that policies name. Changes
 * of the rules and releases by administrators need their requester in addition to the voters.
 */
export async function leavesQuorum(trx: Trx, { vaultId, subjectId, placerId }: Placing): Promise<boolean> {
  const { rows } = await sql<{ isLost: boolean }>`
    with able as (
      select distinct u.id from policy_group_memberships m
      join users u on u.id = m.user_id and u.kind = 'person' and u.disabled_at is null
      where m.vault_id = ${vaultId} and not ${isAuditor(sql`${vaultId}::text`, sql`u.id`)}
        and not ${isHeldUser(sql`${vaultId}::text`, sql`u.id`)}
    ), electorates as (
      select 'rules' as electorate, v.threshold + 1 as needed, g.id as group_id, null::text as user_id
      from governance v join policy_groups g on g.vault_id = v.vault_id
        and (g.id = v.approver_group_id or (v.approver_group_id is null and ${isAdministrators('g')}))
      where v.vault_id = ${vaultId} and v.threshold > 0
      union all
      select 'releases', 2, g.id, null from policy_groups g where g.vault_id = ${vaultId} and ${isAdministrators('g')}
      union all
      select p.id, greatest(p.approval_threshold, 1), coalesce(a.group_id, case when a.user_id is null then p.group_id end), a.user_id
      from policies p left join policy_approvers a on a.vault_id = p.vault_id and a.policy_id = p.id
      where p.vault_id = ${vaultId} and p.enabled and p.action_type = 'hold_release' and p.effect <> 'block'
        and (p.effect = 'requireApproval' or p.approval_threshold > 0)
    ), voters as (
      select distinct e.electorate, e.needed, b.id from electorates e
      join able b on b.id = e.user_id or exists (
        select from policy_groups g where g.vault_id = ${vaultId} and g.id = e.group_id and (${isEveryone('g')}
          or exists (select from policy_group_memberships m
            where m.vault_id = g.vault_id and m.group_id = g.id and m.user_id = b.id)))
    )
    select coalesce(bool_or(is_lost), false) as "isLost" from (
      select bool_or(id = ${subjectId}) and count(*) filter (where id not in (${subjectId}, ${placerId})) < needed as is_lost
      from voters group by electorate, needed) counted`.execute(trx)
  return !rows[0]!.isLost
}
