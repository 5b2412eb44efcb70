import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { describeNodeError } from '../node-error.ts'
import type { GasPrice } from './fee-caps.ts'
import type { Node } from './node.ts'
import { isExecutionFault, isInsufficientFunds } from './node-faults.ts'

/** A payment whose addresses were read. */
export type EvmPayment = { fromAddress: Address; toAddress: Address; contractAddress: Address | null; amount: bigint }

/** The call that moves the amount: the coin itself, or `transfer` of the token's contract (ERC-20). */
export function callOf({ toAddress, contractAddress, amount }: EvmPayment): { to: Address; value: bigint; data: Hex } {
  if (contractAddress === null) return { to: toAddress, value: amount, data: '0x' }
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [toAddress, amount] })
  return { to: contractAddress, value: 0n, data }
}

type GasEstimate = { possible: true; gas: bigint } | { possible: false; gas: bigint; reason: string }

/**
 * Estimates the gas of a transfer. A refusal by the chain is returned as data with a usual amount of gas.
 * @throws when the node does not answer
 */
export async function estimateGas(chain: Node, movement: EvmPayment): Promise<GasEstimate> {
  const { to, value, data } = callOf(movement)
  const account = movement.fromAddress
  const usualGas = movement.contractAddress === null ? plainTransferGas : tokenTransferGas
  try {
    // Without a block some nodes take the pending one, and execute all that waits for a block first.
    return { possible: true, gas: await chain.batched.estimateGas({ account, to, value, data, blockTag: 'latest' }) }
  } catch (error) {
    if (isInsufficientFunds(error)) {
      return { possible: false, gas: usualGas, reason: 'INSUFFICIENT_FUNDS: the balance does not cover the amount' }
    }
    if (isExecutionFault(error)) {
      return { possible: false, gas: usualGas, reason: `EXECUTION_REVERTED: ${describeNodeError(error)}` }
    }
    throw error
  }
}

/** Reads the price of a unit of gas in wei (EIP-1559) at the newest block. */
export async function readGasPrice(chain: Node): Promise<GasPrice> {
  const [block, priorityFeePerGas] = await Promise.all([chain.batched.getBlock(), readTip(chain)])
  return { baseFeePerGas: baseFeeOf(chain, block), priorityFeePerGas }
}

export const readTip = ({ batched }: Node): Promise<bigint> => batched.estimateMaxPriorityFeePerGas()

/** @throws for a chain without EIP-1559 */
export function baseFeeOf({ network }: Node, { baseFeePerGas }: { baseFeePerGas: bigint | null }): bigint {
  if (baseFeePerGas === null) throw new Error(`${network} has no base fee; only EIP-1559 chains are supported`)
  return baseFeePerGas
}

/** Gas of a transfer of the coin to an address without code. */
export const plainTransferGas = 21_000n
/** Gas of a usual ERC-20 transfer to an address that has not held the token before. */
const tokenTransferGas = 65_000n

/** A plain transfer always costs the same; anything that runs code may cost more than it did in the simulation. */
export const withReserve = (gas: bigint): bigint => (gas === plainTransferGas ? gas : (gas * 12n) / 10n)
