import { type RawBuilder, sql } from 'kysely'

/**
 * SQL condition: the user is a voter of the subject of `alias`, a row of `operations` or `approval_requests`. A voter may
 * read the subject even after the vote or after the entitlement has ended.
 */
export function isVoter(alias: string, userId: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from approval_voters voter where voter.vault_id = ${sql.ref(`${alias}.vault_id`)}
      and voter.subject_id = ${sql.ref(`${alias}.id`)} and voter.user_id = ${userId})`
}
