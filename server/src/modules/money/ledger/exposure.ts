import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { newId } from '../../../lib/ids.ts'
import { coverPosting, type Posting } from './postings.ts'

/** An account in which something is available, and by which its address is exposed; in raw units, under lock. */
export type Exposed = Account & { available: string; exposure: string }
type Account = { vaultId: string; addressId: string; tokenId: string }

/** Reduces exposures by what is available, and records it. Returns the postings that take it, which the caller writes. */
export async function coverExposures(trx: Trx, accounts: Exposed[], now: Date): Promise<Posting[]> {
  const covers = accounts.map(({ available, exposure, ...account }) => {
    const amount = BigInt(available) < BigInt(exposure) ? BigInt(available) : BigInt(exposure)
    return { ...account, id: newId(now), amount }
  })
  await insertRows(trx, {
    exposure_covers: covers.map(({ vaultId, id, addressId, tokenId, amount }) => ({
      vault_id: vaultId,
      id,
      address_id: addressId,
      token_id: tokenId,
      amount: amount.toString(),
      created_at: now,
    })),
  })
  for (const { amount, ...account } of covers) await changeExposure(trx, account, -amount)
  return covers.map(({ id, ...account }) => coverPosting({ ...account, operationId: id }))
}

/** Changes the exposure of an account that exists. */
export async function changeExposure(
  trx: Trx,
  { vaultId, addressId, tokenId }: Account,
  difference: bigint,
): Promise<void> {
  await sql`
    update ledger_accounts set exposure = exposure + ${difference.toString()}::numeric
    where vault_id = ${vaultId} and address_id = ${addressId} and token_id = ${tokenId} and purpose = 'available'`.execute(
    trx,
  )
}
