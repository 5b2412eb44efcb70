import { sql } from 'kysely'
import { type AddressScope, allVisible, sharedAddressIds } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import { isCategoryGranted } from '../../operations/categories/rights.ts'

/** The objects that a member may see in the vault at one moment, in the columns of an export; null until a file was made. */
export type AccessSnapshot = {
  seen_whole_vault: boolean | null
  seen_group_ids: string[] | null
  seen_shared_ids: string[] | null
  /** The rights `view <id>` and `edit <id>` on categories whose values the member could read on every operation they see. */
  seen_category_rights: string[] | null
}

export async function readAccessSnapshot(
  db: Db,
  member: Pick<Member, 'groupIds'>,
  scope: AddressScope,
): Promise<AccessSnapshot> {
  const { readsAll } = scope.viewer
  return {
    seen_whole_vault: readsAll,
    seen_group_ids: member.groupIds,
    seen_shared_ids: readsAll ? [] : await listSharedIds(db, scope),
    seen_category_rights: readsAll ? [] : await listCategoryRights(db, scope),
  }
}

async function listSharedIds(db: Db, scope: AddressScope): Promise<string[]> {
  const { rows } = await sql<{ address_id: string }>`${sharedAddressIds(allVisible(scope))}`.execute(db)
  return rows.map((row) => row.address_id)
}

/** Returns the rights on categories. Rights of the owner of an operation are left out, because the owner never changes. */
async function listCategoryRights(db: Db, scope: AddressScope): Promise<string[]> {
  const rightOf = (name: 'view' | 'edit') => sql`
    select ${`${name} `} || c.id as name from operation_categories c
    where c.vault_id = ${scope.vaultId} and (${sql.ref(`c.${name}_scope`)} = 'vault_members'
      or ${sql.ref(`c.${name}_scope`)} = 'restricted' and ${isCategoryGranted(scope, name, 'c')})`
  const { rows } = await sql<{ name: string }>`${rightOf('view')} union all ${rightOf('edit')}`.execute(db)
  return rows.map((row) => row.name)
}

/**
 * Returns true if a member with the access `now` still sees everything that a file was made from. Otherwise the file could show
 * data that the member may not read elsewhere: after leaving a group, losing access to an address or a category, or no longer
 * reading the whole vault.
 */
export function coversSnapshot(now: AccessSnapshot, made: AccessSnapshot): boolean {
  if (made.seen_whole_vault === null) return false
  if (now.seen_whole_vault === true) return true
  return (
    !made.seen_whole_vault &&
    lists.every((name) => {
      const known = new Set(now[name])
      return (made[name] ?? []).every((id) => known.has(id))
    })
  )
}

const lists = ['seen_group_ids', 'seen_shared_ids', 'seen_category_rights'] as const

/** Returns the access at one of two moments or at both: everything that may have been read in between. */
export function mergeSnapshots(first: AccessSnapshot, second: AccessSnapshot): AccessSnapshot {
  const either = (a: string[] | null, b: string[] | null) => [...new Set([...(a ?? []), ...(b ?? [])])]
  return {
    seen_whole_vault: first.seen_whole_vault === true || second.seen_whole_vault === true,
    seen_group_ids: either(first.seen_group_ids, second.seen_group_ids),
    seen_shared_ids: either(first.seen_shared_ids, second.seen_shared_ids),
    seen_category_rights: either(first.seen_category_rights, second.seen_category_rights),
  }
}
