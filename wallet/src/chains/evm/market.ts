import type { Address } from 'viem'
import { marketSeconds } from '../../limits.ts'
import type { Account, Market, Node, Opening } from './node.ts'
import { baseFeeOf, readTip } from './price-transfer.ts'

/**
 * Reads the newest block, and its fees unless they were read at this block. Another program may send with a key of the wallet
 * between two blocks, so the state of a block is kept for ten seconds at most.
 *
 * @throws when the node does not answer, or serves another chain
 */
export async function readMarket(chain: Node): Promise<Market> {
  const block = await chain.batched.getBlock()
  const { market } = chain
  if (market?.hash === block.hash && performance.now() - market.readAt < marketSeconds * 1000) return market
  const [chainId, priorityFeePerGas] = await Promise.all([chain.batched.getChainId(), readTip(chain)])
  if (chainId !== chain.chainId)
    throw new Error(`the node of ${chain.network} serves chain ${chainId}, but ${chain.chainId} is configured`)
  const price = { baseFeePerGas: baseFeeOf(chain, block), priorityFeePerGas }
  chain.market = { hash: block.hash, readAt: performance.now(), price, accounts: new Map() }
  return chain.market
}

/** Reads the balance and the nonce of the address, and keeps them with the block. */
export async function readAccount(
  { batched }: Node,
  { accounts }: Market,
  address: Address,
  opening: Opening,
): Promise<Account> {
  const [balance, chainNonce] = await Promise.all([
    batched.getBalance({ address }),
    batched.getTransactionCount({ address, blockTag: 'pending' }),
  ])
  const account = { balance, chainNonce, opening }
  accounts.set(address, account)
  return account
}
