import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { type ActiveHold, activeHoldOn } from '../../rules/holds/active.ts'

/** SQL: the active hold that keeps a transfer from being voted on and handed over, from `o` and `t`, its two rows. */
export const holdOnTransfer = activeHoldOn({
  vaultId: sql.ref('o.vault_id'),
  addressId: sql.ref('o.address_id'),
  to: { networkId: sql.ref('o.network_id'), key: sql.ref('t.to_address_key') },
  counterpartyId: sql.ref('o.counterparty_id'),
  transferId: sql.ref('o.id'),
  userIds: [sql.ref('o.initiator_id')],
})

export async function findHoldOnTransfer(trx: Trx, vaultId: string, id: string): Promise<ActiveHold | null> {
  const { rows } = await sql<{ hold: ActiveHold | null }>`
    select ${holdOnTransfer} as hold from operations o join transfers t on t.vault_id = o.vault_id and t.id = o.id
    where o.vault_id = ${vaultId} and o.id = ${id}`.execute(trx)
  return rows[0]?.hold ?? null
}

/** The active hold on any transfer of a payout, which forbids to vote on all of it. */
export async function findHoldOnTransfersOf(trx: Trx, vaultId: string, payoutId: string): Promise<ActiveHold | null> {
  const { rows } = await sql<{ hold: ActiveHold }>`
    select h.hold from transfers t join operations o on o.vault_id = t.vault_id and o.id = t.id
    cross join lateral (select ${holdOnTransfer} as hold) h
    where t.vault_id = ${vaultId} and t.payout_id = ${payoutId} and h.hold is not null limit 1`.execute(trx)
  return rows[0]?.hold ?? null
}
