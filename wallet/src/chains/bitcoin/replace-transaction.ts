import type pg from 'pg'
import { pointlessFeeFactor, variantsMax } from '../../limits.ts'
import type { Transaction } from '../../transfers/transactions.ts'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import { aboveMaxFee, type Replaced, type Replacement, type ReplacementPlan, type Signed } from '../chain.ts'
import { dustOf, readAddress } from './addresses.ts'
import { findBlock, findTransaction } from './blocks.ts'
import { readFeeRate } from './fees.ts'
import type { UtxoKey } from './key.ts'
import { findLater, holdInputs, type Later, listCoins, listInputs, storeSpending, takeCoins } from './own-coins.ts'
import { findRival } from './rivals.ts'
import { amountOf, isRecord, NodeOutage, NodeRefusal } from './rpc.ts'
import { defaultFeeLevel, sign } from './send.ts'
import { lockSender } from './senders.ts'
import { type Coin, feeOf, sizeOf } from './sizes.ts'
import type { UtxoNode } from './utxo-node.ts'

/** `coins` begin with those of the newest transaction, so that the anchor stays the first. */
type UtxoPlan = ReplacementPlan & { kind: Kind } & { coins: Coin[]; added: Coin[]; change: bigint }
type Kind = 'payment' | 'cancellation'
type Refused = { refusal: string }

/**
 * A replacement spends what the newest transaction of the transfer spends, and more if its fee needs more.
 * tidy: long because its parts share what is read once
 */
export async function openReplacement(
  node: UtxoNode,
  transfer: TransferRow,
  { newest, count }: Replaced,
): Promise<Replacement> {
  const { pool, parameters, feeRateMax } = node
  const spent = await listInputs(pool, newest.hash)
  const later = await findLater(pool, transfer)
  const present = await listCoins(pool, transfer)
  const [usual, high] = await Promise.all([
    readFeeRate(node.rpc, transfer.fee_level ?? defaultFeeLevel, node, parameters),
    readFeeRate(node.rpc, 'high', node, parameters),
  ])
  const isMined = await isInBlock(node, pool, transfer)
  const rival = await findRival(pool, transfer)
  const evicted = await readEvicted(node, newest, transfer, spent)

  function plan(wanted: Kind, limit: bigint | null): UtxoPlan | Refused {
    // Only a faster cancellation can follow a cancellation, so that the payment stays cancelled.
    const kind = newest.kind === 'cancellation' ? 'cancellation' : wanted
    if (isMined) return { refusal: 'ALREADY_MINED: a transaction of the transfer is in a block' }
    if (rival !== null) return { refusal: passedBy(rival.hash) }
    if (later !== null) return { refusal: laterFirst(later) }
    if (count >= variantsMax) return { refusal: `TOO_MANY: the transfer already has ${count} transactions` }
    if ('refusal' in usual || 'refusal' in high)
      return { refusal: `${aboveMaxFee}: the node takes only dearer transactions now` }
    const scripts = scriptsOf(node, transfer, kind)
    const amount = kind === 'payment' ? BigInt(transfer.amount) : 0n
    const coins = [...spent.coins]
    const added: Coin[] = []
    // Change that no block has is not added: nodes refuse it in a replacement.
    const spare = present.coins.filter((coin) => coin.isMined && coin.amount >= node.spendMin)
    while (true) {
      const size = sizeOf(coins.length, scripts)
      const least = evicted.fee + feeOf(parameters.relayRate, size)
      // The rate of the replaced transaction must be exceeded as well.
      const faster = feeOf((evicted.rate * 5n) / 4n + 1n, size)
      const fee = max(max(least, faster), feeOf(usual.rate, size))
      if (fee > feeOf(high.rate, size) * pointlessFeeFactor && evicted.fee > 0n)
        return { refusal: 'FEE_HIGH_ENOUGH: the transaction pays far more than what is usual now' }
      const affordable = feeOf(feeRateMax, size)
      const most = limit === null || affordable < limit ? affordable : limit
      if (fee > most) return { refusal: `${aboveMaxFee}: a replacement must pay ${fee}, and ${most} are permitted` }
      const change = sumOf(coins) - amount - fee
      if (change >= dustOf(scripts.at(-1)!, parameters)) {
        const fees = { fee, unsignedLimit: affordable }
        return { kind, coins, added, change, fees, maxCost: amount + fee }
      }
      const next = spare.shift()
      if (next === undefined) return { refusal: `NO_CHANGE: nothing is left to pay a fee of ${fee} from` }
      coins.push(next)
      added.push(next)
    }
  }

  async function reserve(tx: pg.PoolClient, { added }: UtxoPlan): Promise<string | null> {
    const { unknown } = await lockSender(tx, transfer)
    if (unknown !== null) return `UNKNOWN_TRANSACTIONS: ${unknown} spent an output of the address`
    const taken = await findLater(tx, transfer)
    if (taken !== null) return laterFirst(taken)
    if (!(await holdInputs(tx, transfer, newest.hash))) return passedBy('another transfer')
    if (added.length > 0) await takeCoins(tx, transfer, added)
    return null
  }

  return {
    plan: async (wanted, limit) => plan(wanted, limit),
    reserve,
    sign: (key: UtxoKey, { kind, coins, change, fees }: UtxoPlan): Promise<Signed> =>
      sign(node, key, { transfer, isPayment: kind === 'payment', coins, change, maxFee: fees.fee }),
    store: (tx, { kind, coins, change }: UtxoPlan, { hash }) =>
      storeSpending(tx, { transfer, hash, coins, change: { index: kind === 'payment' ? 1 : 0, amount: change } }),
  }
}

