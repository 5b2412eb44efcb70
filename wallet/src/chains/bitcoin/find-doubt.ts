import type pg from 'pg'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import { eachLimited } from '../each-limited.ts'
import { readNonce } from '../nonces.ts'
import { findUnknown } from './senders.ts'
import type { Outpoint } from './utxo-block.ts'
import { readHeight, type UtxoNode } from './utxo-node.ts'

type Sender = Pick<TransferRow, 'network' | 'from_address'>

/** Outputs of an address that the node is asked about, the largest first; a payment spends fewer. */
const lookedUpMax = 1_000

/**
 * Returns the reason why a transaction that this wallet has no record of may have paid from the address; null when none has: the final
 * blocks were read, and neither they nor later blocks nor the pool of the node have a foreign transaction that spends its outputs.
 */
export async function findDoubt(node: UtxoNode, db: pg.Pool, sender: Sender): Promise<string | null> {
  const unread = await firstUnread(db, sender.network)
  const final = (await readHeight(node)) + 1n - BigInt(node.confirmations)
  // Blocks that come while these are read do not matter: an earlier payment spent deposits that were final before this process began.
  node.awaited ??= final
  if (unread <= node.awaited)
    return `UNKNOWN_TRANSACTIONS: the blocks from ${unread} to ${node.awaited} are not read yet`
  node.awaited = null
  const unknown = await findUnknown(db, sender, await readNonce(db, sender))
  if (unknown !== null) return reasonOfUnknown(unknown)
  // The node may have refused a payment because another transaction has spent the outputs that it takes.
  const { rowCount } = await db.query(
    `select from wallet.transfers where network = $1 and from_address = $2 and status = 'queued' and nonce is not null limit 1`,
    [sender.network, sender.from_address],
  )
  if (rowCount !== 0) return 'UNKNOWN_TRANSACTIONS: the node has not taken another payment of the address'
  const spent = await findSpent(node, await listFree(db, sender))
  if (spent === null) return null
  return `UNKNOWN_TRANSACTIONS: ${spent.txHash}:${spent.index} is spent, and this wallet has not signed that`
}

export const reasonOfUnknown = (hash: string) =>
  `UNKNOWN_TRANSACTIONS: ${hash} spent an output of the address, and this wallet did not sign it`

async function firstUnread(db: pg.Pool, network: string): Promise<bigint> {
  const { rows } = await db.query<{ next_block: string }>('select next_block from wallet.cursors where network = $1', [
    network,
  ])
  return BigInt(rows[0]?.next_block ?? 0)
}

/** Lists the mined outputs of the address that no payment has taken. */
async function listFree(db: pg.Pool, { network, from_address }: Sender): Promise<Outpoint[]> {
  const { rows } = await db.query<Outpoint>(
    `select c.tx_hash as "txHash", c.index from wallet.coins c
     left join wallet.deposits d on d.event_key = c.event_key
     left join wallet.transfers t on t.client_id = c.client_id and t.id = c.change_of
     where c.network = $1 and c.address = $2 and c.taken_by is null and c.spent_by is null
       and case when c.event_key is not null then d.orphaned_at is null
         else t.tx_hash = c.tx_hash and t.block_number is not null end
     order by c.amount desc, c.tx_hash, c.index limit ${lookedUpMax}`,
    [network, from_address],
  )
  return rows
}

/** Finds an output that a transaction of a block or of the pool of the node has spent. */
async function findSpent(node: UtxoNode, outputs: Outpoint[]): Promise<Outpoint | null> {
  let spent: Outpoint | null = null
  await eachLimited(outputs, async (output) => {
    if (spent === null && (await node.rpc.call('gettxout', [output.txHash, output.index, true])) === null)
      spent = output
  })
  return spent
}
