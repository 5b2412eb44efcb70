import type { Db, Trx } from '../../../db/client.ts'
import type { OperationStatus } from '../../operations/feed/write.ts'
import type { Phase } from './lifecycle.ts'
import type { LockedTransfer } from './queries.ts'

/** Where a delivery stands. */
export type DeliveryState = Pick<
  LockedTransfer,
  'status' | 'phase' | 'halt_reason' | 'wallet_tx_hash' | 'replaced_tx_hashes' | 'payout_id'
>

/** As the delivery stands now, without a lock. */
export async function findDeliveryState(db: Db | Trx, vaultId: string, id: string): Promise<DeliveryState | null> {
  const row = await db
    .selectFrom('transfers as t')
    .innerJoin('operations as o', (join) => join.onRef('o.vault_id', '=', 't.vault_id').onRef('o.id', '=', 't.id'))
    .select(['o.status', 't.phase', 't.halt_reason', 't.wallet_tx_hash', 't.replaced_tx_hashes', 't.payout_id'])
    .where('t.vault_id', '=', vaultId)
    .where('t.id', '=', id)
    .executeTakeFirst()
  return row === undefined ? null : { ...row, status: row.status as OperationStatus, phase: row.phase as Phase }
}
