import { administratorsCode, everyoneCode } from '../access/memberships.ts'
import { inTransaction } from '../db/transaction.ts'
import { newId } from '../lib/ids.ts'
import { insertSystemGroups } from '../modules/rules/policy-groups/actions.ts'
import { insertMemberships } from '../modules/rules/policy-groups/memberships.ts'
import type { Person, TestApp } from './app.ts'

export type VaultFixture = {
  id: string
  code: string
  administratorsId: string
  everyoneId: string
  /** Adds a group that is named by its code. */
  addGroup(code: string): Promise<string>
  addMember(groupId: string, userId: string): Promise<void>
}

/** Inserts a vault with its built-in groups, for tests of modules below the vaults. */
export async function insertVault(test: TestApp, code: string, creator: Person): Promise<VaultFixture> {
  const { db } = test.deps
  const now = test.clock.now()
  const id = newId(now)
  await inTransaction(db, async (trx) => {
    await trx
      .insertInto('vaults')
      .values({
        id,
        code,
        name: `Vault ${code}`,
        wallet_service_url: 'http://127.0.0.1:1',
        created_at: now,
        updated_at: now,
      })
      .execute()
    await insertSystemGroups(trx, { vaultId: id, creatorId: creator.userId, now })
  })
  const groups = await db.selectFrom('policy_groups').select(['id', 'code']).where('vault_id', '=', id).execute()
  const idOf = (wanted: string) => groups.find((group) => group.code === wanted)!.id
  return {
    id,
    code,
    administratorsId: idOf(administratorsCode),
    everyoneId: idOf(everyoneCode),
    async addGroup(groupCode) {
      const groupId = newId(now)
      await db
        .insertInto('policy_groups')
        .values({ vault_id: id, id: groupId, code: groupCode, name: groupCode, created_at: now, updated_at: now })
        .execute()
      return groupId
    },
    async addMember(groupId, userId) {
      await inTransaction(db, (trx) => insertMemberships(trx, { vaultId: id, groupIds: [groupId], userId, now }))
    },
  }
}
