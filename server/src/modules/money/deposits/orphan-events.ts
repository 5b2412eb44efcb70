import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { lockForPlacing } from '../../rules/holds/active.ts'
import { orphanDeposit, type Reorganised, returnDeposit, tellOfContradiction } from './orphan.ts'
import type { DepositEvent } from './parse-event.ts'
import { type Candidate, type Credit, compareWithFirst, keyOf, plainOutcome, quarantine } from './plan-credits.ts'
import { type FirstDeposit, lockDeposit } from './queries.ts'

/** Whether an event says that the chain took a deposit back, or brought it again. */
export function changesHistory({ kind, occurrence }: DepositEvent): boolean {
  return kind === 'DEPOSIT_ORPHANED' || occurrence > 0
}

/**
 * Applies an event that changes history. Of a deposit, the newest occurrence counts, and within one the orphaning: events may
 * be repeated and arrive in any order, and each changes the books once at most. Orders, votes and hand-overs wait meanwhile.
 * Returns the outcome; null: it is a new deposit, which is credited as any other.
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
  // It was orphaned before it was ever credited, so this is the first credit.
  if (first.amount === null) return null
  if (first.amount !== candidate.operation.amount) return quarantine(candidate, 'amount_differs', first.id)
  const deposit = reorganised(candidate, first)
  // Still credited: what said that it was gone has not arrived, or will be outdated when it does.
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
    // It was credited at this very moment.
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
    await tellOfContradiction(trx, deposit, now)
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

/** Remembers that a deposit is gone which was never credited. False: it was credited meanwhile. */
async function noteUncredited(trx: Trx, { event, operation }: Candidate, now: Date): Promise<boolean> {
  const { vaultId, id, addressId, tokenId } = operation
  const { numAffectedRows } = await sql`
    insert into deposits (vault_id, id, address_id, token_id, tx_hash, tx_index, from_address, occurrence, orphaned_at, created_at)
    values (${vaultId}, ${id}, ${addressId}, ${tokenId}, ${event.txHash}, ${event.index}, ${event.fromAddress},
      ${event.occurrence}, ${now}, ${now})
    on conflict (vault_id, address_id, token_id, tx_hash, tx_index) do nothing`.execute(trx)
  return numAffectedRows === 1n
}

async function noteOccurrence(trx: Trx, { vaultId, id, occurrence }: Reorganised): Promise<void> {
  await trx
    .updateTable('deposits')
    .set({ occurrence })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .where('occurrence', '<', occurrence)
    .execute()
}
