import type { Trx } from '../../db/client.ts'
import { newId } from '../../lib/ids.ts'

/** Code of the built-in group whose members administer the vault. */
export const administratorsCode = 'administrators'
/** Code of the built-in group that every member of any group of the vault is in; its members are never stored. */
export const everyoneCode = 'everyone'

/** Inserts the two built-in groups of a new vault; the creator is the first administrator. */
export async function insertSystemGroups(
  trx: Trx,
  { vaultId, creatorId, now }: { vaultId: string; creatorId: string; now: Date },
): Promise<void> {
  const administratorsId = newId(now)
  const common = { vault_id: vaultId, is_system: true, created_at: now, updated_at: now }
  await trx
    .insertInto('policy_groups')
    .values([
      { ...common, id: administratorsId, code: administratorsCode, name: 'Administrators' },
      { ...common, id: newId(now), code: everyoneCode, name: 'Everyone' },
    ])
    .execute()
  await trx
    .insertInto('policy_group_memberships')
    .values({ vault_id: vaultId, id: newId(now), group_id: administratorsId, user_id: creatorId, created_at: now })
    .execute()
}
