import type pg from 'pg'
import type { FeeLevel } from '../../protocol.ts'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import type { Assigned, Claim, Pass, Payment, Planned, Reserved, Sender, Signable, Signed } from '../chain.ts'
import { moveNonce } from '../nonces.ts'
import { readAddress } from './addresses.ts'
import { assembleTransaction, buildTransaction } from './build.ts'
import { checkTransaction } from './check.ts'
import { type Refusal, type Selection, selectCoins } from './coins.ts'
import { type FeeRate, readFeeRate } from './fees.ts'
import { findDoubt, reasonOfUnknown } from './find-doubt.ts'
import type { UtxoKey } from './key.ts'
import { listCoins, type OwnCoins, storeSpending, takeCoins } from './own-coins.ts'
import { lockSender } from './senders.ts'
import { type Coin, feeOf } from './sizes.ts'
import { checkNode, type UtxoNode } from './utxo-node.ts'

type Rate = FeeRate | { refusal: 'FEE_RATE_MAX'; least: bigint }
type RateOf = (level: FeeLevel | null) => Promise<Rate>
export const defaultFeeLevel: FeeLevel = 'medium'

/** Reads what all payments of a pass share: the node, and the rate of each level once. */
export async function openPass(node: UtxoNode): Promise<Pass> {
  await checkNode(node)
  const rates = new Map<FeeLevel, Promise<Rate>>()
  const rateOf: RateOf = (wanted) => {
    const level = wanted ?? defaultFeeLevel
    if (!rates.has(level)) rates.set(level, readFeeRate(node.rpc, level, node, node.parameters))
    return rates.get(level)!
  }
  return {
    async openSender(pool, first): Promise<Sender> {
      const present = await listCoins(pool, first)
      return {
        plan: async (transfer) => planPayment(node, transfer, present, await rateOf(transfer.fee_level)),
        reserve: (tx, wanted, claim) => reserveCoins(tx, node, { first, wanted, claim, rateOf }),
        findDoubt: (db) => findDoubt(node, db, first),
        forget: () => undefined,
      }
    },
  }
}

/** Plans a payment. The outputs are selected again when they are taken, because other payments may take some of them first. */
function planPayment(node: UtxoNode, transfer: TransferRow, present: OwnCoins, rate: Rate): Planned {
  if ('refusal' in rate) return { kind: 'tooDear', reason: reasonOfRate(node, rate.least) }
  const selection = selectFor(node, paymentOf(transfer), present, {
    ...rate,
    level: transfer.fee_level,
    maxFee: limitOf(transfer),
  })
  if (!('refusal' in selection)) return { kind: 'possible', ...planOf(node, transfer, selection) }
  return refusalOf(selection, present)
}

const reasonOfRate = ({ feeRateMax }: UtxoNode, least: bigint) =>
  `ABOVE_MAX_FEE: the node takes ${least} units for 1,000 bytes or more now, and the settings permit ${feeRateMax}`

const limitOf = ({ max_fee }: TransferRow) => (max_fee === null ? null : BigInt(max_fee))

const paymentOf = (row: TransferRow): Payment => ({
  fromAddress: row.from_address,
  toAddress: row.to_address,
  contractAddress: null,
  amount: BigInt(row.amount),
})

type Wanted = FeeRate & { level: FeeLevel | null; maxFee: bigint | null }

export function selectFor(
  { parameters, spendMin }: UtxoNode,
  { fromAddress, toAddress, amount }: Payment,
  { coins }: OwnCoins,
  { rate, least, level, maxFee }: Wanted,
): Selection | Refusal {
  const [sender, recipient] = [readAddress(fromAddress, parameters), readAddress(toAddress, parameters)]
  if (sender === null || recipient === null) throw new Error('an address of the transfer is of another network')
  const spending = { amount, script: recipient.script, changeScript: sender.script, feeRate: rate, maxFee }
  const limits = { dustRate: parameters.dustRate, feeRateMin: least, spendMin }
  return selectCoins(coins, { ...spending, gathersSmall: level === 'low' }, limits)
}

const planOf = ({ feeRateMax }: UtxoNode, { amount }: TransferRow, { fee, size }: Selection) => ({
  maxCost: BigInt(amount) + fee,
  fees: { fee, unsignedLimit: feeOf(feeRateMax, size) },
})

