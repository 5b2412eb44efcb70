import type pg from 'pg'
import { variantsMax } from '../../limits.ts'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import { aboveMaxFee, type Replaced, type Replacement, type ReplacementPlan, type Signed } from '../chain.ts'
import { dustOf, readAddress } from './addresses.ts'
import { readFeeRate } from './fees.ts'
import type { UtxoKey } from './key.ts'
import { findLater, listChange, listInputs, storeSpending, takeCoins } from './own-coins.ts'
import { isInBlock, laterFirst, passedBy } from './replace-transaction.ts'
import { findRival } from './rivals.ts'
import { amountOf, countOf, isRecord, NodeOutage, NodeRefusal } from './rpc.ts'
import { defaultFeeLevel, sign } from './send.ts'
import { lockSender } from './senders.ts'
import { type Coin, feeOf, sizeOf } from './sizes.ts'
import type { UtxoNode } from './utxo-node.ts'

type ChildPlan = ReplacementPlan & { kind: 'child'; coin: Coin; change: bigint; childFee: bigint }

/** Nodes refuse a transaction with 25 or more before it that no block has. */
const ancestorsMax = 24

/**
 * Where nodes do not replace transactions, a payment is sped up by a child, which returns the change of the payment to the sender and pays
 * for both. A payment cannot be cancelled there.
 */
export async function openChild(node: UtxoNode, transfer: TransferRow, { tip, count }: Replaced): Promise<Replacement> {
  const { pool, parameters, feeRateMax } = node
  const [coin] = await listChange(pool, tip.hash)
  const later = await findLater(pool, transfer)
  const [usual, high] = await Promise.all([
    readFeeRate(node.rpc, transfer.fee_level ?? defaultFeeLevel, node, parameters),
    readFeeRate(node.rpc, 'high', node, parameters),
  ])
  const isMined = await isInBlock(node, pool, transfer)
  const rival = await findRival(pool, transfer)
  const waiting = await readWaiting(node, tip.hash)
  const paid = await readPaid(pool, transfer)

  function plan(wanted: 'payment' | 'cancellation', limit: bigint | null): ChildPlan | { refusal: string } {
    if (isMined) return { refusal: 'ALREADY_MINED: a transaction of the transfer is in a block' }
    if (wanted === 'cancellation') return { refusal: 'NOT_REPLACEABLE: nodes of this network replace no transaction' }
    if (rival !== null) return { refusal: passedBy(rival.hash) }
    if (later?.isChange) return { refusal: laterFirst(later) }
    if (coin === undefined) return { refusal: 'NO_CHANGE: nothing returns from the payment that could pay for it' }
    if (waiting === null) return { refusal: 'NOT_SENT: the node does not have the transaction' }
    if (count >= variantsMax || waiting.count >= ancestorsMax)
      return { refusal: `TOO_MANY: ${count} transactions of the transfer, and ${waiting.count} in a row` }
    if ('refusal' in usual || 'refusal' in high)
      return { refusal: `${aboveMaxFee}: the node takes only dearer transactions now` }
    const sender = readAddress(transfer.from_address, parameters)
    if (sender === null) throw new Error('the sender is not an address of the network')
    const size = sizeOf(1, [sender.script])
    const present = (waiting.fee * 1_000n) / BigInt(waiting.size)
    if (present >= high.rate) return { refusal: 'FEE_HIGH_ENOUGH: the transactions pay more than what is usual now' }
    const rate = max(usual.rate, (present * 5n) / 4n + 1n)
    const childFee = max(feeOf(rate, waiting.size + size) - waiting.fee, feeOf(parameters.relayRate, size))
    const total = paid + childFee
    if (limit !== null && total > limit)
      return { refusal: `${aboveMaxFee}: both must pay ${total}, and ${limit} are permitted` }
    if (childFee > feeOf(feeRateMax, size)) return { refusal: `${aboveMaxFee}: the settings do not permit ${childFee}` }
    const change = coin.amount - childFee
    if (change < dustOf(sender.script, parameters))
      return { refusal: `NO_CHANGE: ${coin.amount} return from the payment, and ${childFee} would be needed` }
    const fees = { fee: total, unsignedLimit: feeOf(feeRateMax, waiting.size + size) }
    return { kind: 'child', coin, change, childFee, fees, maxCost: BigInt(transfer.amount) + total }
  }

  async function reserve(tx: pg.PoolClient, { coin: spent }: ChildPlan): Promise<string | null> {
    const { unknown } = await lockSender(tx, transfer)
    if (unknown !== null) return `UNKNOWN_TRANSACTIONS: ${unknown} spent an output of the address`
    const taken = await findLater(tx, transfer)
    if (taken?.isChange) return laterFirst(taken)
    await takeCoins(tx, transfer, [spent])
    return null
  }

  return {
    plan: async (wanted, limit) => plan(wanted, limit),
    reserve,
    sign: (key: UtxoKey, { coin: taken, change, childFee }: ChildPlan): Promise<Signed> =>
      sign(node, key, { transfer, isPayment: false, coins: [taken], change, maxFee: childFee }),
    store: (tx, { coin: taken, change }: ChildPlan, { hash }) =>
      storeSpending(tx, { transfer, hash, coins: [taken], change: { index: 0, amount: change } }),
  }
}

/** Reads number, size and fees of a transaction with its unmined ancestors; null when it is not in the pool of the node. */
async function readWaiting(node: UtxoNode, hash: string): Promise<{ count: number; size: number; fee: bigint } | null> {
  try {
    const entry = await node.rpc.call('getmempoolentry', [hash])
    if (isRecord(entry) && isRecord(entry.fees)) {
      const [count, size, fee] = [
        countOf(entry.ancestorcount),
        countOf(entry.ancestorsize),
        amountOf(entry.fees.ancestor),
      ]
      if (count !== null && size !== null && fee !== null) return { count, size, fee }
    }
    throw new NodeOutage('the node answered an entry of its pool in another form')
  } catch (error) {
    if (error instanceof NodeRefusal) return null
    throw error
  }
}

/** Returns the fees of the payment and of its children so far. */
async function readPaid(pool: pg.Pool, { client_id, id, amount }: TransferRow): Promise<bigint> {
  const { rows } = await pool.query<{ tx_hash: string; kind: string }>(
    'select tx_hash, kind from wallet.transactions where client_id = $1 and id = $2',
    [client_id, id],
  )
  let fees = 0n
  for (const { tx_hash, kind } of rows) {
    const { coins, change } = await listInputs(pool, tx_hash)
    fees += coins.reduce((sum, coin) => sum + coin.amount, 0n) - change - (kind === 'payment' ? BigInt(amount) : 0n)
  }
  return fees
}

const max = (a: bigint, b: bigint) => (a > b ? a : b)
