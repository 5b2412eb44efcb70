import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { newId } from '../../../lib/ids.ts'
import { moveOperation } from '../../operations/feed/write.ts'
import { audit } from '../../record/audit/record.ts'
import { notifyOfOrphan } from '../../record/notifications/write.ts'
import { reserveForHold } from '../holds/reserve.ts'
import { changeExposure, postEntries } from '../ledger/post-entries.ts'
import { posting } from '../ledger/postings.ts'
import { lockAccountOf } from '../ledger/queries.ts'

/** A credited deposit, and what the chain did with it. */
export type Reorganised = {
  vaultId: string
  id: string
  addressId: string
  tokenId: string
  /** As it is in the books, in raw units. */
  amount: bigint
  occurrence: number
  txHash: string
}

/**
 * Takes a credited deposit back: from what is available of its address, and for the rest the address is exposed. The caller
 * holds the lock of the holds alone and that of the deposit.
 */
export async function orphanDeposit(trx: Trx, deposit: Reorganised, now: Date): Promise<void> {
  const { vaultId, id: depositId, addressId, tokenId, amount, occurrence, txHash } = deposit
  const account = { vaultId, addressId, tokenId }
  const available = await lockAccountOf(trx, vaultId, account)
  const isAllThere = available >= amount
  const taken = isAllThere ? amount : available
  const exposed = amount - taken
  const id = newId(now)
  await insertRows(trx, {
    deposit_orphans: [
      {
        vault_id: vaultId,
        id,
        deposit_id: depositId,
        address_id: addressId,
        token_id: tokenId,
        occurrence,
        amount: amount.toString(),
        taken: taken.toString(),
        created_at: now,
        returned_at: null,
      },
    ],
  })
  if (taken > 0n) await postEntries(trx, [posting('orphan', { ...account, operationId: id, amount: taken })], now)
  if (exposed > 0n) await changeExposure(trx, account, exposed)
  await markDeposit(trx, deposit, now)
  await moveOperation(trx, { vaultId, id: depositId, from: 'confirmed', to: 'failed', now })
  const details = { addressId, tokenId, txHash, occurrence, amount: amount.toString(), taken: taken.toString() }
  const subject = { type: 'deposit', id: depositId }
  await audit(trx, { vaultId, actorId: null, now }, 'deposit.orphaned', subject, {
    ...details,
    exposed: exposed.toString(),
  })
  await notifyOfOrphan(trx, { vaultId, depositId }, now)
}

/**
 * Credits an orphaned deposit once more, whole: its exposure is covered by it, as by anything that comes in. A deposit that
 * is held is reserved again in the same transaction, unless it still is.
 */
export async function returnDeposit(trx: Trx, deposit: Reorganised, now: Date): Promise<void> {
  const { vaultId, id: depositId, addressId, tokenId, amount, occurrence, txHash } = deposit
  const { rows } = await sql<{ id: string }>`
    update deposit_orphans set returned_at = ${now}
    where vault_id = ${vaultId} and deposit_id = ${depositId} and returned_at is null returning id`.execute(trx)
  const operationId = rows[0]!.id
  await postEntries(trx, [posting('orphan_return', { vaultId, addressId, tokenId, operationId, amount })], now)
  await markDeposit(trx, deposit, null)
  await moveOperation(trx, { vaultId, id: depositId, from: 'failed', to: 'confirmed', now })
  await reserveForHold(trx, { vaultId, depositId, addressId, tokenId, amount }, now)
  const details = { addressId, tokenId, txHash, occurrence, amount: amount.toString() }
  await audit(trx, { vaultId, actorId: null, now }, 'deposit.returned', { type: 'deposit', id: depositId }, details)
}

/** Tells the administrators that a deposit is said to be orphaned with another amount than was credited. */
export async function tellOfContradiction(trx: Trx, { vaultId, id: depositId }: Reorganised, now: Date): Promise<void> {
  await notifyOfOrphan(trx, { vaultId, depositId }, now)
}

async function markDeposit(trx: Trx, { vaultId, id, occurrence }: Reorganised, orphanedAt: Date | null): Promise<void> {
  await trx
    .updateTable('deposits')
    .set({ orphaned_at: orphanedAt, occurrence })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .execute()
}
