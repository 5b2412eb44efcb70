import type pg from 'pg'
import type { UtxoConfig } from '../../config.ts'
import { badField } from '../../errors.ts'
import { rememberedBlocksMax } from '../../limits.ts'
import type { FeeLevel } from '../../protocol.ts'
import type { Chain, Payment } from '../chain.ts'
import { readAddress } from './addresses.ts'
import { readBlock } from './blocks.ts'
import { broadcast, isKnown } from './broadcast.ts'
import { openChild } from './child.ts'
import { readFeeRate } from './fees.ts'
import { findInBlocks, findRival, findTransfer, resendLost } from './find-transfers.ts'
import { openKey, type UtxoKey } from './key.ts'
import { giveBack, listCoins, readOwnBalance, storeCoins } from './own-coins.ts'
import { findMined, noteSpent, readRange, readSeenBlocks } from './read-range.ts'
import { readTransaction } from './read-transaction.ts'
import { openReplacement } from './replace-transaction.ts'
import { defaultFeeLevel, openPass, selectFor, signPayment, storePlaces, type UtxoAssigned } from './send.ts'
import type { UtxoBlock } from './utxo-block.ts'
import { openNode, readHeight, type UtxoNode } from './utxo-node.ts'

/** Opens a network of the Bitcoin family. */
export function openChain(network: string, config: UtxoConfig, pool: pg.Pool): UtxoNode & Chain {
  const node = openNode(network, config, pool)
  return Object.assign(node, functionsOf(node))
}

const functionsOf = (node: UtxoNode): Omit<Chain, keyof UtxoNode> => ({
  coinDecimals: 8,
  readAddress: (field, value) => readForm(node, field, value),
  readRecipient: (value) => readForm(node, 'toAddress', value),
  readContract: (field) => refuseContract(field),
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
  openReplacement: (_pool, transfer, replaced) =>
    node.parameters.replacement === 'fee'
      ? openReplacement(node, transfer, replaced)
      : openChild(node, transfer, replaced),
  findRival: (transfer) => findRival(node, transfer),
  readSeenBlocks: (first, last) => readSeenBlocks(node, first, last),
  remember: (blocks: UtxoBlock[]) => remember(node, blocks),
  findInBlocks: (_pool, blocks: UtxoBlock[]) => findInBlocks(node, blocks),
  findTransfer: (_transfer, transactions) => findTransfer(node, transactions),
  resendLost: (_pool, from) => resendLost(node, from),
  readRange: (range) => readRange(node, range),
  noteRange: async (tx, deposits, blocks: UtxoBlock[]) => {
    await storeCoins(tx, node.network, deposits)
    await noteSpent(tx, node.network, blocks)
    await giveBack(tx, node.network)
  },
  findMined: (hash) => findMined(node, hash),
})

function readForm({ network, parameters }: UtxoNode, field: string, value: string): string {
  const read = readAddress(value, parameters)
  if (read === null) throw badField(field, `is no address of ${network} in its main form`)
  return read.address
}

function refuseContract(field: string): never {
  throw badField(field, 'must be null: the network has no contracts')
}

async function estimateFee(node: UtxoNode, payment: Payment, wanted: FeeLevel | undefined) {
  const level = wanted ?? defaultFeeLevel
  const rate = await readFeeRate(node.rpc, level, node, node.parameters)
  if ('refusal' in rate) throw badField('feeLevel', `the node takes ${rate.least} units for 1,000 bytes or more now`)
  const present = await listCoins(node.pool, { network: node.network, from_address: payment.fromAddress })
  const selection = selectFor(node, payment, present, { ...rate, level, maxFee: null })
  if ('refusal' in selection) throw badField('amount', selection.refusal)
  return { fee: selection.fee, maxFee: selection.fee }
}

function remember({ known }: UtxoNode, blocks: UtxoBlock[]): void {
  for (const block of blocks) known.set(block.number, block)
  for (const number of known.keys()) {
    if (known.size <= rememberedBlocksMax) return
    known.delete(number)
  }
}
