import { sql } from 'kysely'
import { isAdministrators } from '../../../access/memberships.ts'
import type { Db, Trx } from '../../../db/client.ts'

/** How much of each kind is listed. */
const listedMax = 100

type Vault = { code: string; name: string }

/** Something that a user made and that works without them. */
export type Left = { vaultId: string; vault: Vault; id: string; createdAt: Date }

export type LeftBehind = {
  serviceTokens: (Left & { userId: string; name: string })[]
  invitations: (Left & { email: string })[]
  onlyAdministratorOf: Vault[]
}

/** What a user made in vaults and that still works, and which vaults no other administrator of theirs can administer. */
export async function findLeft(db: Db | Trx, userId: string): Promise<LeftBehind> {
  const vault = sql`json_build_object('code', v.code, 'name', v.name) as vault`
  const serviceTokens = await sql<LeftBehind['serviceTokens'][number]>`
    select t.vault_id as "vaultId", ${vault}, t.id, t.user_id as "userId", t.name, t.created_at as "createdAt"
    from service_tokens t join vaults v on v.id = t.vault_id
    where t.created_by_id = ${userId} and t.revoked_at is null
    order by t.created_at desc, t.id desc limit ${listedMax}`.execute(db)
  const invitations = await sql<LeftBehind['invitations'][number]>`
    select i.vault_id as "vaultId", ${vault}, i.id, i.email, i.created_at as "createdAt"
    from invitations i join vaults v on v.id = i.vault_id
    where i.created_by_id = ${userId} and i.status = 'pending'
    order by i.created_at desc, i.id desc limit ${listedMax}`.execute(db)
  const administered = await sql<Vault>`
    select v.code, v.name
    from policy_group_memberships own
    join policy_groups g on g.vault_id = own.vault_id and g.id = own.group_id and ${isAdministrators('g')}
    join vaults v on v.id = own.vault_id
    where own.user_id = ${userId} and not exists (
      select from policy_group_memberships m join users u on u.id = m.user_id and u.disabled_at is null
      where m.vault_id = g.vault_id and m.group_id = g.id and m.user_id <> ${userId})
    order by v.code`.execute(db)
  return { serviceTokens: serviceTokens.rows, invitations: invitations.rows, onlyAdministratorOf: administered.rows }
}
