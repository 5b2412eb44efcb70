import { type Address, erc20Abi, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { toBip32Path } from '../../keys/derivation-path.ts'
import type { FeeLevel } from '../../protocol.ts'
import type { PresentedRow } from '../../transfers/transfer-row.ts'
import type { Chain, Payment, Rival } from '../chain.ts'
import type { EvmConfig } from '../settings.ts'
import { openAccount } from './account.ts'
import { readAddress, readHash, readRecipient } from './addresses.ts'
import type { EvmBlock } from './block.ts'
import { broadcastTransaction, isKnown } from './broadcast-transaction.ts'
import { capsOf, defaultFeeLevel } from './fee-caps.ts'
import { findInBlocks, findTransfer } from './find-transfers.ts'
import { type Node, openNode, readHeight } from './node.ts'
import { type EvmPayment, estimateGas, readGasPrice } from './price-transfer.ts'
import { readBalance } from './read-balance.ts'
import { readDecimals } from './read-decimals.ts'
import { findMined, readRange } from './read-range.ts'
import { findNonceUse, readTransaction } from './read-transaction.ts'
import { openReplacement } from './replace-transaction.ts'
import { resendLostTransfers } from './resend-lost-transfers.ts'
import { readSeenBlocks, rememberBlocks } from './seen-block.ts'
import { type AssignedGas, openPass, signPayment } from './send.ts'
import { watchHeads } from './watch-heads.ts'

/** Opens a network of the Ethereum family (EIP-1559). */
export function openChain(network: string, config: EvmConfig): Node & Chain {
  const node = openNode(network, config)
  return Object.assign(node, functionsOf(node))
}

/** The functions receive only addresses and hashes that this family has parsed or stored, so the casts of types are safe. */
const functionsOf = (node: Node): Omit<Chain, keyof Node> => ({
  kind: {
    type: 'evm',
    features: { derives: true, signsAddresses: false, replacement: 'fee', feePayer: false, shared: false },
  },
  coinType: null,
  coinDecimals: 18,
  hasSignedOrders: true,
  readAddress,
  readRecipient,
  readContract: readAddress,
  readHash,
  checkPayment: () => undefined,
  accountOf: (path) => ({ bip32Path: toBip32Path(path), script: null }),
  refuseOtherNetwork: async () => undefined,
  readHeight: () => readHeight(node),
  readBlock: (blockNumber) => node.client.getBlock({ blockNumber }),
  readBalance: ({ address, contract }) =>
    readBalance(node, { address: address as Address, contract: contract as Address | null }),
  readDecimals: (contract) =>
    node.client.readContract({ address: contract as Address, abi: erc20Abi, functionName: 'decimals' }),
  findDecimals: (pool, contract) => readDecimals(pool, node, contract as Address),
  estimateFee: (payment, level) => estimateFee(node, payment, level),
  readTransaction: (hash) => readTransaction(node, hash as Hex),
  watchHeads: (log, onHead) => watchHeads(node, log, onHead),
  openKey: openAccount,
  openPass: () => openPass(node),
  signPayment: (key: PrivateKeyAccount, assigned: AssignedGas) => signPayment(node, key, assigned),
  storePlaces: async () => undefined,
  broadcast: (transaction) => broadcastTransaction(node, transaction),
  isKnown: (hash) => isKnown(node, hash),
  openReplacement: (pool, transfer, replaced) => openReplacement(node, pool, transfer, replaced),
  findRival: (transfer) => findRival(node, transfer),
  readSeenBlocks: (first, last) => readSeenBlocks(node, first, last),
  remember: (blocks: EvmBlock[]) => rememberBlocks(node, blocks),
  findInBlocks: (pool, blocks: EvmBlock[]) => findInBlocks(node, pool, blocks),
  findTransfer: (transfer, transactions) => findTransfer(node, transfer, transactions),
  resendLost: (pool) => resendLostTransfers(pool, node),
  readRange: (range) => readRange(node, range),
  noteRange: async () => [],
  findMined: (hash) => findMined(node, hash as Hex),
})

async function estimateFee(node: Node, payment: Payment, level: FeeLevel = defaultFeeLevel) {
  const [{ gas }, price] = await Promise.all([estimateGas(node, payment as EvmPayment), readGasPrice(node)])
  const caps = capsOf(level, price)
  return { fee: gas * (price.baseFeePerGas + caps.maxPriorityFeePerGas), maxFee: gas * caps.maxFeePerGas }
}

/** Finds another final transaction that used the nonce of the transfer. Past blocks are searched only for transfers that were sent. */
async function findRival(node: Node, { status, from_address, nonce, tx_hashes }: PresentedRow): Promise<Rival | null> {
  if (nonce === null || status === 'queued') return null
  const hash = await findNonceUse(node, from_address as Address, Number(nonce))
  return hash === null || tx_hashes.includes(hash) ? null : { hash }
}
