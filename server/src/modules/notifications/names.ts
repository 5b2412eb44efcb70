import { sql } from 'kysely'
import type { Trx } from '../../db/client.ts'

/**
 * Says of users and groups of a vault who they are: `Ann (ann@example.org)`, `group Approvers`. People choose their names,
 * so an e-mail address, which nobody shares, stands beside. What is unknown stays an id.
 */
export async function nameSubjects(trx: Trx, ids: (string | null)[]): Promise<(id: string | null) => string> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, concat(coalesce(name, id), ' (', coalesce(email, kind), ')') as name from users where id = any(${ids}::text[])
    union all
    select id, 'group ' || name from policy_groups where id = any(${ids}::text[])`.execute(trx)
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return (id) => (id === null ? 'Strongroom itself' : (names.get(id) ?? id))
}
