import { sql } from 'kysely'
import { prepared, type Trx } from '../../../db/client.ts'
import { type ActiveHold, activeHoldOn } from '../../rules/holds/active.ts'
import type { Order } from './load-order.ts'

/**
 * Locks the account that an order spends from. Returns what is available now, in raw units, and the active hold that forbids
 * the order, or null: an earlier statement has taken the shared lock of the holds.
 */
export async function lockAvailable(
  trx: Trx,
  { vaultId, initiatorId, source, to }: { vaultId: string; initiatorId: string } & Pick<Order, 'source' | 'to'>,
): Promise<{ available: bigint; hold: ActiveHold | null }> {
  const { address_id: addressId, token_id: tokenId, network_id: networkId } = source
  const touched = { vaultId, addressId, to: { networkId, key: to.key }, userIds: [initiatorId] }
  const { rows } = await sql<{ balance: string | null; hold: ActiveHold | null }>`${prepared}
    select ${activeHoldOn(touched)} as hold, (
      select balance from ledger_accounts
      where vault_id = ${vaultId} and address_id = ${addressId} and token_id = ${tokenId} and purpose = 'available'
      for update) as balance`.execute(trx)
  const { balance, hold } = rows[0]!
  return { available: BigInt(balance ?? '0'), hold }
}
/** As `lockAvailable` for many accounts, in the order in which every posting locks them; by address and token. */
export async function lockAccountsOf(
  trx: Trx,
  vaultId: string,
  accounts: { address_id: string; token_id: string }[],
): Promise<(account: { address_id: string; token_id: string }) => bigint> {
  const { rows } = await sql<{ address_id: string; token_id: string; balance: string }>`
    select address_id, token_id, balance from ledger_accounts
    where vault_id = ${vaultId} and purpose = 'available' and (address_id, token_id) in (
      select * from unnest(${accounts.map(({ address_id }) => address_id)}::text[], ${accounts.map(({ token_id }) => token_id)}::text[]))
    order by address_id, token_id
    for update`.execute(trx)
  const balances = new Map(rows.map(({ address_id, token_id, balance }) => [`${address_id} ${token_id}`, balance]))
  return ({ address_id, token_id }) => BigInt(balances.get(`${address_id} ${token_id}`) ?? '0')
}
