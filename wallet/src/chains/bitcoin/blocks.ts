import type { SeenBlock } from '../chain.ts'
import { addressOfScript } from './addresses.ts'
import type { UtxoParameters } from './parameters.ts'
import { amountOf, countOf, hashOf, isRecord, NodeOutage, NodeRefusal } from './rpc.ts'
import type { FoundTransaction, UtxoBlock, UtxoTransaction } from './utxo-block.ts'
import type { UtxoNode } from './utxo-node.ts'

/** The client of a node, and the network whose addresses it shows. */
type Source = Pick<UtxoNode, 'rpc' | 'parameters'>

const malformed = (what: string) => new NodeOutage(`the node answered ${what} in another form`)

async function hashAt({ rpc }: Source, height: bigint): Promise<string> {
  const hash = hashOf(await rpc.call('getblockhash', [Number(height)]))
  if (hash === null) throw malformed('the hash of a block')
  return hash
}

export async function readBlock(node: Source, height: bigint): Promise<SeenBlock> {
  const hash = await hashAt(node, height)
  return headerOf(await node.rpc.call('getblockheader', [hash]), { hash, height })
}

export async function readFullBlock(node: Source, height: bigint): Promise<UtxoBlock> {
  const hash = await hashAt(node, height)
  const answer = await node.rpc.call('getblock', [hash, 2])
  const header = headerOf(answer, { hash, height })
  if (!isRecord(answer) || !Array.isArray(answer.tx)) throw malformed('a block')
  return { ...header, transactions: answer.tx.map((entry) => transactionOf(entry, node.parameters)) }
}

/** Reads the header of a block. @throws NodeOutage for the header of another block than the expected block */
function headerOf(answer: unknown, expected: { hash: string; height?: bigint }): SeenBlock {
  if (!isRecord(answer)) throw malformed('a block')
  const [number, hash, timestamp] = [countOf(answer.height), hashOf(answer.hash), countOf(answer.time)]
  // The first block has no parent.
  const parentHash = number === 0 ? '' : hashOf(answer.previousblockhash)
  if (number === null || hash === null || timestamp === null || parentHash === null) throw malformed('a block')
  if (hash !== expected.hash || BigInt(number) !== (expected.height ?? BigInt(number))) throw malformed('a block')
  return { number: BigInt(number), hash, parentHash, timestamp: BigInt(timestamp) }
}

function transactionOf(answer: unknown, parameters: UtxoParameters): UtxoTransaction {
  if (!isRecord(answer) || !Array.isArray(answer.vin) || !Array.isArray(answer.vout)) throw malformed('a transaction')
  const hash = hashOf(answer.txid)
  if (hash === null) throw malformed('a transaction')
  const spends = answer.vin.filter(isOfChain).flatMap((input: unknown) => {
    if (isRecord(input) && 'coinbase' in input) return []
    const [txHash, index] = isRecord(input) ? [hashOf(input.txid), countOf(input.vout)] : [null, null]
    if (txHash === null || index === null) throw malformed('an input')
    return [{ txHash, index }]
  })
  const outputs = answer.vout.filter(isOfChain).map((output: unknown, index) => {
    if (!isRecord(output) || !isRecord(output.scriptPubKey)) throw malformed('an output')
    const [amount, { hex }] = [amountOf(output.value), output.scriptPubKey]
    // An output is found and spent by its place, so the place in the list must be the number that the node names.
    if (output.n !== index || amount === null || typeof hex !== 'string' || !bytes.test(hex))
      throw malformed('an output')
    return { index, amount, address: addressOfScript(Buffer.from(hex, 'hex'), parameters) }
  })
  return { hash, spends, outputs }
}

const bytes = /^(?:[0-9a-f]{2})*$/

/** Litecoin nodes list the parts of an extension block (MWEB), too. They have no amount and no script. */
const isOfChain = (part: unknown): boolean => !isRecord(part) || part.ismweb !== true

/** The code of a transaction that a node does not know, and of a block that it does not have. */
const unknownCode = -5

/** Looks up a transaction in blocks and in the pool; null when the node does not know it. */
export async function findTransaction({ rpc, parameters }: Source, hash: string): Promise<FoundTransaction | null> {
  try {
    const answer = await rpc.call('getrawtransaction', [hash, true])
    const transaction = transactionOf(answer, parameters)
    if (transaction.hash !== hash) throw malformed('a transaction')
    const block = isRecord(answer) ? answer.blockhash : undefined
    const blockHash = block === undefined ? null : hashOf(block)
    if (block !== undefined && blockHash === null) throw malformed('a transaction')
    return { ...transaction, blockHash }
  } catch (error) {
    if (error instanceof NodeRefusal && error.code === unknownCode) return null
    throw error
  }
}

/** Finds the block with this hash; null for a block that the chain has left, which the index of the node may still name. */
export async function findBlock({ rpc }: Source, hash: string): Promise<SeenBlock | null> {
  const answer = await rpc.call('getblockheader', [hash])
  if (!isRecord(answer)) throw malformed('a block')
  return typeof answer.confirmations === 'number' && answer.confirmations > 0 ? headerOf(answer, { hash }) : null
}
