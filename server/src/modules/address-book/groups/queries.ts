import { sql } from 'kysely'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { CounterpartyGroups } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { CounterpartyKind } from '../counterparties/queries.ts'

export type CounterpartyGroupRow = RowOf<CounterpartyGroups, { member_count: number }>

/** Returns the counterparty groups of the vault, newest first; one row more than the limit. */
export async function listGroups(
  db: Db | Trx,
  vaultId: string,
  archived: boolean | null,
  { after, limit }: Paging,
): Promise<CounterpartyGroupRow[]> {
  const { rows } = await sql<CounterpartyGroupRow>`
    ${selectGroups} where g.vault_id = ${vaultId}
      ${archived === null ? sql`` : sql`and (g.archived_at is not null) = ${archived}`}
      ${after === null ? sql`` : sql`and (g.created_at, g.id) < (${after.createdAt}, ${after.id})`}
    order by g.created_at desc, g.id desc limit ${limit + 1}`.execute(db)
  return rows
}

export async function findGroup(db: Db | Trx, vaultId: string, id: string): Promise<CounterpartyGroupRow | null> {
  const { rows } = await sql<CounterpartyGroupRow>`
    ${selectGroups} where g.vault_id = ${vaultId} and g.id = ${id}`.execute(db)
  return rows[0] ?? null
}

export async function isCodeTaken(db: Db | Trx, vaultId: string, code: string): Promise<boolean> {
  const row = await db
    .selectFrom('counterparty_groups')
    .select('id')
    .where('vault_id', '=', vaultId)
    .where('code', '=', code)
    .executeTakeFirst()
  return row !== undefined
}

export type MembershipRow = {
  group_id: string
  counterparty_id: string
  created_at: Date
  name: string
  kind: CounterpartyKind
}

/** Returns the members of a group, the latest first; one row more than the limit. */
export async function listMemberships(
  db: Db | Trx,
  vaultId: string,
  groupId: string,
  { after, limit }: Paging,
): Promise<MembershipRow[]> {
  const { rows } = await sql<MembershipRow>`
    ${selectMemberships} where m.vault_id = ${vaultId} and m.group_id = ${groupId}
      ${after === null ? sql`` : sql`and (m.created_at, m.counterparty_id) < (${after.createdAt}, ${after.id})`}
    order by m.created_at desc, m.counterparty_id desc limit ${limit + 1}`.execute(db)
  return rows
}

export async function findMembership(
  db: Db | Trx,
  vaultId: string,
  { groupId, counterpartyId }: { groupId: string; counterpartyId: string },
): Promise<MembershipRow | null> {
  const { rows } = await sql<MembershipRow>`
    ${selectMemberships}
    where m.vault_id = ${vaultId} and m.group_id = ${groupId} and m.counterparty_id = ${counterpartyId}`.execute(db)
  return rows[0] ?? null
}

const selectGroups = sql`
  select g.vault_id, g.id, g.code, g.name, g.description, g.avatar_uri, g.color, g.emoji, g.archived_at, g.version,
    g.created_at, g.updated_at, (
      select count(*)::int from counterparty_group_memberships m where m.vault_id = g.vault_id and m.group_id = g.id
    ) as member_count
  from counterparty_groups g`

const selectMemberships = sql`
  select m.group_id, m.counterparty_id, m.created_at, c.name, c.kind
  from counterparty_group_memberships m
  join counterparties c on c.vault_id = m.vault_id and c.id = m.counterparty_id`
