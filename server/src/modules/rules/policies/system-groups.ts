import { administratorsCode, everyoneCode } from '../../../access/system-groups.ts'
import type { Trx } from '../../../db/client.ts'
import { newId } from '../../../lib/ids.ts'

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
