import { type RawBuilder, sql } from 'kysely'
import type { Queue } from '../../../lib/operations.ts'

/**
 * SQL: a table of the vaults that have transfers in a queue. It takes one step of the index for each vault, however many
 * transfers there are, so that a vault with many transfers delays no other.
 */
export const vaultsIn = (queue: Queue): RawBuilder<unknown> => {
  const first = (after: RawBuilder<unknown>) => sql`select d.vault_id from deliveries d
    where d.queue = ${sql.lit(queue)} ${after} order by d.vault_id limit 1`
  return sql`(with recursive lanes as (
    (${first(sql``)})
    union all
    select (${first(sql`and d.vault_id > lanes.vault_id`)}) from lanes where lanes.vault_id is not null
  ) select vault_id from lanes where vault_id is not null)`
}
