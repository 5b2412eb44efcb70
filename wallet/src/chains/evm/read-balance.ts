import { type Address, erc20Abi } from 'viem'
import { WalletError } from '../../errors.ts'
import type { Node } from './node.ts'
import { isContractFault } from './node-faults.ts'

/** Reads a balance in the smallest unit at the newest block; `contract` null is the coin of the network. */
export async function readBalance(chain: Node, { address, contract }: { address: Address; contract: Address | null }) {
  const blockNumber = await chain.client.getBlockNumber()
  if (contract === null) return { balance: await chain.client.getBalance({ address, blockNumber }), blockNumber }
  try {
    const call = { address: contract, abi: erc20Abi, functionName: 'balanceOf', args: [address], blockNumber } as const
    return { balance: await chain.client.readContract(call), blockNumber }
  } catch (error) {
    if (isContractFault(error))
      throw new WalletError(409, 'The contract reports no balances', 'contract is not an ERC-20 token')
    throw error
  }
}
