import type pg from 'pg'
import { rememberedBlocksMax } from '../../limits.ts'
import type { Chain } from '../chain.ts'
import type { UtxoConfig } from '../settings.ts'
import { readBlock } from './blocks.ts'
import { broadcast, isKnown } from './broadcast.ts'
import { openChild } from './child.ts'
import { storeSources } from './deposit-sources.ts'
import { estimateFee } from './estimate-fee.ts'
import { findInBlocks, findTransfer, resendLost } from './find-transfers.ts'
import { formsOf, refuseContract } from './forms.ts'
import { openKey, type UtxoKey } from './key.ts'
import { giveBack, readOwnBalance, storeCoins } from './own-coins.ts'
import { findMined, noteSpent, readRange, readSeenBlocks } from './read-range.ts'
import { readTransaction } from './read-transaction.ts'
import { openReplacement } from './replace-transaction.ts'
import { findRival } from './rivals.ts'
import { openPass, signPayment, storePlaces, type UtxoAssigned } from './send.ts'
import { findUnknownSpends } from './unknown-spends.ts'
import type { UtxoBlock } from './utxo-block.ts'
import { openNode, readHeight, refuseOtherNetwork, type UtxoNode } from './utxo-node.ts'

/** Opens a network of the Bitcoin family. */
export function openChain(network: string, config: UtxoConfig, pool: pg.Pool): UtxoNode & Chain {
  const node = openNode(network, config, pool)
  return Object.assign(node, functionsOf(node))
}

const functionsOf = (node: UtxoNode): Omit<Chain, keyof UtxoNode> => ({
  ...formsOf(node),
  refuseOtherNetwork: () => refuseOtherNetwork(node),
  readHeight: () => readHeight(node),
  readBlock: (number) => readBlock(node, number),
  readBalance: async ({ address }) => ({
    blockNumber: await readHeight(node),
    balance: await readOwnBalance(node.pool, node.network, address),
  }),
  readDecimals: async () => refuseContract('contractAddress'),
  findDecimals: async () => null,
  estimateFee: (payment, level) => estimateFee(node, payment, level),
  readTransaction: (hash) => readTransaction(node, hash),
  watchHeads: () => ({ follow: () => undefined, drop: async () => undefined }),
  close: async () => undefined,
  openKey: (keyring, clientId, path) => openKey(node.parameters, keyring, clientId, path),
  openPass: () => openPass(node),
  signPayment: (key: UtxoKey, assigned: UtxoAssigned) => signPayment(node, key, assigned),
  storePlaces,
  broadcast: (transaction) => broadcast(node, transaction),
  isKnown: (hash) => isKnown(node, hash),
  openReplacement: (_pool, transfer, replaced) => {
    // A payment that has a child goes on with children: a replacement would evict it, and with it what it paid for.
    const isReplaced = node.parameters.replacement === 'fee' && replaced.tip.kind !== 'child'
    return isReplaced ? openReplacement(node, transfer, replaced) : openChild(node, transfer, replaced)
  },
  findRival: (transfer) => findRival(node.pool, transfer),
  readSeenBlocks: (first, last) => readSeenBlocks(node, first, last),
  remember: (blocks: UtxoBlock[]) => remember(node, blocks),
  findInBlocks: (_pool, blocks: UtxoBlock[]) => findInBlocks(node, blocks),
  findTransfer: (_transfer, transactions) => findTransfer(node, transactions),
  resendLost: (_pool, from) => resendLost(node, from),
  readRange: (range) => readRange(node, range),
  noteRange: async (tx, deposits, blocks: UtxoBlock[], log) => {
    await storeCoins(tx, node.network, deposits)
    await storeSources(tx, node, deposits, blocks)
    const unknown = await findUnknownSpends(tx, node.network, { blocks, deposits }, log)
    await noteSpent(tx, node.network, blocks)
    await giveBack(tx, node.network)
    return unknown
  },
  findMined: (hash) => findMined(node, hash),
})

function remember({ known }: UtxoNode, blocks: UtxoBlock[]): void {
  for (const block of blocks) known.set(block.number, block)
  for (const number of known.keys()) {
    if (known.size <= rememberedBlocksMax) return
    known.delete(number)
  }
}
