import { type RawBuilder, sql } from 'kysely'
import type { AddressScope } from '../../../access/address-scope.ts'

/**
 * The votes that transfers need. Requirements and votes name their subject: a transfer, or a payout, on which people vote as a
 * whole. So each transfer of a payout needed the votes of the payout, whatever its own amount.
 */

type Reported = { scope: AddressScope; operationIds: string[] | null }

/** SQL: the id of the subject of the votes on the transfer `t`. */
const subjectOf = sql`coalesce(t.payout_id, t.id)`

/**
 * SQL: the common table expression `subjects`, which the conditions below read. Its rows are (operation_id, subject_id): the subject
 * of the votes of each transfer that needed votes, and of some other transfers. A report of few operations looks up their subjects. A
 * report of many operations reads the subjects of the vault once, because transfers are long rows and few of them need votes.
 */
export function subjectsOfVotes({ scope: { vaultId }, operationIds }: Reported): RawBuilder<unknown> {
  if (operationIds !== null) {
    return sql`subjects as materialized (
      select t.id as operation_id, ${subjectOf} as subject_id from transfers t
      where t.vault_id = ${vaultId} and t.id = any(${operationIds}::text[]))`
  }
  return sql`subjects as (
    select coalesce(t.id, voted.subject_id) as operation_id, voted.subject_id
    from (select distinct q.subject_id from approval_requirements q where q.vault_id = ${vaultId}) voted
    left join transfers t on t.vault_id = ${vaultId} and t.payout_id = voted.subject_id)`
}

/** SQL condition: the column has a subject of `subjects`. It is true for all rows unless the report is of few operations. */
export function isSubject({ operationIds }: Reported, column: string): RawBuilder<boolean> {
  if (operationIds === null) return sql<boolean>`true`
  return sql<boolean>`${sql.ref(column)} = any(array(select found.subject_id from subjects found))`
}

/** SQL condition: the subject `s` of `subjects` has a requirement `q` of votes that was not waived and that meets `more`. */
export function neededVotes(filter: Reported, more: RawBuilder<unknown> = sql`true`): RawBuilder<boolean> {
  return sql<boolean>`exists (select from approval_requirements q
    where q.vault_id = ${filter.scope.vaultId} and ${isSubject(filter, 'q.subject_id')} and q.subject_id = s.subject_id
      and not q.bypassed and ${more})`
}

/** SQL condition: one of these policies asked for votes on the operation `o`. It needs no `subjects` of the statement. */
export function isVotedBy(filter: Reported, policyIds: string[]): RawBuilder<boolean> {
  return sql<boolean>`(o.type = 'transfer' and o.id in (with ${subjectsOfVotes(filter)}
    select s.operation_id from subjects s
    where ${neededVotes(filter, sql`q.policy_id = any(${policyIds}::text[])`)}))`
}
