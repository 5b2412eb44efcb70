import { type RawBuilder, sql } from 'kysely'

/**
 * SQL: true if two people agreed on an adjustment, a row of `adjustments`: an approval request made the adjustment, or confirmed
 * it later. The request is bound to its votes and compared with the record, so the adjustment needs no column for this.
 */
export const isAgreed = (adjustment: string): RawBuilder<boolean> => sql<boolean>`exists (
  select from approval_requests agreement where agreement.vault_id = ${sql.ref(`${adjustment}.vault_id`)}
    and agreement.action = 'balance_adjust' and agreement.status = 'applied'
    and agreement.resolved_result_id = ${sql.ref(`${adjustment}.id`)})`

/** SQL: true if the vault has rules that one administrator does not change alone: governance, or protection. */
export const isUnderQuorum = (vaultId: RawBuilder<unknown>): RawBuilder<boolean> => sql<boolean>`(
  exists (select from governance under where under.vault_id = ${vaultId} and under.threshold > 0)
  or exists (select from vaults under where under.id = ${vaultId} and under.protection = 'votes'))`

type Account = Record<'vaultId' | 'addressId' | 'tokenId', RawBuilder<unknown>>

/**
 * SQL: the part of an available balance, in raw units, that adjustments of single people made, which policies do not count; it
 * is negative when they took more than they added. Without governance and protection the part is 0, because one administrator
 * changes the policies there, too.
 */
export const unagreedPart = ({ vaultId, addressId, tokenId }: Account): RawBuilder<string> => sql<string>`(
  select coalesce(sum(single.amount), 0) from adjustments single
  where single.vault_id = ${vaultId} and single.address_id = ${addressId} and single.token_id = ${tokenId}
    and ${isUnderQuorum(vaultId)} and not ${isAgreed('single')})`
