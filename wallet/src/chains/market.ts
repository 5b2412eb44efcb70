import type { Address, Hex } from 'viem'
import { marketSeconds } from '../limits.ts'
import type { GasPrice } from './fee-caps.ts'
import type { Chain } from './open-chain.ts'
import { baseFeeOf, readTip } from './price-transfer.ts'

/** What is true for all transfers of an address; read after `asOf`, the clock of the database. */
export type Account = { balance: bigint; chainNonce: number; asOf: Date }

/** The newest block, and what was read at it: as long as the node names the same one, balances and fees are as they were. */
export type Market = { hash: Hex; readAt: number; price: GasPrice; accounts: Map<Address, Account> }

/**
 * Asks for the newest block, and for no more than that while it is the one of before. Another wallet may use an address without a
 * new block, so that nothing is kept for long. @throws when the node does not answer, or serves another chain
 */
export async function readMarket(chain: Chain): Promise<Market> {
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

type Asking = { from_address: Address; claimed_at: Date }

/** Reads them anew, and keeps them until there is another block. */
export async function readAccount(
  { batched }: Chain,
  { accounts }: Market,
  { from_address: address, claimed_at: asOf }: Asking,
): Promise<Account> {
  const [balance, chainNonce] = await Promise.all([
    batched.getBalance({ address }),
    batched.getTransactionCount({ address, blockTag: 'pending' }),
  ])
  const account = { balance, chainNonce, asOf }
  accounts.set(address, account)
  return account
}
