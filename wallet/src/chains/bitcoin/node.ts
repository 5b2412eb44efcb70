import { amountOf, countOf, hashOf, isRecord, NodeOutage, NodeRefusal, type Rpc } from './rpc.ts'
import type { Coin } from './sizes.ts'

/** The output that a transaction spends. A coinbase spends none. */
export type Outpoint = { txHash: string; index: number }
export type Output = { index: number; amount: bigint; script: Buffer }
export type ChainTransaction = { txHash: string; isCoinbase: boolean; spent: Outpoint[]; outputs: Output[] }
export type ChainBlock = { number: bigint; hash: string; parentHash: string; timestamp: bigint }
export type FullBlock = ChainBlock & { transactions: ChainTransaction[] }

/** A transaction as the node has it now; `block` is null while it waits in the pool. */
export type KnownTransaction = ChainTransaction & {
  size: number
  block: { hash: string; confirmations: number } | null
}

/** `known`: the node had it before, in its pool or in a block. */
export type BroadcastAnswer =
  | { outcome: 'taken' | 'known' }
  | { outcome: 'refused'; reason: string; spendsGone: boolean }

/**
 * Reads the height of the chain. The first block decides which network the node serves, because the encoding of addresses is not known
 * to it. A node that still loads blocks lags, and one that prunes them cannot be asked about old transactions.
 * @throws NodeOutage
 */
export async function readHeight(rpc: Rpc, genesis: string): Promise<bigint> {
  const [first, info] = await Promise.all([rpc.call('getblockhash', [0]), rpc.call('getblockchaininfo')])
  if (first !== genesis) throw new NodeOutage('the node serves another network')
  const record = recordOf(info)
  if (record.initialblockdownload === true && record.chain !== 'regtest')
    throw new NodeOutage('the node loads old blocks')
  if (record.pruned === true) throw new NodeOutage('the node forgets old blocks')
  return BigInt(must(countOf(record.blocks)))
}

/** Reads a block with its transactions. @throws NodeOutage, NodeRefusal */
export async function readBlock(rpc: Rpc, number: bigint): Promise<FullBlock> {
  const hash = must(hashOf(await rpc.call('getblockhash', [Number(number)])))
  const record = recordOf(await rpc.call('getblock', [hash, 2]))
  if (record.hash !== hash || record.height !== Number(number)) throw otherForm()
  return {
    number,
    hash,
    parentHash: number === 0n ? '' : must(hashOf(record.previousblockhash)),
    timestamp: BigInt(must(countOf(record.time))),
    transactions: listOf(record.tx).map(transactionOf),
  }
}

/** Reads a transaction; null when the node does not know it. The node needs its index of transactions (`-txindex`). */
export async function readTransaction(rpc: Rpc, txHash: string): Promise<KnownTransaction | null> {
  let answer: unknown
  try {
    answer = await rpc.call('getrawtransaction', [txHash, true])
  } catch (error) {
    if (error instanceof NodeRefusal && error.code === notFound) return null
    throw error
  }
  const record = recordOf(answer)
  const transaction = transactionOf(record)
  if (transaction.txHash !== txHash) throw otherForm()
  const size = must(countOf(record.vsize))
  // A block that the chain lost has no confirmations.
  const confirmations = record.confirmations === undefined ? 0 : must(countOf(record.confirmations))
  const block = confirmations === 0 ? null : { hash: must(hashOf(record.blockhash)), confirmations }
  return { ...transaction, size, block }
}

/** Returns the outputs that a transaction spends, with amounts and scripts. @throws NodeOutage when the node lacks one */
export async function readSpent(rpc: Rpc, spent: Outpoint[]): Promise<(Coin & { script: Buffer })[]> {
  const hashes = [...new Set(spent.map(({ txHash }) => txHash))]
  const parents = new Map(
    await Promise.all(hashes.map(async (txHash) => [txHash, await readTransaction(rpc, txHash)] as const)),
  )
  return spent.map(({ txHash, index }) => {
    const output = parents.get(txHash)?.outputs[index]
    if (output === undefined) throw new NodeOutage('the node lacks an output that a transaction spends')
    return { txHash, index, amount: output.amount, script: output.script }
  })
}

/** Sends signed bytes. Sending them twice is harmless. @throws NodeOutage */
export async function broadcast(rpc: Rpc, raw: string): Promise<BroadcastAnswer> {
  try {
    // The limit of the node would refuse fees that people signed; `check.ts` has compared the fee with our own limits.
    await rpc.call('sendrawtransaction', [raw, 0])
    return { outcome: 'taken' }
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error
    const isKnown =
      error.code === alreadyInChain || /already[- ](known|in[- ](mempool|block ?chain|utxo))/i.test(error.message)
    if (isKnown) return { outcome: 'known' }
    const spendsGone = error.code === missingInputs || /missing|inputs-spent|conflict/i.test(error.message)
    return { outcome: 'refused', reason: error.message, spendsGone }
  }
}

const notFound = -5
const missingInputs = -25
const alreadyInChain = -27

function transactionOf(value: unknown): ChainTransaction {
  const record = recordOf(value)
  const inputs = listOf(record.vin).map(recordOf).filter(isOfChain)
  const isCoinbase = inputs.length === 1 && typeof inputs[0]!.coinbase === 'string'
  return {
    txHash: must(hashOf(record.txid)),
    isCoinbase,
    spent: isCoinbase
      ? []
      : inputs.map(({ txid, vout }) => ({ txHash: must(hashOf(txid)), index: must(countOf(vout)) })),
    outputs: listOf(record.vout).map(recordOf).filter(isOfChain).map(outputOf),
  }
}

/** Litecoin nodes list the parts of an extension block (MWEB), too. They have no amount and no script. */
const isOfChain = (part: Record<string, unknown>) => part.ismweb !== true

/** The place in the list must be the number that the node names: by it an output is found and spent. */
function outputOf({ n, value: amount, scriptPubKey }: Record<string, unknown>, place: number): Output {
  const { hex } = recordOf(scriptPubKey)
  if (n !== place || typeof hex !== 'string' || !/^(?:[0-9a-f]{2})*$/.test(hex)) throw otherForm()
  return { index: place, amount: must(amountOf(amount)), script: Buffer.from(hex, 'hex') }
}

function recordOf(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw otherForm()
  return value
}

function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw otherForm()
  return value
}

function must<Value>(value: Value | null): Value {
  if (value === null) throw otherForm()
  return value
}

const otherForm = () => new NodeOutage('the node answered in another form')
