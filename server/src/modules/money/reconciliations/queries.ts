import { type Selectable, sql } from 'kysely'
import { claimRows } from '../../../db/claim.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { ReconciliationDifferences, Reconciliations } from '../../../db/types.ts'
import { differenceSettlesMinutes, reconciliationLeaseSeconds } from '../../../lib/limits.ts'
import type { Position } from './chain-balances.ts'
import type { Seen } from './judge.ts'

/** A reconciliation that this node works on. */
export type Taken = RowOf<Reconciliations, { started_at: Date }>

const leaseFrom = (now: Date) => new Date(now.getTime() + reconciliationLeaseSeconds * 1_000)
const isOf = ({ vault_id, attempt }: Pick<Taken, 'vault_id' | 'attempt'>) =>
  sql`vault_id = ${vault_id} and attempt = ${attempt}`

/** Adds new vaults; each is first reconciled at `firstAt`. */
export async function addVaults(db: Db, firstAt: Date): Promise<void> {
  await sql`
    insert into reconciliations (vault_id, next_at)
    select v.id, ${firstAt} from vaults v where not exists (select from reconciliations r where r.vault_id = v.id)
    on conflict do nothing`.execute(db)
}

/** Claims the vault that has been due for longest, unless a node works on it. The work continues where the last node stopped. */
export async function takeDue(db: Db, now: Date): Promise<Taken | null> {
  const { rows } = await sql<Taken>`
    with ${claimRows({
      table: 'reconciliations',
      key: ['vault_id'],
      where: sql`n.next_at <= ${now} and (n.leased_until is null or n.leased_until <= ${now})`,
      orderBy: sql`n.next_at, n.vault_id`,
      limit: 1,
      set: sql`attempt = n.attempt + 1, leased_until = ${leaseFrom(now)},
        started_at = case when n.after_address_id is null then ${now} else n.started_at end`,
    })}
    select * from claimed`.execute(db)
  return rows[0] ?? null
}

/** Stores the position, and renews the lease. Returns false when another node has the vault by now. */
export async function noteProgress(trx: Trx, taken: Taken, at: Position, now: Date): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update reconciliations set after_address_id = ${at.addressId}, after_token_id = ${at.tokenId},
      leased_until = ${leaseFrom(now)} where ${isOf(taken)}`.execute(trx)
  return numAffectedRows === 1n
}

/** Leaves the rest for later. The vault stays due, which monitoring reports. */
export async function leave(db: Db, taken: Taken, notBefore: Date | null): Promise<void> {
  await sql`update reconciliations set leased_until = ${notBefore} where ${isOf(taken)}`.execute(db)
}

/** Ends a reconciliation. Stored differences that were not found again are deleted, unless a balance is missing. */
export async function finish(
  trx: Trx,
  taken: Taken,
  { isComplete, nextAt, againAt, now }: { isComplete: boolean; nextAt: Date; againAt: Date; now: Date },
): Promise<void> {
  if (isComplete) {
    const before = new Date(taken.started_at.getTime() - differenceSettlesMinutes * 60_000)
    await sql`delete from reconciliation_differences where vault_id = ${taken.vault_id} and seen_at < ${before}`.execute(
      trx,
    )
  }
  await sql`
    update reconciliations r set leased_until = null, after_address_id = null, after_token_id = null,
      finished_at = ${now}, next_at = case when exists (
        select from reconciliation_differences d where d.vault_id = r.vault_id and abs(d.difference) > abs(d.announced))
      then ${againAt}::timestamptz else ${nextAt}::timestamptz end
    where ${isOf(taken)}`.execute(trx)
}

/** Returns the stored differences of addresses by `addressId tokenId`. */
export async function listSeen(trx: Trx, vaultId: string, addressIds: string[]): Promise<Map<string, Seen>> {
  const { rows } = await sql<Selectable<ReconciliationDifferences>>`
    select * from reconciliation_differences
    where vault_id = ${vaultId} and address_id = any(${addressIds}) for update`.execute(trx)
  return new Map(
    rows.map(({ address_id, token_id, first_seen_at: firstSeenAt, seen_at: seenAt, ...row }) => {
      const amounts = { difference: BigInt(row.difference), announced: BigInt(row.announced) }
      return [`${address_id} ${token_id}`, { ...amounts, firstSeenAt, seenAt }]
    }),
  )
}

export async function keepSeen(trx: Trx, vaultId: string, at: Position, seen: Seen | null): Promise<void> {
  if (seen === null) {
    await sql`
      delete from reconciliation_differences
      where vault_id = ${vaultId} and address_id = ${at.addressId} and token_id = ${at.tokenId}`.execute(trx)
    return
  }
  await sql`
    insert into reconciliation_differences
      (vault_id, address_id, token_id, difference, announced, first_seen_at, seen_at)
    values (${vaultId}, ${at.addressId}, ${at.tokenId}, ${seen.difference}, ${seen.announced}, ${seen.firstSeenAt},
      ${seen.seenAt})
    on conflict (vault_id, address_id, token_id) do update set difference = excluded.difference,
      announced = excluded.announced, first_seen_at = excluded.first_seen_at, seen_at = excluded.seen_at`.execute(trx)
}
