import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { SelectorType } from '../selectors/selectors.ts'

type Uses = { hasPolicies: boolean; isApprover: boolean; isOfGovernance: boolean; isSelected: boolean }

/** The uses that prevent the deletion of a group. */
export async function groupUses(trx: Trx, { vaultId, id }: { vaultId: string; id: string }): Promise<Uses> {
  const { rows } = await sql<Uses>`
    select
      exists (select 1 from policies p where p.vault_id = ${vaultId} and p.group_id = ${id}) as "hasPolicies",
      exists (select 1 from policy_approvers a where a.vault_id = ${vaultId} and a.group_id = ${id})
        or exists (select 1 from category_approvers a where a.vault_id = ${vaultId} and a.group_id = ${id}) as "isApprover",
      exists (select 1 from governance v where v.vault_id = ${vaultId} and v.approver_group_id = ${id}) as "isOfGovernance",
      ${isSelected(vaultId, 'initiatorGroup', id)} as "isSelected"`.execute(trx)
  return rows[0]!
}

/** Returns true if a policy of the vault, enabled or not, has a rule that names this value with this selector. */
export async function isSelectedByPolicy(
  trx: Trx,
  vaultId: string,
  selectorType: SelectorType,
  value: string,
): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`select ${isSelected(vaultId, selectorType, value)} as is`.execute(trx)
  return rows[0]!.is
}

export const isSelected = (vaultId: string, selectorType: SelectorType, value: string) => sql<boolean>`exists (
  select from policies p
  where p.vault_id = ${vaultId} and jsonb_path_exists(
    p.rules,
    '$[*].selectors[*] ? (@.selectorType == $type).value[*] ? (@ == $value)',
    jsonb_build_object('type', ${selectorType}::text, 'value', ${value}::text)
  ))`
