import { type RawBuilder, sql } from 'kysely'

/**
 * SQL for a lateral join: one row with the memberships of a user in a vault. `group_ids` are the groups that store the user,
 * without `everyone`, which stores no members; null means that the user is not a member. An administrator who is also in the
 * group of the auditors is an administrator.
 */
export function membershipOf(vaultId: RawBuilder<unknown>, userId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select array_agg(m.group_id) as group_ids, count(*) > 0 as is_member,
      coalesce(bool_or(${isAdministrators('mg')}), false) as is_admin,
      coalesce(bool_or(${isAuditors('mg')}) and not bool_or(${isAdministrators('mg')}), false) as is_auditor
    from policy_group_memberships m
    join policy_groups mg on mg.vault_id = m.vault_id and mg.id = m.group_id
    where m.vault_id = ${vaultId} and m.user_id = ${userId})`
}

/** SQL: selects the administrators of the vaults as `user_id`. */
export function administratorsOf(vaultIds: string[]): RawBuilder<unknown> {
  return sql`
    select m.user_id from policy_groups g
    join policy_group_memberships m on m.vault_id = g.vault_id and m.group_id = g.id
    where g.vault_id = any(${vaultIds}::text[]) and ${isAdministrators('g')}`
}

/**
 * SQL: returns the groups of a vault that store the user, as JSON of {id, name} in the order of their names. `everyone` is left
 * out, because every member is in it.
 */
export function groupsOf(vaultId: RawBuilder<unknown>, userId: RawBuilder<unknown>): RawBuilder<MemberGroup[]> {
  return sql<MemberGroup[]>`(
    select coalesce(json_agg(json_build_object('id', g.id, 'name', g.name) order by g.name, g.id), '[]')
    from policy_group_memberships m
    join policy_groups g on g.vault_id = m.vault_id and g.id = m.group_id
    where m.vault_id = ${vaultId} and m.user_id = ${userId})`
}

export type MemberGroup = { id: string; name: string }

/** The subjects of grants and lists of approvers: a person, or a policy group for all its members. */
export const subjectKinds = ['user', 'group'] as const
export type SubjectKind = (typeof subjectKinds)[number]

/** The code of the built-in group whose members administer the vault. */
export const administratorsCode = 'administrators'
/** The code of the built-in group whose members read the whole vault and change nothing in it. */
export const auditorsCode = 'auditors'
/** The code of the built-in group of every member of any group of the vault. Its members are never stored. */
export const everyoneCode = 'everyone'

/** SQL condition: a row of `policy_groups` is the group of the administrators. */
export const isAdministrators = (group: string) => isSystemGroup(group, administratorsCode)

/** SQL condition: a row of `policy_groups` is the group of the auditors. */
const isAuditors = (group: string) => isSystemGroup(group, auditorsCode)

/** SQL condition: a user changes nothing in a vault, because they are an auditor of it and not an administrator. */
export const isAuditor = (vaultId: RawBuilder<unknown>, userId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`is_auditor(${vaultId}, ${userId})`

/** SQL condition: an active hold stops a user in a vault. They then neither act nor vote in it. */
export const isHeldUser = (vaultId: RawBuilder<unknown>, userId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`exists (select from holds held where held.vault_id = ${vaultId} and held.subject_type = 'user'
    and held.subject_id = ${userId} and held.released_at is null)`

/**
 * SQL condition: the user of `alias`, a row of `users`, is held in all of their vaults and may therefore not sign in. The
 * administrators of a vault must not lock out platform administrators.
 */
export const isHeldEverywhere = (alias: string): RawBuilder<boolean> => {
  const userId = sql.ref(`${alias}.id`)
  return sql<boolean>`(not ${sql.ref(`${alias}.is_platform_admin`)}
    and exists (select from holds any_hold
      where any_hold.subject_id = ${userId} and any_hold.subject_type = 'user' and any_hold.released_at is null)
    and not exists (select from policy_group_memberships belongs
      where belongs.user_id = ${userId} and not ${isHeldUser(sql.ref('belongs.vault_id'), sql.ref('belongs.user_id'))}))`
}

/** SQL condition: a row of `policy_groups` is the group of all members. */
export const isEveryone = (group: string) => isSystemGroup(group, everyoneCode)

function isSystemGroup(group: string, code: string): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${group}.is_system`)} and ${sql.ref(`${group}.code`)} = ${sql.lit(code)})`
}