export const passedBy = (rival: string) => `ALREADY_MINED: ${rival} spends what the transactions of the transfer need`

/** Does not reveal the id of a transfer of another client. */
export const laterFirst = ({ id, isOwn }: Later) =>
  `LATER_FIRST: ${isOwn ? id : 'a payment of another vault'} spends an output of this transfer, and would be lost with it`

function scriptsOf({ parameters }: UtxoNode, { from_address, to_address }: TransferRow, kind: Kind): Uint8Array[] {
  const [sender, recipient] = [readAddress(from_address, parameters), readAddress(to_address, parameters)]
  if (sender === null || recipient === null) throw new Error('an address of the transfer is of another network')
  return kind === 'payment' ? [recipient.script, sender.script] : [sender.script]
}

export async function isInBlock(node: UtxoNode, pool: pg.Pool, { client_id, id }: TransferRow): Promise<boolean> {
  const { rows } = await pool.query<{ tx_hash: string }>(
    'select tx_hash from wallet.transactions where client_id = $1 and id = $2',
    [client_id, id],
  )
  for (const { tx_hash } of rows) {
    const found = await findTransaction(node, tx_hash)
    if (found?.blockHash != null && (await findBlock(node, found.blockHash)) !== null) return true
  }
  return false
}

/** Reads the fees of the transaction and of all transactions in the pool that depend on it, and the rate of the transaction alone. */
async function readEvicted(
  node: UtxoNode,
  newest: Transaction,
  { amount }: TransferRow,
  { coins, change }: { coins: Coin[]; change: bigint },
): Promise<{ fee: bigint; rate: bigint }> {
  const fee = sumOf(coins) - change - (newest.kind === 'payment' ? BigInt(amount) : 0n)
  const size = BigInt(Math.ceil(newest.raw.length / 2))
  // A transaction has more bytes than virtual bytes, so the rate is taken from the node if it has the transaction.
  const present = { fee, rate: (fee * 1_000n) / size }
  try {
    const entry = await node.rpc.call('getmempoolentry', [newest.hash])
    if (!isRecord(entry) || !isRecord(entry.fees))
      throw new NodeOutage('the node answered an entry of its pool in another form')
    const [all, alone] = [amountOf(entry.fees.descendant), amountOf(entry.fees.base)]
    if (all === null || alone === null || typeof entry.vsize !== 'number')
      throw new NodeOutage('the node answered an entry of its pool in another form')
    return { fee: all, rate: (alone * 1_000n) / BigInt(entry.vsize) }
  } catch (error) {
    if (error instanceof NodeRefusal) return present
    throw error
  }
}

const max = (a: bigint, b: bigint) => (a > b ? a : b)
const sumOf = (coins: Coin[]) => coins.reduce((sum, { amount }) => sum + amount, 0n)
