import type pg from 'pg'
import type { UtxoConfig } from '../../config.ts'
import { scanBlocksMax } from '../../limits.ts'
import { bitcoin, litecoin, type UtxoParameters } from './parameters.ts'
import { countOf, hashOf, isRecord, NodeOutage, openRpc, type Rpc } from './rpc.ts'
import type { UtxoBlock } from './utxo-block.ts'

/** One configured network and the client of its node. `reach`, `known` and `scan` are state of the follower. */
export type UtxoNode = UtxoConfig & {
  /** Its tables say which outputs belong to whom; a node does not. */
  pool: pg.Pool
  network: string
  parameters: UtxoParameters
  rpc: Rpc
  reach: { reachable: boolean; headBlock: bigint | null }
  known: Map<bigint, UtxoBlock>
  scan: { blocksMax: number }
}

export const openNode = (network: string, config: UtxoConfig, pool: pg.Pool): UtxoNode => ({
  ...config,
  pool,
  network,
  parameters: config.type === 'bitcoin' ? bitcoin : litecoin,
  rpc: openRpc({ url: config.rpcUrl }),
  reach: { reachable: false, headBlock: null },
  known: new Map(),
  scan: { blocksMax: Math.min(scanBlocksMax, 20) },
})

/** Reads the height, and after an outage first which network the node serves, and what it has of it. */
export async function readHeight(node: UtxoNode): Promise<bigint> {
  if (!node.reach.reachable) await checkNode(node)
  const height = countOf(await node.rpc.call('getblockcount'))
  if (height === null) throw new NodeOutage('the node answered a height of another form')
  return BigInt(height)
}

/** @throws for a node of another network, and for one that cannot answer about old transactions or is behind */
export async function checkNode({
  network,
  rpc,
  parameters,
  genesis = parameters.genesis,
}: Pick<UtxoNode, 'network' | 'rpc' | 'parameters' | 'genesis'>): Promise<void> {
  const [first, chain, indexes] = await Promise.all([
    rpc.call('getblockhash', [0]),
    rpc.call('getblockchaininfo'),
    rpc.call('getindexinfo'),
  ])
  if (hashOf(first) !== genesis) throw new NodeOutage(`the node of ${network} serves another network`)
  if (!isRecord(chain) || !isRecord(indexes)) throw new NodeOutage('the node answered its state in another form')
  if (chain.pruned !== false) throw new NodeOutage(`the node of ${network} drops old blocks (prune)`)
  if (countOf(chain.blocks) === null || countOf(chain.blocks) !== countOf(chain.headers))
    throw new NodeOutage(`the node of ${network} has not read all blocks yet`)
  const { txindex } = indexes
  if (!isRecord(txindex) || txindex.synced !== true)
    throw new NodeOutage(`the node of ${network} has no complete index of transactions (txindex)`)
}