function refusalOf(refusal: Refusal, { waiting }: OwnCoins): Exclude<Planned, { kind: 'possible' }> {
  const left =
    'left' in refusal && refusal.left.count > 0
      ? `; ${refusal.left.amount} in ${refusal.left.count} small outputs are left alone`
      : ''
  switch (refusal.refusal) {
    case 'BELOW_DUST':
      return { kind: 'impossible', reason: `BELOW_DUST: the least amount to this address is ${refusal.least}` }
    case 'TOO_MANY_OUTPUTS':
      return { kind: 'impossible', reason: `TOO_MANY_OUTPUTS: one payment can move ${refusal.most} at most${left}` }
    case 'FEE_ABOVE_MAX':
      return { kind: 'tooDear', reason: `ABOVE_MAX_FEE: the fee is ${refusal.least} or more now` }
    case 'INSUFFICIENT_FUNDS': {
      const reason = `INSUFFICIENT_FUNDS: amount and fee need ${refusal.missing} more of the network's coin${left}`
      // Change of payments that are not sent yet may be enough.
      return waiting >= refusal.missing ? { kind: 'tooDear', reason: waitsForChange } : { kind: 'impossible', reason }
    }
  }
}

const waitsForChange = 'earlier transfers of the address may use up its balance'

export type UtxoAssigned = Assigned & { selection: Selection }
type Reserving = { first: TransferRow; wanted: Signable[]; claim: Claim; rateOf: RateOf }

/** Takes outputs for the transfers, one after the other. */
async function reserveCoins(
  tx: pg.PoolClient,
  node: UtxoNode,
  { first, wanted, claim, rateOf }: Reserving,
): Promise<Reserved> {
  const { next, unknown } = await lockSender(tx, first)
  const reserved: { assigned: UtxoAssigned[]; waiting: Reserved['waiting'] } = { assigned: [], waiting: [] }
  if (unknown !== null) {
    const reason = reasonOfUnknown(unknown)
    return { assigned: [], waiting: wanted.map(({ transfer }) => ({ transfer, reason })) }
  }
  const present = await listCoins(tx, first)
  for (const { transfer } of wanted) {
    const rate = await rateOf(transfer.fee_level)
    const limits = { level: transfer.fee_level, maxFee: limitOf(transfer) }
    const selection = 'refusal' in rate ? rate : selectFor(node, paymentOf(transfer), present, { ...rate, ...limits })
    if ('refusal' in selection) {
      reserved.waiting.push({ transfer, reason: waitsForChange })
      continue
    }
    const plan = planOf(node, transfer, selection)
    const nonce = next + reserved.assigned.length
    const reason = await claim(transfer, { nonce, ...plan.fees })
    if (reason !== null) {
      reserved.waiting.push({ transfer, reason })
      continue
    }
    await takeCoins(tx, transfer, selection.coins)
    present.coins = present.coins.filter((coin) => !selection.coins.includes(coin))
    reserved.assigned.push({ transfer, plan, nonce, selection })
  }
  await moveNonce(tx, first, next + reserved.assigned.length)
  return reserved
}

type Signing = { transfer: TransferRow; isPayment: boolean; coins: Coin[]; change: bigint; maxFee: bigint | null }

/** Builds and signs a transaction. @throws when its bytes differ from the order, before anybody stores them */
export async function sign(
  { parameters, feeRateMax }: UtxoNode,
  key: UtxoKey,
  { transfer, isPayment, coins, change, maxFee }: Signing,
): Promise<Signed> {
  const payment = isPayment ? { toAddress: transfer.to_address, amount: BigInt(transfer.amount) } : null
  const unsigned = buildTransaction({ publicKey: key.publicKey, payment, coins, change }, parameters)
  const { raw, txHash } = assembleTransaction(unsigned, unsigned.digests.map(key.sign))
  const ordered = { fromAddress: transfer.from_address, payment, coins, maxFee, feeRateMax }
  const effect = checkTransaction(raw, ordered, parameters)
  if ('fault' in effect) throw new Error(`a transaction differs from its order: ${effect.fault}`)
  return { raw, hash: txHash }
}

export const signPayment = (node: UtxoNode, key: UtxoKey, { transfer, selection }: UtxoAssigned): Promise<Signed> =>
  sign(node, key, { transfer, isPayment: true, maxFee: limitOf(transfer), ...selection })

export async function storePlaces(tx: pg.PoolClient, signed: (UtxoAssigned & Signed)[]): Promise<void> {
  for (const { transfer, selection, hash } of signed) {
    const { coins, change } = selection
    // The payment is the first output, the change the second.
    await storeSpending(tx, { transfer, hash, coins, change: change === 0n ? null : { index: 1, amount: change } })
  }
}
