import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { newId } from '../../../lib/ids.ts'
import { moveOperation } from '../../operations/feed/operation-rows.ts'
import { audit } from '../../record/audit/record.ts'
import { notifyOfOrphan } from '../../record/notifications/notification-rows.ts'
import { lockForPlacing } from '../../rules/holds/active.ts'
import { reserveForHold } from '../holds/reserve.ts'
import { changeExposure, type Posting, postEntries, posting } from '../ledger/postings.ts'
import { lockAccountOf } from '../ledger/queries.ts'
import type { DepositEvent } from './parse-event.ts'
import { type Candidate, type Credit, compareWithFirst, keyOf, plainOutcome, quarantine } from './plan-credits.ts'
import { type FirstDeposit, lockDeposit } from './queries.ts'

/** Returns true if an event says that the chain took a deposit back, or brought it again. */
export function changesHistory({ kind, occurrence }: DepositEvent): boolean {
  return kind === 'DEPOSIT_ORPHANED' || occurrence > 0
}

/**
 * Applies an event that changes history. For a deposit the newest occurrence counts, and within one occurrence the orphaning.
 * Events may be repeated and arrive in any order; each changes the books at most once. Orders, votes and hand-overs wait
 * meanwhile. Returns the outcome, or null for a new deposit, which is credited as usual.
 */
export async function changeHistory(trx: Trx, candidate: Candidate, now: Date): Promise<Credit | null> {
  await lockForPlacing(trx, candidate.operation.vaultId)
  const first = await lockDeposit(trx, keyOf(candidate))
  return candidate.event.kind === 'TOPUP' ? bringBack(trx, candidate, first, now) : takeBack(trx, candidate, first, now)
}

async function bringBack(
  trx: Trx,
  candidate: Candidate,
  first: FirstDeposit | null,
  now: Date,
): Promise<Credit | null> {
  const { occurrence } = candidate.event
  if (first === null) return null
  if (occurrence <= first.occurrence) return compareWithFirst(candidate, first)
  // The deposit was orphaned before it was ever credited, so this is the first credit.
  if (first.amount === null) return null
  if (first.amount !== candidate.operation.amount) return quarantine(candidate, 'amount_differs', first.id)
  const deposit = reorganised(candidate, first)
  // The deposit is still credited. The event that orphaned it has not arrived, or is outdated when it arrives.
  if (!first.isOrphaned) {
    await noteOccurrence(trx, deposit)
    return plainOutcome(candidate, 'duplicate', { depositId: first.id })
  }
  await returnDeposit(trx, deposit, now)
  return plainOutcome(candidate, 'credited', { depositId: first.id })
}

async function takeBack(trx: Trx, candidate: Candidate, first: FirstDeposit | null, now: Date): Promise<Credit> {
  const { occurrence } = candidate.event
  if (first === null) {
    const isNoted = await noteUncredited(trx, candidate, now)
    // The deposit was credited concurrently.
    if (!isNoted) return takeBack(trx, candidate, await lockDeposit(trx, keyOf(candidate)), now)
    return plainOutcome(candidate, 'ignored', { reason: 'not_credited' })
  }
  const depositId = first.amount === null ? null : first.id
  if (occurrence < first.occurrence || (occurrence === first.occurrence && first.isOrphaned)) {
    return plainOutcome(candidate, 'duplicate', { depositId })
  }
  const deposit = reorganised(candidate, first)
  if (first.isOrphaned) {
    await noteOccurrence(trx, deposit)
    return plainOutcome(candidate, 'ignored', { reason: 'not_credited', depositId })
  }
  if (first.amount !== candidate.operation.amount) {
    // Administrators see that the event contradicts the books.
    await notifyOfOrphan(trx, { vaultId: deposit.vaultId, depositId: deposit.id }, now)
    return quarantine(candidate, 'orphan_differs', first.id)
  }
  await orphanDeposit(trx, deposit, now)
  return plainOutcome(candidate, 'orphaned', { depositId })
}

function reorganised({ event, operation }: Candidate, { id, amount }: FirstDeposit): Reorganised {
  const { vaultId, addressId, tokenId } = operation
  const { occurrence, txHash } = event
  return { vaultId, id, addressId, tokenId, amount: amount ?? operation.amount, occurrence, txHash }
}

/** Stores that a deposit which was never credited is gone. Returns false when it was credited meanwhile. */
async function noteUncredited(trx: Trx, { event, operation }: Candidate, now: Date): Promise<boolean> {
  const { vaultId, id, addressId, tokenId } = operation
  const { numAffectedRows } = await sql`
    insert into deposits (vault_id, id, address_id, token_id, tx_hash, tx_index, from_address, occurrence, orphaned_at, created_at)
    values (${vaultId}, ${id}, ${addressId}, ${tokenId}, ${event.txHash}, ${event.index}, ${event.fromAddress},
      ${event.occurrence}, ${now}, ${now})
    on conflict (vault_id, address_id, token_id, tx_hash, tx_index) do nothing`.execute(trx)
  return numAffectedRows === 1n
}

/** A credited deposit that the chain lost or brought back. */
export type Reorganised = {
  vaultId: string
  id: string
  addressId: string
  tokenId: string
  /** The amount in the books, in raw units. */
  amount: bigint
  occurrence: number
  txHash: string
}

/**
 * Takes a credited deposit back from the available balance of its address. The address is exposed by the rest. The caller holds
 * the exclusive lock of the holds and the lock of the deposit.
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
  await noteOccurrence(trx, deposit, { orphaned_at: now })
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
 * Credits an orphaned deposit again, whole. It covers its exposure, as all incoming funds do. A held deposit is reserved again
 * in the same transaction, unless it still is.
 *
 * @param correction the posting that takes the rest of a deposit that came back smaller, so that only what is left covers exposure
 */
export async function returnDeposit(
  trx: Trx,
  deposit: Reorganised,
  now: Date,
  correction: Posting[] = [],
): Promise<void> {
  const { vaultId, id: depositId, addressId, tokenId, amount, occurrence, txHash } = deposit
  const { rows } = await sql<{ id: string }>`
    update deposit_orphans set returned_at = ${now}
    where vault_id = ${vaultId} and deposit_id = ${depositId} and returned_at is null returning id`.execute(trx)
  const operationId = rows[0]!.id
  const credit = posting('orphan_return', { vaultId, addressId, tokenId, operationId, amount })
  await postEntries(trx, [credit, ...correction], now)
  await noteOccurrence(trx, deposit, { orphaned_at: null })
  await moveOperation(trx, { vaultId, id: depositId, from: 'failed', to: 'confirmed', now })
  await reserveForHold(trx, { vaultId, depositId, addressId, tokenId, amount }, now)
  const details = { addressId, tokenId, txHash, occurrence, amount: amount.toString() }
  await audit(trx, { vaultId, actorId: null, now }, 'deposit.returned', { type: 'deposit', id: depositId }, details)
}

/** Stores the newest occurrence of a locked deposit. `change` sets or clears the time at which the chain lost it. */
async function noteOccurrence(
  trx: Trx,
  { vaultId, id, occurrence }: Reorganised,
  change: { orphaned_at?: Date | null } = {},
): Promise<void> {
  await trx
    .updateTable('deposits')
    .set({ ...change, occurrence })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .execute()
}
