import type { Insertable } from 'kysely'
import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { Holds } from '../../../db/types.ts'
import { insertHold, markReleased, setReserved } from '../../rules/holds/hold-rows.ts'
import { postEntries, posting } from '../ledger/postings.ts'
import { lockAccountOf } from '../ledger/queries.ts'
import { type HeldDeposit, type HoldRow, type LockedHold, lockHoldOn } from './queries.ts'

export type NewHold = Insertable<Holds> & Pick<HoldRow, 'subject_type' | 'origin'>

/**
 * Inserts a hold. A hold on a deposit reserves the available part of the deposit. It reserves nothing while another hold has
 * reserved that part; the other hold passes the amount on when it ends. Returns the reserved amount in raw units; null when the
 * subject is not a deposit.
 * @throws 409 when the subject is held already
 */
export async function insertReserving(
  trx: Trx,
  hold: NewHold,
  deposit: (HeldDeposit & { amount: string }) | null,
  now: Date,
): Promise<bigint | null> {
  const reserved = deposit === null ? null : await reservableOf(trx, hold, deposit)
  await insertHold(trx, { ...hold, reserved: reserved?.toString() ?? null })
  if (deposit === null || reserved === null || reserved === 0n) return reserved
  const { addressId, tokenId } = deposit
  const subject = { vaultId: hold.vault_id, tokenId, addressId, operationId: hold.id, amount: reserved }
  await postEntries(trx, [posting('hold', subject)], now)
  return reserved
}

/** Returns the amount that a new hold on a deposit reserves, and locks its account. */
async function reservableOf(trx: Trx, hold: NewHold, deposit: HeldDeposit & { amount: string }): Promise<bigint> {
  if ((await lockOtherHold(trx, hold)) !== null) return 0n
  return availableOf(trx, hold.vault_id, deposit, BigInt(deposit.amount))
}

/** Locks the active hold of the other origin on the same subject. Returns null without an active hold. */
function lockOtherHold(
  trx: Trx,
  { vault_id: vaultId, subject_type: subjectType, subject_id: subjectId, origin }: NewHold | LockedHold,
): Promise<LockedHold | null> {
  return lockHoldOn(trx, { vaultId, subjectType, subjectId, origin: origin === 'people' ? 'screening' : 'people' })
}

/** Returns the available part of an amount, and locks its account. */
async function availableOf(trx: Trx, vaultId: string, deposit: HeldDeposit, amount: bigint): Promise<bigint> {
  const available = await lockAccountOf(trx, vaultId, deposit)
  return available < amount ? available : amount
}

/** @param releasedById null for the service itself */
type End = { releasedById: string | null; reason: string; now: Date }

/**
 * Ends a locked hold. The amount of a deposit that another hold stops, too, stays reserved for that hold; otherwise it becomes
 * available.
 * @throws 409 when it was already released
 */
export async function endHold(trx: Trx, hold: LockedHold, { releasedById, reason, now }: End): Promise<void> {
  const { vault_id: vaultId, id } = hold
  await markReleased(trx, { vaultId, id, releasedById, reason, now })
  const amount = reservedOf(hold)
  if (amount === 0n) return
  const other = await lockOtherHold(trx, hold)
  if (other !== null) await setReserved(trx, { vaultId, id: other.id, reserved: amount })
  await passOn(trx, hold, other?.id ?? null, now)
}

/**
 * Ends a locked hold in favour of a new one on the same subject. The new hold takes over the reserved amount, which is
 * available at no moment, so it covers no exposure either.
 */
export async function replaceHold(trx: Trx, hold: LockedHold, next: NewHold, end: End): Promise<void> {
  await markReleased(trx, { ...end, vaultId: hold.vault_id, id: hold.id })
  await insertHold(trx, { ...next, reserved: hold.reserved })
  if (reservedOf(hold) > 0n) await passOn(trx, hold, next.id, end.now)
}

const reservedOf = ({ reserved }: LockedHold): bigint => BigInt(reserved ?? '0')

/** @param nextId the hold for which the amount stays reserved; null when it becomes available */
async function passOn(trx: Trx, hold: LockedHold, nextId: string | null, now: Date): Promise<void> {
  const subject = { vaultId: hold.vault_id, ...hold.deposit!, amount: reservedOf(hold) }
  const taken = nextId === null ? [] : [posting('hold', { ...subject, operationId: nextId })]
  await postEntries(trx, [posting('hold_release', { ...subject, operationId: hold.id }), ...taken], now)
}

type Deposit = HeldDeposit & { vaultId: string; depositId: string; amount: bigint }

/** Reserves a returned deposit for its hold, if that hold has reserved nothing because it was placed while the deposit was gone. */
export async function reserveForHold(
  trx: Trx,
  { vaultId, depositId, addressId, tokenId, amount }: Deposit,
  now: Date,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from holds h where vault_id = ${vaultId} and subject_type = 'deposit' and subject_id = ${depositId}
      and released_at is null and not exists (select from holds r where r.vault_id = h.vault_id
        and r.subject_type = 'deposit' and r.subject_id = h.subject_id and r.released_at is null and r.reserved > 0)
    limit 1`.execute(trx)
  const hold = rows[0]
  const reserved = await availableOf(trx, vaultId, { addressId, tokenId }, amount)
  if (hold === undefined || reserved === 0n) return
  await setReserved(trx, { vaultId, id: hold.id, reserved })
  await postEntries(
    trx,
    [posting('hold', { vaultId, tokenId, addressId, operationId: hold.id, amount: reserved })],
    now,
  )
}
