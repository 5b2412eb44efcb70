import type pg from 'pg'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import type { Opening } from './node.ts'

type Sender = Pick<TransferRow, 'network' | 'from_address'>

/** Must be called before the balance is read. */
export async function readOpening(db: pg.Pool, { network, from_address }: Sender): Promise<Opening> {
  const { rows } = await db.query<{ now: Date; nonce: string }>({
    name: 'read-opening',
    text: `select clock_timestamp() as now, coalesce(
             (select min(nonce) from wallet.in_flight where network = $1 and from_address = $2),
             (select next_nonce from wallet.nonces where network = $1 and address = $2), 0) as nonce`,
    values: [network, from_address],
  })
  const { now, nonce } = rows[0]!
  return { asOf: now, nonce: BigInt(nonce) }
}

/** Returns the amount that signed transfers may still take from the balance that was read after the opening. */
export async function readCommittedCost(
  tx: pg.PoolClient,
  { network, from_address }: Sender,
  { asOf, nonce }: Opening,
): Promise<bigint> {
  const { rows } = await tx.query<{ total: string }>(
    `select coalesce(sum(max_cost), 0)::text as total from (
       select max_cost from wallet.transfers
       where network = $1 and from_address = $2 and nonce >= $4 and (status in ('queued', 'broadcast') or updated_at >= $3)
       union all
       select t.max_cost from wallet.in_flight f
       cross join lateral (select max_cost from wallet.transfers where client_id = f.client_id and id = f.id limit 1) t
       where f.network = $1 and f.from_address = $2 and f.nonce < $4
     ) c`,
    [network, from_address, asOf, nonce.toString()],
  )
  return BigInt(rows[0]!.total)
}
