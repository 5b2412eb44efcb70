import type pg from 'pg'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import type { ReportedDeposit } from '../chain.ts'
import type { Coin } from './sizes.ts'

type Db = pg.Pool | pg.PoolClient
type CoinRow = { tx_hash: string; index: number; amount: string }
type Sender = Pick<TransferRow, 'network' | 'from_address'>

/** The highest number of unmined payments of an address in a row. Nodes refuse more than 25. */
const unminedMax = 20

/** SQL condition: `c` is an output of a child. */
const isOfChild = "exists (select from wallet.transactions k where k.tx_hash = c.tx_hash and k.kind = 'child')"

/** The outputs that an address can pay with now, and the sum of change that waits for its transaction to be sent or mined. */
export type OwnCoins = { coins: (Coin & { isMined: boolean })[]; waiting: bigint }

/**
 * Lists the outputs that the address may spend: reported deposits that are not in doubt, and the change of its transactions that a node
 * has taken. Unmined change is left out while too many payments of the address wait.
 */
export async function listCoins(db: Db, { network, from_address }: Sender): Promise<OwnCoins> {
  const { rows } = await db.query<CoinRow & { is_ready: boolean; is_mined: boolean }>(
    `with unmined as (
       select count(*) as count from wallet.in_flight
       where network = $1 and from_address = $2 and block_number is null
     )
     select c.tx_hash, c.index, c.amount, case
         when c.event_key is not null then d.orphaned_at is null and not d.is_doubtful
         else t.status <> 'queued' and (t.block_number is not null or not t.resend and (select count from unmined) < ${unminedMax})
       end as is_ready, c.event_key is not null or t.block_number is not null as is_mined
     from wallet.coins c
     left join wallet.deposits d on d.event_key = c.event_key
     left join wallet.transfers t on t.client_id = c.client_id and t.id = c.change_of
     where c.network = $1 and c.address = $2 and c.taken_by is null and c.spent_by is null
       and (c.change_of is null or t.tx_hash = c.tx_hash or ${isOfChild})
     order by c.amount desc, c.tx_hash, c.index`,
    [network, from_address],
  )
  const coins: OwnCoins['coins'] = []
  let waiting = 0n
  for (const { tx_hash: txHash, index, amount, is_ready, is_mined: isMined } of rows) {
    if (is_ready) coins.push({ txHash, index, amount: BigInt(amount), isMined })
    else waiting += BigInt(amount)
  }
  return { coins, waiting }
}

/** Takes outputs for a transfer. The lock of the sender is held, so that nobody else takes them. */
export async function takeCoins(tx: pg.PoolClient, { network, id }: TransferRow, coins: Coin[]): Promise<void> {
  const { rowCount } = await tx.query(
    `update wallet.coins c set taken_by = $2
     from unnest($3::text[], $4::int[]) as w (tx_hash, index)
     where c.network = $1 and c.tx_hash = w.tx_hash and c.index = w.index and c.taken_by is null and c.spent_by is null`,
    [network, id, coins.map(({ txHash }) => txHash), coins.map(({ index }) => index)],
  )
  if (rowCount !== coins.length) throw new Error('an output of the address was taken meanwhile')
}

/** Lists what a transaction spends, in its order, and its change. */
export async function listInputs(db: Db, hash: string): Promise<{ coins: Coin[]; change: bigint }> {
  const { rows } = await db.query<CoinRow>(
    `select c.tx_hash, c.index, c.amount from wallet.transactions v
     join wallet.transaction_inputs i on i.client_id = v.client_id and i.id = v.id and i.number = v.number
     join wallet.coins c on c.network = i.network and c.tx_hash = i.tx_hash and c.index = i.index
     where v.tx_hash = $1 order by i.position`,
    [hash],
  )
  const coins = rows.map(({ tx_hash: txHash, index, amount }) => ({ txHash, index, amount: BigInt(amount) }))
  const [change] = await listChange(db, hash)
  return { coins, change: change?.amount ?? 0n }
}

/** Lists the output of a transaction of this wallet that returns to its sender; an empty list without change. */
export async function listChange(db: Db, hash: string): Promise<Coin[]> {
  const { rows } = await db.query<CoinRow>(
    'select tx_hash, index, amount from wallet.coins where tx_hash = $1 and change_of is not null',
    [hash],
  )
  return rows.map(({ tx_hash: txHash, index, amount }) => ({ txHash, index, amount: BigInt(amount) }))
}

/** `isOwn`: it is of the same client. `isChange`: it spends what returned to the sender. */
export type Later = { id: string; isOwn: boolean; isChange: boolean }

/**
 * Finds another transfer that spends an output of a transaction of this transfer: its change, or what it paid to an address of any client,
 * which spent it before the chain went back. Returns null when no transfer does.
 */
export async function findLater(
  db: Db,
  { client_id, id }: Pick<TransferRow, 'client_id' | 'id'>,
): Promise<Later | null> {
  const { rows } = await db.query<Later>(
    `select c.taken_by as id, c.client_id = v.client_id as "isOwn", c.change_of is not null as "isChange"
     from wallet.transactions v
     join wallet.transfers t on t.client_id = v.client_id and t.id = v.id
     join wallet.coins c on c.network = t.network and c.tx_hash = v.tx_hash
     where v.client_id = $1 and v.id = $2 and c.taken_by is not null and (c.client_id, c.taken_by) <> (v.client_id, v.id)
     order by "isChange" desc, "isOwn" desc limit 1`,
    [client_id, id],
  )
  return rows[0] ?? null
}

