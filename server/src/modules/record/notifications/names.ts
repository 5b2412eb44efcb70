import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'

/**
 * SQL for the display name of a row of `users`: `Ann (ann@example.org)`, `Payroll (service)`. Mails show the e-mail address
 * too, because people choose their own name but not their address.
 */
export function nameOfUser(user: string): RawBuilder<string> {
  const [name, email, kind, id] = ['name', 'email', 'kind', 'id'].map((column) => sql.ref(`${user}.${column}`))
  return sql<string>`coalesce(${name} || ' (' || coalesce(${email}, ${kind}) || ')', ${email}, ${id})`
}

/**
 * Finds the display names of users and of groups of the vault, such as `group Approvers`. The returned function answers
 * with the id if there is no such user or group in the vault.
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
