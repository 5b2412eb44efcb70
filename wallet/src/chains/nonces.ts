import type pg from 'pg'
import type { TransferRow } from '../transfers/transfer-row.ts'

type Sender = Pick<TransferRow, 'network' | 'from_address'>

/** Locks and returns the next nonce of an address. All processes wait for the lock of its row. */
export async function lockNonce(tx: pg.PoolClient, { network, from_address }: Sender): Promise<number> {
  await tx.query('insert into wallet.nonces (network, address) values ($1, $2) on conflict do nothing', [
    network,
    from_address,
  ])
  const { rows } = await tx.query<{ next_nonce: string }>(
    'select next_nonce from wallet.nonces where network = $1 and address = $2 for update',
    [network, from_address],
  )
  return Number(rows[0]!.next_nonce)
}

/** Returns the next nonce of an address without a lock. */
export async function readNonce(db: pg.Pool | pg.PoolClient, { network, from_address }: Sender): Promise<number> {
  const { rows } = await db.query<{ next_nonce: string }>(
    'select next_nonce from wallet.nonces where network = $1 and address = $2',
    [network, from_address],
  )
  return Number(rows[0]?.next_nonce ?? 0)
}

export async function moveNonce(tx: pg.PoolClient, { network, from_address }: Sender, next: number): Promise<void> {
  await tx.query('update wallet.nonces set next_nonce = $3 where network = $1 and address = $2 and next_nonce < $3', [
    network,
    from_address,
    next,
  ])
}