/**
 * Takes the inputs of a transfer again that were given back while its transactions seemed impossible. Returns false when another transfer
 * took one of them meanwhile. The lock of the sender is held.
 */
export async function holdInputs(tx: pg.PoolClient, { client_id, id }: TransferRow, hash: string): Promise<boolean> {
  const inputs = `select c.* from wallet.transactions v
    join wallet.transaction_inputs i on i.client_id = v.client_id and i.id = v.id and i.number = v.number
    join wallet.coins c on c.network = i.network and c.tx_hash = i.tx_hash and c.index = i.index
    where v.tx_hash = $1`
  await tx.query(
    `update wallet.coins c set taken_by = $2 from (${inputs}) i
     where c.network = i.network and c.tx_hash = i.tx_hash and c.index = i.index and c.taken_by is null and c.spent_by is null`,
    [hash, id],
  )
  const { rowCount } = await tx.query(
    `select from (${inputs}) i where (i.client_id, i.taken_by) is distinct from ($2::uuid, $3::text)`,
    [hash, client_id, id],
  )
  return rowCount === 0
}

/** Gives back outputs that an ended transfer took and did not spend, and the outputs of transfers that can never be mined. */
export async function giveBack(tx: pg.PoolClient, network: string): Promise<void> {
  await tx.query(
    `update wallet.coins c set taken_by = null from wallet.transfers t
     where c.network = $1 and c.taken_by is not null and c.spent_by is null and t.client_id = c.client_id and t.id = c.taken_by
       and (t.status in ('confirmed', 'failed') and t.tx_hash is not null and not exists (
         select from wallet.transactions v
         join wallet.transaction_inputs i on i.client_id = v.client_id and i.id = v.id and i.number = v.number
         where v.client_id = t.client_id and v.id = t.id and (v.tx_hash = t.tx_hash or v.kind = 'child')
           and i.tx_hash = c.tx_hash and i.index = c.index)
       or t.status in ('queued', 'broadcast') and t.block_number is null and (t.resend or t.last_error is not null)
         and wallet.rival_of(t.client_id, t.id) is not null)`,
    [network],
  )
}

export type Spending = {
  transfer: Pick<TransferRow, 'client_id' | 'id' | 'network' | 'from_address'>
  hash: string
  coins: Coin[]
  /** Null when nothing returns to the sender. */
  change: { index: number; amount: bigint } | null
}

/** Stores what a signed transaction spends, and its change, which further payments may spend. */
export async function storeSpending(tx: pg.PoolClient, { transfer, hash, coins, change }: Spending): Promise<void> {
  const { client_id, id, network, from_address } = transfer
  await tx.query(
    `insert into wallet.transaction_inputs (client_id, id, number, position, network, tx_hash, index)
     select $1, $2, (select number from wallet.transactions where client_id = $1 and id = $2 and tx_hash = $3),
       position - 1, $4, tx_hash, index
     from unnest($5::text[], $6::int[]) with ordinality as c (tx_hash, index, position)`,
    [client_id, id, hash, network, coins.map(({ txHash }) => txHash), coins.map(({ index }) => index)],
  )
  if (change === null) return
  await tx.query(
    `insert into wallet.coins (network, tx_hash, index, client_id, address, amount, change_of)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [network, hash, change.index, client_id, from_address, change.amount.toString(), id],
  )
}

/** Reads the balance of an address on the chain, from the deposits that were reported and the change that was signed here. */
export async function readOwnBalance(db: Db, network: string, address: string): Promise<bigint> {
  const { rows } = await db.query<{ balance: string }>(
    `select coalesce(sum(c.amount), 0)::text as balance from wallet.coins c
     left join wallet.deposits d on d.event_key = c.event_key
     left join wallet.transfers o on o.client_id = c.client_id and o.id = c.change_of
     left join wallet.transfers t on t.client_id = c.client_id and t.id = c.taken_by
     where c.network = $1 and c.address = $2 and c.spent_by is null
       and case when c.event_key is not null then d.orphaned_at is null
         else (o.tx_hash = c.tx_hash or ${isOfChild}) and o.block_number is not null end
       and not (t.block_number is not null and exists (
         select from wallet.transactions v
         join wallet.transaction_inputs i on i.client_id = v.client_id and i.id = v.id and i.number = v.number
         where v.client_id = t.client_id and v.id = t.id and (v.tx_hash = t.tx_hash or v.kind = 'child')
           and i.tx_hash = c.tx_hash and i.index = c.index))`,
    [network, address],
  )
  return BigInt(rows[0]!.balance)
}

/** Stores deposits as outputs that the address may spend. A deposit that came back is the same output. */
export async function storeCoins(tx: pg.PoolClient, network: string, deposits: ReportedDeposit[]): Promise<void> {
  await tx.query(
    `insert into wallet.coins (network, tx_hash, index, client_id, address, amount, event_key)
     select $1, w.tx_hash, w.index, a.client_id, a.address, w.amount, w.event_key
     from unnest($2::text[], $3::int[], $4::text[], $5::numeric[], $6::text[]) as w (tx_hash, index, address, amount, event_key)
     join wallet.addresses a on a.network = $1 and a.address = w.address
     on conflict (network, tx_hash, index) do nothing`,
    [
      network,
      deposits.map(({ tx: { txHash } }) => txHash),
      deposits.map(({ tx: { index } }) => index),
      deposits.map(({ tx: { toAddress } }) => toAddress),
      deposits.map(({ amount }) => amount.toString()),
      deposits.map(({ key }) => key),
    ],
  )
}
