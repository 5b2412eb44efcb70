import type pg from 'pg'
import type { Transaction } from '../../transfers/transactions.ts'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import type { Found, Mined, Outcome } from '../chain.ts'
import { findBlock, findTransaction } from './blocks.ts'
import { NodeOutage } from './rpc.ts'
import type { UtxoBlock, UtxoTransaction } from './utxo-block.ts'
import type { UtxoNode } from './utxo-node.ts'

type Db = pg.Pool | pg.PoolClient
type MinedHash = { mined_kind: Transaction['kind']; mined_raw: string; mined_hash: string; has_child: boolean }

/** Returns the transfers whose transactions are in the blocks, and the transfers whose outputs another transaction there spent. */
export async function findInBlocks(
  { network, pool }: UtxoNode,
  blocks: UtxoBlock[],
): Promise<{ mined: Mined[]; passed: TransferRow[] }> {
  const places = new Map(
    blocks.flatMap((block) => block.transactions.map((transaction) => [transaction.hash, { block, transaction }])),
  )
  const { rows } = await pool.query<TransferRow & MinedHash>({
    name: 'find-utxo-in-blocks',
    text: `select t.*, v.kind as mined_kind, v.raw_transaction as mined_raw, v.tx_hash as mined_hash,
             exists (select from wallet.transactions k where k.client_id = t.client_id and k.id = t.id and k.kind = 'child') as has_child
           from wallet.transactions v join wallet.transfers t on t.client_id = v.client_id and t.id = v.id
           where v.tx_hash = any($2) and t.network = $1 and t.status in ('queued', 'broadcast') and t.block_number is null`,
    values: [network, [...places.keys()]],
  })
  const mined: Mined[] = []
  const passed = await findPassed(pool, network, blocks)
  for (const { mined_kind, mined_raw, mined_hash, has_child, ...row } of rows) {
    // A transfer with a child is settled when its children are mined too, so the node is asked about it, once for all its transactions.
    if (has_child && !passed.some((other) => other.client_id === row.client_id && other.id === row.id)) passed.push(row)
    if (has_child) continue
    const { block, transaction } = places.get(mined_hash)!
    const signed = { kind: mined_kind, raw: mined_raw, hash: mined_hash }
    mined.push({ row, block, ...(await outcomeOf(pool, network, signed, transaction)) })
  }
  return { mined, passed }
}

async function findPassed(pool: pg.Pool, network: string, blocks: UtxoBlock[]): Promise<TransferRow[]> {
  const spends = blocks.flatMap(({ transactions }) =>
    transactions.flatMap((transaction) => transaction.spends.map((spent) => ({ ...spent, by: transaction.hash }))),
  )
  const { rows } = await pool.query<TransferRow>({
    name: 'find-utxo-passed',
    text: `select distinct on (t.client_id, t.id) t.*
           from unnest($2::text[], $3::int[], $4::text[]) as s (tx_hash, index, spender)
           join wallet.coins c on c.network = $1 and c.tx_hash = s.tx_hash and c.index = s.index and c.taken_by is not null
           join wallet.transfers t on t.client_id = c.client_id and t.id = c.taken_by
           where t.status in ('queued', 'broadcast') and t.block_number is null and not exists (
             select from wallet.transactions v where v.client_id = t.client_id and v.id = t.id and v.tx_hash = s.spender)`,
    values: [network, spends.map(({ txHash }) => txHash), spends.map(({ index }) => index), spends.map(({ by }) => by)],
  })
  return rows
}

/**
 * Looks up the transactions of a transfer, newest first. They share an anchor, so at most one of them is in the chain, with the children
 * that it may have. A payment counts from the block that has the last of these.
 */
export async function findTransfer(node: UtxoNode, transactions: Transaction[]): Promise<Found> {
  const children = transactions.filter(({ kind }) => kind === 'child').reverse()
  const variants = transactions.filter(({ kind }) => kind !== 'child')
  for (const [age, signed] of variants.entries()) {
    const place = await locate(node, signed)
    if (place === 'pending' && age === 0) return (await isAnyLost(node, children)) ? 'unknown' : 'pending'
    if (typeof place === 'string') continue
    let last = place
    let { fee } = place
    // Children were signed after the last replacement, and spend its change.
    for (const child of signed.kind === 'payment' && age === 0 ? children : []) {
      const below = await locate(node, child)
      if (typeof below === 'string') return below
      fee += below.fee
      if (below.blockNumber > last.blockNumber) last = below
    }
    return { ...place, fee, blockNumber: last.blockNumber, blockHash: last.blockHash }
  }
  return 'unknown'
}

async function locate(node: UtxoNode, signed: Transaction): Promise<Found> {
  const found = await findTransaction(node, signed.hash)
  if (found === null) return 'unknown'
  if (found.blockHash === null) return 'pending'
  const block = await findBlock(node, found.blockHash)
  if (block === null) return 'unknown'
  return {
    ...(await outcomeOf(node.pool, node.network, signed, found)),
    blockNumber: block.number,
    blockHash: block.hash,
  }
}

async function isAnyLost(node: UtxoNode, children: Transaction[]): Promise<boolean> {
  for (const { hash } of children) if ((await findTransaction(node, hash)) === null) return true
  return false
}

async function outcomeOf(
  db: Db,
  network: string,
  transaction: Transaction,
  { hash, outputs }: UtxoTransaction,
): Promise<Outcome> {
  const { rows } = await db.query<{ total: string | null }>(
    `select sum(c.amount)::text as total from wallet.transactions v
     join wallet.transaction_inputs i on i.client_id = v.client_id and i.id = v.id and i.number = v.number
     join wallet.coins c on c.network = i.network and c.tx_hash = i.tx_hash and c.index = i.index
     where v.tx_hash = $1 and i.network = $2`,
    [hash, network],
  )
  if (rows[0]?.total == null) throw new NodeOutage('the outputs that a transaction spends are not known')
  const paid = outputs.reduce((sum, { amount }) => sum + amount, 0n)
  const failure =
    transaction.kind === 'cancellation'
      ? 'CANCELLED: a transaction that returns everything to the sender was mined in place of the payment'
      : null
  return { transaction, fee: BigInt(rows[0].total) - paid, failure }
}

/** After the chain went back: forgets spending from block `from` on, and marks payments in no block, even ended ones, to be sent again. */
export async function resendLost(node: UtxoNode, from: bigint): Promise<number> {
  const { network, pool } = node
  for (const table of ['coins', 'deposit_sources'])
    await pool.query(
      `update wallet.${table} set spent_by = null, spent_block = null where network = $1 and spent_block >= $2`,
      [network, from.toString()],
    )
  const { rows } = await pool.query<{ client_id: string; id: string; tx_hash: string }>(
    `select client_id, id, tx_hash from wallet.transfers
     where network = $1 and block_number >= $2 and status <> 'queued' and not resend order by sequence`,
    [network, from.toString()],
  )
  let marked = 0
  for (const { client_id, id, tx_hash } of rows) {
    const found = await findTransaction(node, tx_hash)
    if (found !== null && (found.blockHash === null || (await findBlock(node, found.blockHash)) !== null)) continue
    const { rowCount } = await pool.query(
      `update wallet.transfers set resend = true, attempts = 0, next_attempt_at = clock_timestamp()
       where client_id = $1 and id = $2`,
      [client_id, id],
    )
    marked += rowCount ?? 0
  }
  return marked
}
