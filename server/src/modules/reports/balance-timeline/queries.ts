import { sql } from 'kysely'
import { type AddressScope, scopedAddressIds } from '../../../access/address-scope.ts'
import type { Db } from '../../../db/client.ts'
import { rateAgeMinutesMax } from '../../../lib/limits.ts'

export type TimelineRow = {
  token_id: string
  code: string
  symbol: string
  decimals: number
  at: Date
  total: string
  usd_rate: string | null
}

type TimelineFilter = { addressId: string | null; tokenId: string | null }

/**
 * Returns, for each token, the balance of the addresses in scope before each of these ascending instants, from one statement: the
 * balance now, less the postings since. It reads the entries of their accounts since the first instant, each account by its own
 * index range. Reservations move funds within an address and cancel out.
 */
export async function listBalancesAt(
  db: Db,
  scope: AddressScope,
  instants: Date[],
  { addressId, tokenId }: TimelineFilter,
): Promise<TimelineRow[]> {
  const isWhole = scope.isWholeVault && scope.folderId === null
  const { rows } = await sql<TimelineRow>`
    with held as materialized (
      select l.number, l.token_id, l.balance from ledger_accounts l
      where l.vault_id = ${scope.vaultId} and l.address_id <> ''
        ${isWhole ? sql`` : sql`and l.address_id in (${scopedAddressIds(scope)})`}
        ${addressId === null ? sql`` : sql`and l.address_id = ${addressId}`}
        ${tokenId === null ? sql`` : sql`and l.token_id = ${tokenId}`}
    ), since as (
      select h.token_id, width_bucket(e.created_at, ${instants}::timestamptz[]) as passed, sum(e.delta) as delta
      from held h cross join lateral (
        select created_at, -amount as delta from ledger_entries
        where debit_account = h.number and created_at >= ${instants[0]}
        union all
        select created_at, amount from ledger_entries where credit_account = h.number and created_at >= ${instants[0]}
      ) e group by 1, 2
    ), points as (
      select at, n from unnest(${instants}::timestamptz[]) with ordinality as p (at, n)
    )
    select t.id as token_id, t.code, t.symbol, t.decimals, p.at,
      (n.total - coalesce((select sum(s.delta) from since s where s.token_id = t.id and s.passed >= p.n), 0)) as total,
      r.usd_rate
    from (select token_id, sum(balance) as total from held group by token_id) n
    join tokens t on t.id = n.token_id
    cross join points p
    left join lateral (
      select trim_scale(x.usd_rate) as usd_rate from token_rates x
      where x.token_id = t.id and x.as_of <= p.at and x.as_of >= p.at - make_interval(mins => ${rateAgeMinutesMax}::int)
      order by x.as_of desc limit 1
    ) r on true
    order by t.code, t.id, p.at`.execute(db)
  return rows
}
