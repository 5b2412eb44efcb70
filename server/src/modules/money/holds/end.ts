import type { RowOf, Trx } from '../../../db/client.ts'
import type { Holds } from '../../../db/types.ts'
import type { HoldOrigin, HoldSubjectType } from '../../rules/holds/active.ts'
import { markReleased, takeOverReserve } from '../../rules/holds/write.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { posting } from '../ledger/postings.ts'
import { lockOtherHold } from './queries.ts'

/** Of a deposit: where it is. */
export type HeldDeposit = { addressId: string; tokenId: string }

/** An active hold, under lock. */
export type LockedHold = RowOf<Holds, { subject_type: HoldSubjectType; origin: HoldOrigin }> & {
  deposit: HeldDeposit | null
}

/** @param releasedById null: the service itself */
type End = { releasedById: string | null; reason: string; now: Date }

/**
 * Ends a locked hold. Of a deposit that is held for another reason too, the amount stays reserved, for that hold; otherwise
 * it becomes available. @throws 409 when it was released already
 */
export async function endHold(trx: Trx, hold: LockedHold, { releasedById, reason, now }: End): Promise<void> {
  const { vault_id: vaultId, id } = hold
  await markReleased(trx, { vaultId, id, releasedById, reason, now })
  const amount = BigInt(hold.reserved ?? '0')
  if (hold.deposit === null || amount === 0n) return
  const other = await lockOtherHold(trx, hold)
  const subject = { vaultId, ...hold.deposit, amount }
  if (other !== null) await takeOverReserve(trx, vaultId, other.id, amount)
  const taken = other === null ? [] : [posting('hold', { ...subject, operationId: other.id })]
  await postEntries(trx, [posting('hold_release', { ...subject, operationId: id }), ...taken], now)
}
