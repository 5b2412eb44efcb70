import { type RawBuilder, sql } from 'kysely'

/** Code of the built-in group whose members administer the vault. */
export const administratorsCode = 'administrators'
/** Code of the built-in group that every member of any group of the vault is in; its members are never stored. */
export const everyoneCode = 'everyone'

/** SQL: whether a row of `policy_groups` is the group of the administrators. */
export const isAdministrators = (group: string) => isSystemGroup(group, administratorsCode)

/** SQL: whether a row of `policy_groups` is the group of all members. */
export const isEveryone = (group: string) => isSystemGroup(group, everyoneCode)

function isSystemGroup(group: string, code: string): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${group}.is_system`)} and ${sql.ref(`${group}.code`)} = ${sql.lit(code)})`
}
