import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { setReserved } from '../../rules/holds/write.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { posting } from '../ledger/postings.ts'
import { lockAccountOf } from '../ledger/queries.ts'

type Deposit = { vaultId: string; depositId: string; addressId: string; tokenId: string; amount: bigint }

/** Reserves a deposit that came back for the hold on it, if that has reserved nothing: it was placed while the deposit was gone. */
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
  const available = await lockAccountOf(trx, vaultId, { addressId, tokenId })
  const reserved = available < amount ? available : amount
  if (hold === undefined || reserved === 0n) return
  await setReserved(trx, { vaultId, id: hold.id, reserved })
  await postEntries(
    trx,
    [posting('hold', { vaultId, tokenId, addressId, operationId: hold.id, amount: reserved })],
    now,
  )
}
