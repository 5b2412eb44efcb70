import { sql } from 'kysely'
import type { Static } from 'typebox'
import { type ByMember, byMember } from '../../../access/caller.ts'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { violates } from '../../../db/transaction.ts'
import { type AppError, badRequest, conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { formatDecimal, parseDecimal } from '../../../lib/money.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { type ActiveHold, assertNotHeld, findActiveHold, shareHoldLock } from '../../rules/holds/active.ts'
import { isOverflow, postEntries } from './post-entries.ts'
import { signedPosting } from './postings.ts'
import type { Adjustment, AdjustmentBody } from './schema.ts'

/**
 * Corrects the balance of an address against the vault's adjustment account. `amount` is signed, in token units.
 * @throws 400 for an amount that does not fit the token, 404 for an unknown address or token, 409 below zero or while the
 *   vault, the address or a deposit of this token at it is held
 */
export async function adjustBalance(
  trx: Trx,
  { addressId, tokenId, amount: signed, reason }: Static<typeof AdjustmentBody>,
  by: ByMember,
): Promise<Static<typeof Adjustment>> {
  const { vaultId, actorId, now } = byMember(by)
  const { rows } = await sql<{
    address: string
    label: string | null
    owner_id: string
    code: string | null
    decimals: number | null
    created_by: MemberProfile | null
  }>`
    select a.address, a.label, a.owner_id, t.code, t.decimals, ${profileOfUser(sql`${actorId}`)} as created_by
    from addresses a left join tokens t on t.network_id = a.network_id and t.id = ${tokenId}
    where a.vault_id = ${vaultId} and a.id = ${addressId}`.execute(trx)
  const found = rows[0]
  if (found === undefined) throw notFound('Address')
  if (found.decimals === null) throw badRequest('tokenId', 'is not a token of the network of this address')
  const amount = parseSigned(signed, found.decimals)

  await assertAdjustable(trx, { vaultId, addressId, tokenId })

  const id = newId(now)
  const adjustment = {
    vault_id: vaultId,
    id,
    address_id: addressId,
    token_id: tokenId,
    amount: amount.toString(),
    reason,
  }
  await insertRows(trx, { adjustments: [{ ...adjustment, created_by_id: actorId, created_at: now }] })
  const posting = signedPosting('adjust', { vaultId, tokenId, addressId, operationId: id, amount })
  await postEntries(trx, [posting], now).catch((error: unknown) => {
    throw refusalOf(error) ?? error
  })
  const change = {
    vaultId,
    actorId,
    action: 'ledger.adjusted',
    targetType: 'address',
    targetId: addressId,
    details: { adjustmentId: id, tokenId, amount: amount.toString(), reason },
    words: {
      sentence: `The balance of the address ${found.address} was adjusted`,
      after: { label: found.label, amount: `${formatDecimal(amount, found.decimals)} ${found.code}`, reason },
    },
    now,
  }
  await announceVaultChange(trx, change, { userIds: [found.owner_id] })
  return {
    id,
    vaultId,
    addressId,
    tokenId,
    amount: amount.toString(),
    amountDecimal: formatDecimal(amount, found.decimals),
    reason,
    createdById: actorId,
    createdBy: found.created_by,
    createdAt: now.toISOString(),
  }
}

/** One person must not make available again what a hold has stopped. */
async function assertAdjustable(
  trx: Trx,
  { vaultId, addressId, tokenId }: { vaultId: string; addressId: string; tokenId: string },
): Promise<void> {
  await shareHoldLock(trx, vaultId)
  // An exposure is no hold: an adjustment covers it first.
  assertNotHeld(await findActiveHold(trx, { vaultId, addressId, ofExposure: false }))
  const { rows } = await sql<ActiveHold>`
    select h.id, h.subject_type as "subjectType", h.subject_id as "subjectId"
    from holds h join operations o on o.vault_id = h.vault_id and o.id = h.subject_id
    where h.vault_id = ${vaultId} and h.subject_type = 'deposit' and h.released_at is null
      and o.address_id = ${addressId} and o.token_id = ${tokenId} limit 1`.execute(trx)
  assertNotHeld(rows[0] ?? null)
}

/** @throws 400 for zero, and for an amount that does not fit the token */
function parseSigned(signed: string, decimals: number): bigint {
  const isNegative = signed.startsWith('-')
  const magnitude = parseDecimal(isNegative ? signed.slice(1) : signed, decimals)
  if (magnitude === null) throw badRequest('amount', `must fit a token of ${decimals} decimals`)
  if (magnitude === 0n) throw badRequest('amount', 'must not be 0')
  return isNegative ? -magnitude : magnitude
}

/** The refusal that an error of the database stands for, or null. */
function refusalOf(error: unknown): AppError | null {
  if (isBelowZero(error)) {
    const details = 'The address has less available than the adjustment takes'
    return conflict('insufficient_funds', 'Insufficient funds: take no more than is available', details)
  }
  if (!isOverflow(error)) return null
  return conflict('balance_overflow', 'The balance would exceed the largest possible amount, 2^256-1')
}

export function isBelowZero(error: unknown): boolean {
  return (
    violates(error, 'ledger_accounts_balance_not_negative') || violates(error, 'ledger_entries_debit_balance_check')
  )
}
