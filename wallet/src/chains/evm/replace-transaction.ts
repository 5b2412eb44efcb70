import type pg from 'pg'
import { type Address, type Hex, keccak256, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { variantsMax } from '../../limits.ts'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import { aboveMaxFee, type Replaced, type Replacement, type ReplacementPlan, type Signed } from '../chain.ts'
import { lockNonce } from '../nonces.ts'
import { readCommittedCost, readOpening } from './committed-cost.ts'
import { defaultFeeLevel, type FeeCaps, replacementCaps, unsignedLimitOf } from './fee-caps.ts'
import type { Node } from './node.ts'
import { movementOf } from './plan-transfers.ts'
import { callOf, type EvmPayment, estimateGas, plainTransferGas, readGasPrice, withReserve } from './price-transfer.ts'

type GasPlan = ReplacementPlan & { payment: EvmPayment; gas: bigint; caps: FeeCaps }

/**
 * A replacement has the nonce of the transfer's newest transaction, and at least 1/8 more on both fees. Whichever of them is mined
 * decides, so the amount moves at most once.
 */
export async function openReplacement(
  chain: Node,
  pool: pg.Pool,
  transfer: TransferRow,
  { newest, count }: Replaced,
): Promise<Replacement> {
  const address = transfer.from_address as Address
  const nonce = Number(transfer.nonce)
  const opening = await readOpening(pool, transfer)
  const [minedCount, balance, price] = await Promise.all([
    chain.client.getTransactionCount({ address, blockTag: 'latest' }),
    chain.client.getBalance({ address }),
    readGasPrice(chain),
  ])

  async function plan(
    wanted: 'payment' | 'cancellation',
    limit: bigint | null,
  ): Promise<GasPlan | { refusal: string }> {
    if (minedCount > nonce) return { refusal: 'ALREADY_MINED: a transaction with this nonce is in a block' }
    // Only a faster cancellation can follow a cancellation, so that the payment stays cancelled.
    const kind = newest.kind === 'cancellation' ? 'cancellation' : wanted
    if (kind === 'payment' && minedCount < nonce)
      return { refusal: 'EARLIER_FIRST: an earlier transfer of the address must be mined first' }
    if (count >= variantsMax) return { refusal: `TOO_MANY: the transfer already has ${count} transactions` }
    const signed = parseTransaction(newest.raw as Hex)
    const replaced = {
      maxFeePerGas: signed.maxFeePerGas ?? 0n,
      maxPriorityFeePerGas: signed.maxPriorityFeePerGas ?? 0n,
    }
    const payment = kind === 'payment' ? movementOf(transfer) : nothing(address)
    const gas =
      newest.kind === kind ? (signed.gas ?? plainTransferGas) : withReserve((await estimateGas(chain, payment)).gas)
    const decided = replacementCaps(replaced, transfer.fee_level ?? defaultFeeLevel, { gas, maxFee: limit }, price)
    if ('refusal' in decided) {
      return {
        refusal:
          decided.refusal === 'enough'
            ? 'FEE_HIGH_ENOUGH: the transaction pays far more than what is usual now'
            : `${aboveMaxFee}: a replacement must pay more than the ${limit} that are permitted`,
      }
    }
    const maxCost = callOf(payment).value + gas * decided.caps.maxFeePerGas
    if (balance < maxCost)
      return { refusal: `INSUFFICIENT_FUNDS: the replacement needs ${maxCost}, the address has ${balance}` }
    const fees = { fee: gas * decided.caps.maxFeePerGas, unsignedLimit: unsignedLimitOf(gas, price) }
    return { kind, payment, gas, caps: decided.caps, maxCost, fees }
  }

  async function reserve(tx: pg.PoolClient, { kind, maxCost }: ReplacementPlan): Promise<string | null> {
    await lockNonce(tx, transfer)
    const others = (await readCommittedCost(tx, transfer, opening)) - BigInt(transfer.max_cost ?? '0')
    if (kind !== 'payment' || balance >= others + maxCost) return null
    return 'INSUFFICIENT_FUNDS: other transfers of the address may use up its balance'
  }

  async function sign(key: PrivateKeyAccount, { gas, caps, payment }: GasPlan): Promise<Signed> {
    const { chainId } = chain
    const raw = await key.signTransaction({ type: 'eip1559', chainId, nonce, gas, ...caps, ...callOf(payment) })
    return { raw, hash: keccak256(raw) }
  }

  return { plan, reserve, sign, store: async () => undefined }
}

const nothing = (address: Address): EvmPayment => ({
  fromAddress: address,
  toAddress: address,
  contractAddress: null,
  amount: 0n,
})
