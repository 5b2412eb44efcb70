import { sql } from 'kysely'
import type { Viewer } from '../../../access/address-scope.ts'
import { groupsOf, type MemberGroup, membershipOf } from '../../../access/memberships.ts'
import { displayNameOf } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { containsPattern } from '../../../lib/like.ts'

export type MemberRow = {
  id: string
  kind: 'person' | 'service'
  name: string
  image: string | null
  email: string | null
  created_at: Date
  groups: MemberGroup[]
  is_admin: boolean
  is_auditor: boolean
  last_seen_at: Date | null
}
type Filter = { search?: string | undefined; kind?: string | undefined }

/**
 * Returns the members of the vault who can use it, the newest id first. Ids without a user and disabled users are left out. The
 * query reads an index of memberships by user, so that a page of a large vault costs no more than one of a small vault. The time at
 * which a member was last seen reveals their activity, here and in other vaults, so only viewers who read the whole vault get it.
 */
export async function listMembers(
  db: Db,
  { vault, readsAll }: Viewer,
  { search, kind }: Filter,
  { after, limit }: Paging,
): Promise<MemberRow[]> {
  const pattern = search === undefined ? null : containsPattern(search)
  const { rows } = await sql<MemberRow>`
    select u.id, u.kind, ${displayNameOf('u')} as name, u.image, u.email, u.created_at,
      ${groupsOf(sql`${vault.id}`, sql`u.id`)} as groups, own.is_admin, own.is_auditor,
      ${readsAll ? sql`(select max(s.last_seen_at) from sessions s where s.user_id = u.id)` : sql`null::timestamptz`} as last_seen_at
    from (
      select distinct m.user_id from policy_group_memberships m
      where m.vault_id = ${vault.id} ${after === null ? sql`` : sql`and m.user_id < ${after.id}`}
    ) d
    join users u on u.id = d.user_id and u.disabled_at is null
    cross join lateral ${membershipOf(sql`${vault.id}`, sql`u.id`)} own
    where true
      ${kind === undefined ? sql`` : sql`and u.kind = ${kind}`}
      ${pattern === null ? sql`` : sql`and (u.name ilike ${pattern} or u.username ilike ${pattern} or u.email ilike ${pattern})`}
    order by d.user_id desc
    limit ${limit + 1}`.execute(db)
  return rows
}

/** Returns the groups of the vault that have the user as a member, by name. */
export async function listGroupsOf(db: Db | Trx, vaultId: string, userId: string): Promise<MemberGroup[]> {
  const { rows } = await sql<{ groups: MemberGroup[] }>`
    select ${groupsOf(sql`${vaultId}::text`, sql`${userId}::text`)} as groups`.execute(db)
  return rows[0]!.groups
}
