import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { tokenGasSeconds } from '../../limits.ts'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import type { Plan, Planned } from '../chain.ts'
import { capsOf, defaultFeeLevel, type FeeCaps, type GasPrice, limitCaps, unsignedLimitOf } from './fee-caps.ts'
import type { Account, Node } from './node.ts'
import { isContractFault, isExecutionFault } from './node-faults.ts'
import { callOf, type EvmPayment, estimateGas, withReserve } from './price-transfer.ts'

export type GasPlan = { kind: 'possible'; gas: bigint } & FeeCaps & Plan
type PlannedGas = GasPlan | Exclude<Planned, { kind: 'possible' }>

/** Asks the node if a transfer succeeds and how much gas it needs, and computes its fees. @throws when the node does not answer */
export async function planTransfer(
  chain: Node,
  transfer: TransferRow,
  { price, account }: { price: GasPrice; account: Account },
): Promise<PlannedGas> {
  const movement = movementOf(transfer)
  const { contractAddress } = movement
  const needed =
    contractAddress === null ? await gasOf(chain, movement) : await gasOfToken(chain, movement, contractAddress)
  if ('refusal' in needed) return { kind: 'impossible', reason: needed.refusal }
  const { gas } = needed
  const value = contractAddress === null ? movement.amount : 0n
  const maxFee = transfer.max_fee === null ? null : BigInt(transfer.max_fee)
  const caps = limitCaps(capsOf(transfer.fee_level ?? defaultFeeLevel, price), { gas, maxFee }, price)
  if (caps === null) {
    const reason = `ABOVE_MAX_FEE: ${gas} gas cost ${gas * price.baseFeePerGas} or more now, and at most ${maxFee} may be paid`
    return { kind: 'tooDear', reason }
  }
  const maxCost = value + gas * caps.maxFeePerGas
  if (account.balance < maxCost) {
    const reason = `INSUFFICIENT_FUNDS: amount and fee need ${maxCost} of the network's coin, the address has ${account.balance}`
    return { kind: 'impossible', reason }
  }
  const fees = { fee: gas * caps.maxFeePerGas, unsignedLimit: unsignedLimitOf(gas, price) }
  return { kind: 'possible', gas, ...caps, maxCost, fees }
}

type Needed = { gas: bigint } | { refusal: string }

async function gasOf(chain: Node, movement: EvmPayment): Promise<Needed> {
  const estimate = await estimateGas(chain, movement)
  return estimate.possible ? { gas: withReserve(estimate.gas) } : { refusal: estimate.reason }
}

/**
 * Returns the gas that another transfer of the token needed within the minute, if a simulation succeeds with it. Otherwise asks for an
 * estimate: a recipient that never had the token needs more gas. Of many transfers at once, the others wait for the first estimate.
 */
async function gasOfToken(chain: Node, movement: EvmPayment, contract: Address): Promise<Needed> {
  const { tokenAsked } = chain
  if (recentGas(chain, contract) === null) {
    const pending = tokenAsked.get(contract)
    if (pending === undefined) {
      const estimate = estimateToken(chain, movement, contract)
      const ended = () => void tokenAsked.delete(contract)
      tokenAsked.set(contract, estimate.then(ended, ended))
      return await estimate
    }
    await pending
  }
  const gas = recentGas(chain, contract)
  if (gas === null) return await estimateToken(chain, movement, contract)
  const answer = await simulate(chain, movement, { contract, gas })
  if (answer === 'moves') return { gas: withReserve(gas) }
  return answer === 'refuses' ? { refusal: tokenRefuses } : await estimateToken(chain, movement, contract)
}

function recentGas({ tokenGas }: Node, contract: Address): bigint | null {
  const recent = tokenGas.get(contract)
  return recent !== undefined && Date.now() < recent.until ? recent.gas : null
}

async function estimateToken(chain: Node, movement: EvmPayment, contract: Address): Promise<Needed> {
  if (recentGas(chain, contract) === null) {
    const code = await chain.batched.getCode({ address: contract })
    if (code === undefined || code === '0x') return { refusal: 'NOT_A_CONTRACT: the contract address has no code' }
  }
  const [estimate, answer] = await Promise.all([estimateGas(chain, movement), simulate(chain, movement, { contract })])
  if (answer === 'refuses') return { refusal: tokenRefuses }
  if (!estimate.possible) return { refusal: estimate.reason }
  noteGas(chain, contract, withCallData(estimate.gas))
  return { gas: withReserve(estimate.gas) }
}

/** The gas for the call data depends a little on the address and the amount. */
const withCallData = (gas: bigint) => (gas * 105n) / 100n

const tokenRefuses = 'TOKEN_REFUSED: the token answers that it would not transfer'

function noteGas(chain: Node, contract: Address, gas: bigint): void {
  const recent = recentGas(chain, contract)
  if (recent !== null && recent >= gas) return
  const until = recent === null ? Date.now() + tokenGasSeconds * 1000 : chain.tokenGas.get(contract)!.until
  chain.tokenGas.set(contract, { gas, until })
}

/** A token that answers false would succeed on chain and move nothing. Some old tokens answer nothing at all. */
async function simulate(
  chain: Node,
  { fromAddress, toAddress, amount }: EvmPayment,
  { contract, gas }: { contract: Address; gas?: bigint },
): Promise<'moves' | 'refuses' | 'fails'> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [toAddress, amount] })
  const limit = gas === undefined ? {} : { gas }
  try {
    const { data: answer } = await chain.batched.call({ account: fromAddress, to: contract, data, ...limit })
    return isFalse(answer) ? 'refuses' : 'moves'
  } catch (error) {
    if (isExecutionFault(error) || isContractFault(error)) return 'fails'
    throw error
  }
}

/** Returns true if the first word is zero. A shorter answer has no first word. */
const isFalse = (answer: Hex | undefined) => answer !== undefined && /^0x0{64}/.test(answer)

export function movementOf(row: TransferRow): EvmPayment {
  return {
    fromAddress: row.from_address as Address,
    toAddress: row.to_address as Address,
    contractAddress: row.contract_address as Address | null,
    amount: BigInt(row.amount),
  }
}

/** Returns the transaction that a wallet signs for a plan, without its nonce. */
export const requestOf = (chain: Node, movement: EvmPayment, plan: GasPlan) =>
  ({
    type: 'eip1559',
    chainId: chain.chainId,
    gas: plan.gas,
    maxFeePerGas: plan.maxFeePerGas,
    maxPriorityFeePerGas: plan.maxPriorityFeePerGas,
    ...callOf(movement),
  }) as const
