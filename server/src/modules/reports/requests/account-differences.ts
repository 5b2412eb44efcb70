import { type RawBuilder, sql } from 'kysely'
import { isAddressInScope } from '../../../access/address-scope.ts'
import type { Trx } from '../../../db/client.ts'
import { addressesIn, type OperationFilter } from './operation-filter.ts'

export type AccountDifferenceRow = {
  accountId: string
  addressId: string
  tokenId: string
  purpose: 'available' | 'reserved'
  balance: string
  balanceOfEntries: string
  decimals: number
}

/**
 * Returns accounts of the addresses of the report whose balance differs from the resulting balance of their newest entry.
 * Filters by address, folder, token and network apply; filters of operations do not.
 */
export async function listAccountDifferences(trx: Trx, filter: OperationFilter): Promise<AccountDifferenceRow[]> {
  const { rows } = await sql<AccountDifferenceRow>`
    select l.id as "accountId", l.address_id as "addressId", l.token_id as "tokenId", l.purpose, l.balance,
      coalesce(newest.balance, 0) as "balanceOfEntries", k.decimals
    from ledger_accounts l
    join tokens k on k.id = l.token_id
    left join lateral (
      select balance from (
        (select created_at, sequence, debit_balance as balance from ledger_entries where debit_account = l.number
          order by created_at desc, sequence desc limit 1)
        union all
        (select created_at, sequence, credit_balance from ledger_entries where credit_account = l.number
          order by created_at desc, sequence desc limit 1)
      ) sides order by created_at desc, sequence desc limit 1) newest on true
    where l.vault_id = ${filter.scope.vaultId} and l.address_id <> ''
      and l.address_id in (${reportedAddressIds(filter)}) and ${isReportedToken(filter, 'l.token_id')}
      and l.balance <> coalesce(newest.balance, 0)
    order by l.id limit 1000`.execute(trx)
  return rows
}

/** SQL: the addresses in the scope of the report that match its filters by address and (current) folder. */
export function reportedAddressIds({ scope, addressIdLists, folderIdLists }: OperationFilter): RawBuilder<unknown> {
  const conditions = [
    isAddressInScope(scope, 'a'),
    ...addressIdLists.map((ids) => sql`a.id = any(${ids}::text[])`),
    ...folderIdLists.map((ids) => sql`a.id in (${addressesIn(scope, ids)})`),
  ]
  return sql`select a.id from addresses a where ${sql.join(conditions, sql` and `)}`
}

/** SQL condition: the token with this id matches the filters of the report. */
export function isReportedToken(
  { tokenIds, assets, networkIds }: OperationFilter,
  column: string,
): RawBuilder<boolean> {
  const conditions: RawBuilder<unknown>[] = []
  if (tokenIds !== null) conditions.push(sql`w.id = any(${tokenIds}::text[])`)
  if (assets !== null) conditions.push(sql`w.code = any(${assets}::text[])`)
  if (networkIds !== null) {
    const ids = sql`${networkIds}::text[]`
    conditions.push(
      sql`exists (select from networks n where n.id = w.network_id and (n.id = any(${ids}) or n.slug = any(${ids})))`,
    )
  }
  if (conditions.length === 0) return sql<boolean>`true`
  return sql<boolean>`${sql.ref(column)} in (select w.id from tokens w where ${sql.join(conditions, sql` and `)})`
}
