import type pg from 'pg'
import { scanBlocksMax } from '../../limits.ts'
import { isNodeError } from '../node-error.ts'
import type { UtxoConfig } from '../settings.ts'
import { bitcoin, litecoin, type UtxoParameters } from './parameters.ts'
import { countOf, hashOf, isRecord, NodeOutage, openRpc, type Rpc } from './rpc.ts'
import type { UtxoBlock } from './utxo-block.ts'

/** One configured network and the client of its node. `reach`, `known`, `scan` and `awaited` are state of the follower. */
export type UtxoNode = UtxoConfig & {
  /** The database. Its tables say which outputs belong to which client; a node cannot. */
  pool: pg.Pool
  network: string
  parameters: UtxoParameters
  rpc: Rpc
  reach: { reachable: boolean; headBlock: bigint | null }
  known: Map<bigint, UtxoBlock>
  scan: { blocksMax: number }
  /** The block up to which deposits must be read before an order may fail that its address cannot pay; null when none is waited for. */
  awaited: bigint | null
}

const parametersOf = { bitcoin, litecoin }

export const openNode = (network: string, config: UtxoConfig, pool: pg.Pool): UtxoNode => ({
  ...config,
  pool,
  network,
  parameters: withReplacement(parametersOf[config.type], config.replacement),
  rpc: openRpc({ url: config.rpcUrl }),
  reach: { reachable: false, headBlock: null },
  known: new Map(),
  scan: { blocksMax: Math.min(scanBlocksMax, 20) },
  awaited: null,
})

const withReplacement = (parameters: UtxoParameters, replacement = parameters.replacement) => ({
  ...parameters,
  replacement,
})

class OtherNetworkError extends NodeOutage {}

/** @throws when the node serves another network; not when it does not answer, because the next pass asks again */
export async function refuseOtherNetwork(node: UtxoNode): Promise<void> {
  try {
    await checkGenesis(node)
  } catch (error) {
    if (error instanceof OtherNetworkError || !isNodeError(error)) throw error
  }
}

async function checkGenesis({ network, rpc, parameters, genesis = parameters.genesis }: Source): Promise<void> {
  const first = hashOf(await rpc.call('getblockhash', [0]))
  if (first === null) throw new NodeOutage('the node answered the hash of a block in another form')
  if (first !== genesis)
    throw new OtherNetworkError(`the node of ${network} serves another network: its first block is ${first}`)
}

/** Reads the height, and after an outage first which network the node serves, and what it has of it. */
export async function readHeight(node: UtxoNode): Promise<bigint> {
  if (!node.reach.reachable) await checkNode(node)
  const height = countOf(await node.rpc.call('getblockcount'))
  if (height === null) throw new NodeOutage('the node answered a height of another form')
  return BigInt(height)
}

type Source = Pick<UtxoNode, 'network' | 'rpc' | 'parameters' | 'genesis'>

/** @throws for a node of another network, and for one that cannot answer about old transactions or is behind */
export async function checkNode(source: Source): Promise<void> {
  const { network, rpc } = source
  const [chain, indexes] = await Promise.all([
    rpc.call('getblockchaininfo'),
    rpc.call('getindexinfo'),
    checkGenesis(source),
  ])
  if (!isRecord(chain) || !isRecord(indexes)) throw new NodeOutage('the node answered its state in another form')
  if (chain.pruned !== false) throw new NodeOutage(`the node of ${network} drops old blocks (prune)`)
  if (countOf(chain.blocks) === null || countOf(chain.blocks) !== countOf(chain.headers))
    throw new NodeOutage(`the node of ${network} has not read all blocks yet`)
  const { txindex } = indexes
  if (!isRecord(txindex) || txindex.synced !== true)
    throw new NodeOutage(`the node of ${network} has no complete index of transactions (txindex)`)
}
