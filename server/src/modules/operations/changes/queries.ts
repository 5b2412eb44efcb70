import { type RawBuilder, sql } from 'kysely'
import { isAddressInScope, isFolderVisible, visibleScopeOf } from '../../../access/address-scope.ts'
import { listViewers, type ViewerOfVault } from '../../../access/viewers.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { readSnapshot } from '../../../db/transaction.ts'
import { changesPerAnswerMax } from '../../../lib/limits.ts'
import { isSubjectVisible } from '../../rules/votes/queries.ts'
import { isHoldVisible } from '../feed/hold-visibility.ts'
import { isOperationReadable } from '../feed/queries.ts'
import type { Place } from './cursor.ts'
import type { ChangeKind } from './schema.ts'

/** `vault` is the code of a vault; null for objects that belong to no vault. */
export type Change = { vault: string | null; kind: ChangeKind; id: string }

export type ChangesRead = {
  /** Null when there are too many changes, or when `after` is not a place of this database. */
  items: Change[] | null
  /** The snapshot of this read, as pg_snapshot writes it: the next read continues after it. */
  place: Place
  /** The ids of the vaults of the user, and '' for objects that belong to no vault. */
  vaultIds: string[]
}

/** The vault id in the log of objects that belong to no vault. */
const noVault = ''

/** Returns the changes since a place that the user may see. When `after` is null, it returns only the present place. */
export function readChanges(db: Db, userId: string, after: Place | null): Promise<ChangesRead> {
  return readSnapshot(db, async (trx) => {
    const viewers = await listViewers(trx, userId)
    const vaultIds = [...viewers.map(({ vault }) => vault.id), noVault]
    const since = after?.snapshot ?? null
    const { rows } = await sql<Place & { is_past: boolean }>`
      select pg_current_snapshot()::text as snapshot, database_mark() as database,
        coalesce(pg_snapshot_xmax(${since}::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot()), true) as is_past`.execute(
      trx,
    )
    const { snapshot, database, is_past: isPast } = rows[0]!
    const place = { snapshot, database }
    if (after === null) return { items: [], place, vaultIds }
    const isKnown = isPast && after.database === database
    return { items: isKnown ? await listChanges(trx, viewers, after.snapshot) : null, place, vaultIds }
  })
}

async function listChanges(trx: Trx, viewers: ViewerOfVault[], after: string): Promise<Change[] | null> {
  const changed = new Set((await findChangedVaults(trx, after)).vaultIds)
  const items: Change[] = []
  if (changed.has(noVault)) items.push(...(await listVisible(trx, null, after)))
  for (const viewer of viewers) {
    if (changed.has(viewer.vault.id)) items.push(...(await listVisible(trx, viewer, after)))
    if (items.length > changesPerAnswerMax) return null
  }
  return items
}

/**
 * Returns the present snapshot, and the vaults with any changes since another snapshot, visible to a viewer or not. A
 * node calls it once for all waiting requests.
 */
export async function findChangedVaults(
  db: Db | Trx,
  after: string | null,
): Promise<{ snapshot: string; vaultIds: string[] | null }> {
  const { rows } = await sql<{ snapshot: string; vault_ids: string[] }>`
    select pg_current_snapshot()::text as snapshot,
      array(select distinct c.vault_id from changes c where ${isNew(after)}) as vault_ids`.execute(db)
  const { snapshot, vault_ids: vaultIds } = rows[0]!
  return { snapshot, vaultIds: after === null ? null : vaultIds }
}

/**
 * SQL condition: the transaction that wrote the row of `c` is not in the snapshot `after`. Every row that a statement reads was
 * committed in the snapshot of that statement, so that the new rows are exactly the difference of the two snapshots.
 */
function isNew(after: string | null): RawBuilder<boolean> {
  return sql<boolean>`(c.xid >= pg_snapshot_xmin(${after}::pg_snapshot)
    and not pg_visible_in_snapshot(c.xid, ${after}::pg_snapshot)
    and pg_visible_in_snapshot(c.xid, pg_current_snapshot()))`
}

/**
 * Returns the changes in the vault of a viewer, or of objects that belong to no vault, oldest first; one row more than
 * an answer may hold.
 */
async function listVisible(trx: Trx, viewer: ViewerOfVault | null, after: string): Promise<Change[]> {
  const { rows } = await sql<Omit<Change, 'vault'>>`
    select c.kind, c.id from (
      select c.vault_id, c.kind, c.id, min(c.xid::text::numeric) as xid, min(c.sequence) as sequence from changes c
      where c.vault_id = ${viewer?.vault.id ?? noVault} and ${isNew(after)} group by c.vault_id, c.kind, c.id
    ) c
    where ${viewer === null ? sql`true` : isVisible(viewer)}
    order by c.sequence limit ${changesPerAnswerMax + 1}`.execute(trx)
  return rows.map(({ kind, id }) => ({ vault: viewer?.vault.code ?? null, kind, id }))
}

/**
 * SQL condition: the viewer may read the object that the row of `c` names. Objects that every member of a vault reads
 * have no condition.
 */
function isVisible(viewer: ViewerOfVault): RawBuilder<boolean> {
  const scope = visibleScopeOf(viewer)
  const isOf = (table: string, condition: RawBuilder<unknown>) => sql`exists (
    select from ${sql.table(table)} x where x.vault_id = c.vault_id and x.id = c.id and ${condition})`
  return sql<boolean>`case
    when c.kind in ('transfer', 'deposit') then ${isOf('operations', isOperationReadable(scope, 'x'))}
    when c.kind = 'approval_request' then ${isOf('approval_requests', isSubjectVisible('x', viewer))}
    when c.kind = 'payout' then ${isOf('payouts', isSubjectVisible('x', viewer))}
    when c.kind = 'address' then ${isOf('addresses', isAddressInScope(scope, 'x'))}
    when c.kind = 'hold' then ${isOf('holds', isHoldVisible(viewer, 'x'))}
    when c.kind = 'adjustment' then exists (select from adjustments j join addresses a
      on a.vault_id = j.vault_id and a.id = j.address_id
      where j.vault_id = c.vault_id and j.id = c.id and ${isAddressInScope(scope, 'a')})
    when c.kind = 'address_group' then ${viewer.readsAll ? sql`true` : isOf('address_groups', isFolderVisible(scope, 'x'))}
    else true end`
}
