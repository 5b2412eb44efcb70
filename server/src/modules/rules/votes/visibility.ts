import { type RawBuilder, sql } from 'kysely'

/**
 * SQL condition: the user was asked to vote on the subject of `alias`, a row of `operations` or `approval_requests`, and may
 * read it for that, even after their vote or once they lost the entitlement to it.
 */
export function isVoter(alias: string, userId: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from approval_voters voter where voter.vault_id = ${sql.ref(`${alias}.vault_id`)}
      and voter.subject_id = ${sql.ref(`${alias}.id`)} and voter.user_id = ${userId})`
}
