import { sql } from 'kysely'
import type { Db } from '../../../db/client.ts'
import type { Interval } from '../requests/buckets.ts'

/** An address and a token with a posting in a period, or with a balance at its end. */
export type ArchivedAccount = {
  addressId: string
  tokenId: string
  address: string
  label: string | null
  network: string
  asset: string
  contractAddress: string | null
}

/** Returns the accounts of a vault that had a posting in the interval or a balance at its end, by the ids of address and token. */
export async function listAccounts(
  db: Db,
  vaultId: string,
  { from, to }: Interval,
  limit: number,
): Promise<ArchivedAccount[]> {
  // The newest entry of each account before the end has the balance at the end; each side reads one entry of one index.
  const newest = (side: 'debit' | 'credit') => sql`
    (select created_at, sequence, ${sql.ref(`${side}_balance`)} as balance from ledger_entries
    where ${sql.ref(`${side}_account`)} = l.number and created_at < ${to}
    order by created_at desc, sequence desc limit 1)`
  const { rows } = await sql<ArchivedAccount>`
    with wanted as (
      select distinct l.address_id, l.token_id from ledger_accounts l
      cross join lateral (
        select created_at, balance from (${newest('debit')} union all ${newest('credit')}) sides
        order by created_at desc, sequence desc limit 1) last
      where l.vault_id = ${vaultId} and l.address_id <> '' and (last.created_at >= ${from} or last.balance <> 0)
      order by l.address_id, l.token_id limit ${limit}
    )
    select w.address_id as "addressId", w.token_id as "tokenId", a.address, a.label, n.slug as network, t.code as asset,
      t.contract_address as "contractAddress"
    from wanted w
    join addresses a on a.vault_id = ${vaultId} and a.id = w.address_id
    join tokens t on t.id = w.token_id
    join networks n on n.id = t.network_id
    order by w.address_id, w.token_id`.execute(db)
  return rows
}

/** Returns the ids of the transfers of a vault that were ordered in the interval, oldest first. */
export async function listTransferIds(
  db: Db,
  vaultId: string,
  { from, to }: Interval,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from operations
    where vault_id = ${vaultId} and type = 'transfer' and created_at >= ${from} and created_at < ${to}
    order by created_at, id limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}
