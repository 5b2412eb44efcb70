import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'

/**
 * SQL that says who a row of `users` is: `Ann (ann@example.org)`, `Payroll (service)`. A name can be chosen and an e-mail
 * address cannot, so mails show both.
 */
export function nameOfUser(user: string): RawBuilder<string> {
  const [name, email, kind, id] = ['name', 'email', 'kind', 'id'].map((column) => sql.ref(`${user}.${column}`))
  return sql<string>`coalesce(${name} || ' (' || coalesce(${email}, ${kind}) || ')', ${email}, ${id})`
}

/**
 * Says of users and of groups of a vault who they are; a group is `group Approvers`. What is unknown stays an id, and so does
 * a group of another vault.
 */
export async function nameSubjects(
  trx: Trx,
  vaultId: string | null,
  ids: (string | null)[],
): Promise<(id: string | null) => string> {
  const { rows } = await sql<{ id: string; name: string }>`
    select u.id, ${nameOfUser('u')} as name from users u where u.id = any(${ids}::text[])
    union all
    select id, 'group ' || name from policy_groups where vault_id = ${vaultId} and id = any(${ids}::text[])`.execute(
    trx,
  )
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return (id) => (id === null ? 'Strongroom itself' : (names.get(id) ?? id))
}
