import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { posting } from '../ledger/postings.ts'
import { findNativeCoin, type LockedTransfer, lockTransfer } from './queries.ts'

const feesMax = 100

/** Posts the fees that the balance could not cover when their transfer ended, where it covers them now. */
export async function postOutstandingFees(deps: Deps): Promise<void> {
  // Only fees that can be posted are selected, so that the others cannot fill the batch.
  const { rows } = await sql<{ vault_id: string; id: string }>`
    select t.vault_id, t.id from transfers t
    join operations o on o.vault_id = t.vault_id and o.id = t.id
    join ledger_accounts l on l.vault_id = t.vault_id and l.address_id = o.address_id and l.token_id = t.fee_token_id
      and l.purpose = 'available' and l.balance >= t.fee
    where t.fee is not null and not t.fee_posted order by t.id limit ${feesMax}`.execute(deps.db)
  for (const { vault_id: vaultId, id } of rows) {
    try {
      await postFee(deps, vaultId, id)
    } catch (error) {
      deps.log.error({ err: error, vaultId, transferId: id }, 'fee not posted')
    }
  }
}

async function postFee({ db, clock }: Deps, vaultId: string, id: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const transfer = await lockTransfer(trx, vaultId, id)
    if (transfer === null || transfer.fee === null || transfer.fee_posted) return
    const coin = await lockAccounts(trx, transfer)
    const amount = BigInt(transfer.fee)
    if (coin === null || coin.available < amount) return
    const subject = { vaultId, tokenId: coin.tokenId, addressId: transfer.address_id, operationId: id, amount }
    await postEntries(trx, [posting('fee', subject)], clock())
    await trx
      .updateTable('transfers')
      .set({ fee_posted: true })
      .where('vault_id', '=', vaultId)
      .where('id', '=', id)
      .execute()
  })
}

/**
 * Locks the accounts of a resolution in the order in which every posting locks them, so that a concurrent reservation
 * waits instead of deadlocking. Returns the native coin's account; null when the coin is not registered.
 */
export async function lockAccounts(
  trx: Trx,
  { vault_id, address_id, token_id, network_id }: LockedTransfer,
): Promise<{ tokenId: string; code: string; decimals: number; available: bigint } | null> {
  const coin = await findNativeCoin(trx, network_id)
  const accounts = await trx
    .selectFrom('ledger_accounts')
    .select(['token_id', 'purpose', 'balance'])
    .where('vault_id', '=', vault_id)
    .where('address_id', '=', address_id)
    .where('token_id', 'in', coin === null ? [token_id] : [token_id, coin.id])
    .orderBy('token_id')
    .orderBy('purpose')
    .forUpdate()
    .execute()
  if (coin === null) return null
  const available = accounts.find((account) => account.token_id === coin.id && account.purpose === 'available')
  const { id: tokenId, code, decimals } = coin
  return { tokenId, code, decimals, available: BigInt(available?.balance ?? '0') }
}
