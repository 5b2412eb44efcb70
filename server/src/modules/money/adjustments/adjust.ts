import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { By } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { violates } from '../../../db/transaction.ts'
import { type AppError, badRequest, conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { formatDecimal, parseDecimal } from '../../../lib/money.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { type ActiveHold, assertNotHeld, findActiveHold, shareHoldLock } from '../../rules/holds/active.ts'
import { isOverflow, postEntries, signedPosting } from '../ledger/postings.ts'
import type { AdjustmentBody } from '../ledger/schema.ts'

/** A checked adjustment: its address, its token, and its signed amount in raw units. */
type PlannedAdjustment = {
  address: string
  label: string | null
  ownerId: string
  code: string
  decimals: number
  amount: bigint
}

/**
 * Checks an adjustment against the address and the token that it names.
 * @throws 400 for an amount that does not fit the token, 404 for an unknown address or token
 */
export async function planAdjustment(
  db: Db | Trx,
  vaultId: string,
  { addressId, tokenId, amount: signed }: Static<typeof AdjustmentBody>,
): Promise<PlannedAdjustment> {
  const { rows } = await sql<{
    address: string
    label: string | null
    ownerId: string
    code: string | null
    decimals: number | null
  }>`
    select a.address, a.label, a.owner_id as "ownerId", t.code, t.decimals
    from addresses a left join tokens t on t.network_id = a.network_id and t.id = ${tokenId}
    where a.vault_id = ${vaultId} and a.id = ${addressId}`.execute(db)
  const found = rows[0]
  if (found === undefined) throw notFound('Address')
  const { code, decimals, ...address } = found
  if (code === null || decimals === null) throw badRequest('tokenId', 'is not a token of the network of this address')
  return { ...address, code, decimals, amount: parseSigned(signed, decimals) }
}

/**
 * Corrects the balance of an address against the vault's adjustment account. `amount` is signed, in token units. Returns the id
 * of the adjustment.
 * @throws as `planAdjustment`, 409 below zero or while the vault, the address or a deposit of this token at it is held
 */
export async function adjustBalance(
  trx: Trx,
  body: Static<typeof AdjustmentBody>,
  { vaultId, actorId, now }: By,
): Promise<string> {
  const { addressId, tokenId, reason } = body
  const planned = await planAdjustment(trx, vaultId, body)
  const { amount } = planned
  await shareHoldLock(trx, vaultId)
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
  await announceAdjustment(trx, { id, body, planned }, { vaultId, actorId, now })
  return id
}

type Posted = { id: string; body: Static<typeof AdjustmentBody>; planned: PlannedAdjustment }

function announceAdjustment(trx: Trx, { id, body, planned }: Posted, by: By): Promise<void> {
  const { addressId, tokenId, reason } = body
  const { address, label, amount, decimals, code, ownerId } = planned
  const change = {
    ...by,
    action: 'ledger.adjusted',
    targetType: 'address',
    targetId: addressId,
    details: { adjustmentId: id, tokenId, amount: amount.toString(), reason },
    words: {
      sentence: `The balance of the address ${address} was adjusted`,
      after: { label, amount: `${formatDecimal(amount, decimals)} ${code}`, reason },
    },
  }
  return announceVaultChange(trx, change, { userIds: [ownerId] })
}

/**
 * Throws when one person would make held funds available again. The caller has the lock of the holds, or checks again later.
 * @throws 409
 */
export async function assertAdjustable(
  db: Db | Trx,
  { vaultId, addressId, tokenId }: { vaultId: string; addressId: string; tokenId: string },
): Promise<void> {
  // An exposure does not forbid an adjustment, because the added amount covers the exposure first.
  assertNotHeld(await findActiveHold(db, { vaultId, addressId, ofExposure: false }))
  const { rows } = await sql<ActiveHold>`
    select h.id, h.subject_type as "subjectType", h.subject_id as "subjectId"
    from holds h join operations o on o.vault_id = h.vault_id and o.id = h.subject_id
    where h.vault_id = ${vaultId} and h.subject_type = 'deposit' and h.released_at is null
      and o.address_id = ${addressId} and o.token_id = ${tokenId} limit 1`.execute(db)
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

/** Returns the refusal that corresponds to an error of the database; null for any other error. */
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
