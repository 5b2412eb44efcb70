import { type RawBuilder, sql } from 'kysely'

/** The small profile of a person or service, shown with their id. Every member of the vault may see it. */
export type MemberProfile = { userId: string; kind: 'person' | 'service'; name: string; image: string | null }

/** SQL: returns the name by which others know the user of `alias`, a row of `users`; never the e-mail address. */
export const displayNameOf = (alias: string): RawBuilder<string> =>
  sql<string>`coalesce(${sql.ref(`${alias}.name`)}, ${sql.ref(`${alias}.username`)}, ${sql.ref(`${alias}.id`)})`

/** SQL: returns the MemberProfile of `alias`, a row of `users`. */
export const memberProfile = (alias: string): RawBuilder<MemberProfile> =>
  sql<MemberProfile>`json_build_object('userId', ${sql.ref(`${alias}.id`)}, 'kind', ${sql.ref(`${alias}.kind`)},
    'name', ${displayNameOf(alias)}, 'image', ${sql.ref(`${alias}.image`)})`

/**
 * SQL: returns the MemberProfile of the user with this id, for the column list of a query that reads the id; null for an id without a
 * user, which memberships and audit records may have.
 */
export const profileOfUser = (userId: RawBuilder<unknown>): RawBuilder<MemberProfile | null> =>
  sql<MemberProfile | null>`(select ${memberProfile('profiled')} from users profiled where profiled.id = ${userId})`

/** SQL: returns JSON of the profile of `alias`, a row of `users`, for readers who may know its e-mail address. */
export const profileOf = (alias: string) =>
  sql`json_build_object('id', ${sql.ref(`${alias}.id`)}, 'name', ${sql.ref(`${alias}.name`)}, 'email', ${sql.ref(`${alias}.email`)},
    'username', ${sql.ref(`${alias}.username`)}, 'image', ${sql.ref(`${alias}.image`)}, 'color', ${sql.ref(`${alias}.color`)},
    'emoji', ${sql.ref(`${alias}.emoji`)})`
