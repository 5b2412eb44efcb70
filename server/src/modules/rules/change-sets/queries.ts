import { sql, type Updateable } from 'kysely'
import type { Static } from 'typebox'
import { profileOfUser } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { ChangeSets } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { Direction } from '../rules-versions/direction.ts'
import type { RulesDocument } from '../rules-versions/document-schema.ts'
import type { Change } from './governed-actions.ts'
import type { ChangeSetListItem } from './schema.ts'

/** The stored status of a change set; the status of `submitted` is that of its request. */
type StoredStatus = 'draft' | 'submitted' | 'scheduled' | 'applied' | 'cancelled' | 'stale' | 'failed'

type Dates = { applyAt: Date | null; resolvedAt: Date | null; created_at: Date; updatedAt: Date }
export type ChangeSetRow = Omit<Static<typeof ChangeSetListItem>, keyof Dates | 'createdAt'> & Dates
export type FullChangeSetRow = ChangeSetRow & { changes: Change[]; before: RulesDocument; after: RulesDocument }

/** SQL: the status; a change set that waits for votes is stale when a newer version of the rules exists. */
const status = sql`
  case when c.status <> 'submitted' then c.status
    when r.status = 'pending' and c.base_version < h.number then 'stale'
    else coalesce(r.status, 'pending') end`

const columns = sql`
  c.vault_id as "vaultId", c.id, c.title, ${status} as status, c.is_direct as "isDirect",
  c.author_id as "authorId", ${profileOfUser(sql.ref('c.author_id'))} as author, c.base_version as "baseVersion",
  h.number as "newestVersion", c.direction, jsonb_array_length(c.changes) as "changeCount", c.request_id as "requestId",
  c.apply_at as "applyAt", c.applied_version as "appliedVersion",
  coalesce(c.failure_reason, r.failure_reason) as "failureReason",
  c.resolved_by_id as "resolvedById", ${profileOfUser(sql.ref('c.resolved_by_id'))} as "resolvedBy",
  coalesce(c.resolved_at, r.resolved_at) as "resolvedAt", c.created_at, c.updated_at as "updatedAt"`

const joins = sql`
  join rules_heads h on h.vault_id = c.vault_id
  left join approval_requests r on r.vault_id = c.vault_id and r.id = c.request_id`

export async function listChangeSets(
  db: Db,
  vaultId: string,
  { isOpen }: { isOpen: boolean | null },
  { after, limit }: Paging,
): Promise<ChangeSetRow[]> {
  const open = sql`(c.status in ('draft', 'scheduled') or (c.status = 'submitted' and r.status = 'pending'))`
  const { rows } = await sql<ChangeSetRow>`
    select ${columns} from change_sets c ${joins}
    where c.vault_id = ${vaultId}
      ${isOpen === null ? sql`` : isOpen ? sql`and ${open}` : sql`and not ${open}`}
      ${after === null ? sql`` : sql`and (c.created_at, c.id) < (${after.createdAt}, ${after.id})`}
    order by c.created_at desc, c.id desc limit ${limit + 1}`.execute(db)
  return rows
}

export async function findChangeSet(db: Db | Trx, vaultId: string, id: string): Promise<FullChangeSetRow | null> {
  const { rows } = await sql<FullChangeSetRow>`
    select ${columns}, c.changes, b.document as before, c.document as after
    from change_sets c ${joins}
    join rules_versions b on b.vault_id = c.vault_id and b.number = c.base_version
    where c.vault_id = ${vaultId} and c.id = ${id}`.execute(db)
  return rows[0] ?? null
}

/** A change set as the functions that change it read it. */
export type LockedChangeSet = {
  id: string
  title: string
  status: StoredStatus
  author_id: string
  base_version: number
  changes: Change[]
  secrets: Buffer | null
  direction: Direction
  /** The rules that resulted when the changes were tried. */
  document: RulesDocument
  request_id: string | null
  request_status: string | null
  apply_at: Date | null
}

export async function lockChangeSet(trx: Trx, vaultId: string, id: string): Promise<LockedChangeSet | null> {
  const { rows } = await sql<LockedChangeSet>`
    select c.id, c.title, c.status, c.author_id, c.base_version, c.changes, c.secrets, c.direction, c.document, c.request_id,
      r.status as request_status, c.apply_at
    from change_sets c left join approval_requests r on r.vault_id = c.vault_id and r.id = c.request_id
    where c.vault_id = ${vaultId} and c.id = ${id} for update of c`.execute(trx)
  return rows[0] ?? null
}

/** Updates a locked change set. */
export async function updateChangeSetRow(
  trx: Trx,
  { vaultId, id, now }: { vaultId: string; id: string; now: Date },
  columns: Updateable<ChangeSets>,
): Promise<void> {
  const query = trx.updateTable('change_sets').set({ ...columns, updated_at: now })
  await query.where((row) => row.and({ vault_id: vaultId, id })).execute()
}

export async function countWaiting(trx: Trx, vaultId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from change_sets c
    left join approval_requests r on r.vault_id = c.vault_id and r.id = c.request_id
    where c.vault_id = ${vaultId} and c.status in ('submitted', 'scheduled')
      and (c.status = 'scheduled' or r.status = 'pending')`.execute(trx)
  return rows[0]!.count
}

/** Lists change sets whose time has come, for each vault the first of those that are not tried `later`; `tried` ones come last. */
export async function listDue(
  db: Db,
  now: Date,
  { later, tried, limit }: { later: string[]; tried: string[]; limit: number },
): Promise<{ vault_id: string; id: string }[]> {
  const { rows } = await sql<{ vault_id: string; id: string }>`
    select vault_id, id from (
      select distinct on (vault_id) vault_id, id, apply_at, id = any(${tried}) as was_tried from change_sets
      where status = 'scheduled' and apply_at <= ${now} and id <> all(${later})
      order by vault_id, id = any(${tried}), apply_at, id) of_vaults
    order by was_tried, apply_at, id limit ${limit}`.execute(db)
  return rows
}
