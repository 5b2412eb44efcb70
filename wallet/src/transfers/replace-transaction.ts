import type pg from 'pg'
import { keccak256, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { aboveFeeLimit } from '../authority/journal.ts'
import { toText } from '../authority/refusal.ts'
import type { AuthorityStore } from '../authority/store.ts'
import { claimSigning, type Fees, readSignedFees, refusalOfStored } from '../authority/verify-stored.ts'
import { defaultFeeLevel, type FeeCaps, replacementCaps, unsignedLimitOf } from '../chains/fee-caps.ts'
import type { Chain, Opening } from '../chains/open-chain.ts'
import {
  callOf,
  estimateGas,
  type Movement,
  plainTransferGas,
  readGasPrice,
  withReserve,
} from '../chains/price-transfer.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { WalletError } from '../errors.ts'
import type { Keyring } from '../keys/keyring.ts'
import { variantsMax } from '../limits.ts'
import type { Replacement, ReplacementQuote } from '../protocol.ts'
import { readCommittedCost, readOpening } from './committed-cost.ts'
import { readAmount } from './order-transfer.ts'
import { movementOf } from './plan-transfers.ts'
import { failUnsigned, lockNonce, openAccount } from './sign-transfers.ts'
import { listTransactions, storeTransaction, type Transaction } from './transactions.ts'
import type { TransferRow } from './transfer-row.ts'

type Parts = { pool: pg.Pool; keyring: Keyring; authorities: AuthorityStore | null; chain: Chain }
type Kind = Transaction['kind']

/**
 * Signs another transaction with the nonce of the transfer's newest one and at least 1/8 more on both fees, and stores it;
 * the sending loop broadcasts it. `payment` repeats what the newest transaction does, `cancellation` moves nothing. Whichever
 * is mined decides, so the amount moves at most once. Nothing happens when the newest transaction is another than the caller
 * knows, so that a repetition starts nothing.
 *
 * @throws 409 with a code and a sentence when it is impossible now
 */
export async function replaceTransaction(
  parts: Parts,
  transfer: TransferRow,
  wanted: Kind,
  { txHash, maxFee }: Replacement,
): Promise<void> {
  const { pool } = parts
  const transactions = (await listTransactions(pool, [transfer]))(transfer)
  const newest = transactions[0]
  if ((txHash?.toLowerCase() ?? null) !== (newest?.hash ?? null)) return
  if (newest === undefined) return await endUnsigned(pool, transfer, wanted)
  const kind = newest.kind === 'cancellation' ? 'cancellation' : wanted
  const permitted = await readPermitted(parts, transfer, kind)
  if ('refusal' in permitted) throw refused(permitted.refusal)
  const limit = maxFee === undefined ? permitted.limit : readAmount(maxFee, 'maxFee')
  if (permitted.isSigned && permitted.limit !== null && limit !== null && limit > permitted.limit)
    throw refused(aboveFeeLimit(permitted.limit.toString()))
  const situation = await readSituation(parts, transfer, { newest, count: transactions.length })
  const plan = await planReplacement(parts, transfer, wanted, { ...situation, limit })
  if ('refusal' in plan) throw refused(plan.refusal)
  const unsigned = plan.kind === 'payment' ? await findUnsigned(parts, transfer) : null
  if (unsigned !== null) throw refused(unsigned)
  const account = await openAccount(parts.keyring, transfer)
  await inTransaction(pool, (tx) => storeReplacement(tx, { account, ...parts }, transfer, { newest, plan }))
}

/** Returns for both replacements the highest possible cost, or the reason for a refusal. */
export async function quoteReplacement(parts: Parts, transfer: TransferRow): Promise<ReplacementQuote> {
  const transactions = (await listTransactions(parts.pool, [transfer]))(transfer)
  const newest = transactions[0]
  if (newest === undefined) {
    const isOpen = transfer.status === 'queued'
    const cancelOnChain = isOpen ? { maxFee: '0' } : { refusal: endedRefusal }
    return { txHash: null, speedUp: { refusal: isOpen ? notSignedRefusal : endedRefusal }, cancelOnChain }
  }
  const situation = await readSituation(parts, transfer, { newest, count: transactions.length })
  const quote = async (kind: Kind) => {
    const permitted = await readPermitted(parts, transfer, newest.kind === 'cancellation' ? newest.kind : kind)
    if ('refusal' in permitted) return permitted
    const { limit, isSigned } = permitted
    const plan = await planReplacement(parts, transfer, kind, { ...situation, limit })
    const isPayment = kind === 'payment' && newest.kind === 'payment'
    const unsigned = isPayment ? await findUnsigned(parts, transfer) : null
    if (unsigned !== null) return { refusal: unsigned }
    if (!('refusal' in plan)) return costOf(plan)
    if (!plan.refusal.startsWith(aboveMaxFee) || (isPayment && isSigned)) return plan
    // A person who may raise the limit needs to know the cost.
    const dearer = await planReplacement(parts, transfer, kind, { ...situation, limit: null })
    return 'refusal' in dearer ? dearer : { ...plan, ...costOf(dearer) }
  }
  return { txHash: newest.hash, speedUp: await quote('payment'), cancelOnChain: await quote('cancellation') }
}

/**
 * Returns the reason for which the signatures do not cover another transaction of the payment. Returns null when they cover
 * it, or when the client is not protected.
 */
async function findUnsigned({ pool, authorities, chain }: Parts, transfer: TransferRow): Promise<string | null> {
  const unauthorized = await refusalOfStored(pool, authorities, chain, transfer)
  return unauthorized === null ? null : `AUTHORIZATION_REFUSED: ${toText(unauthorized)}`
}

/** `limit`: the fee limit for all transactions of the transfer; null when there is no limit. `isSigned`: only a signature raises it. */
type Permitted = { limit: bigint | null; isSigned: boolean }

async function readPermitted(
  { pool, authorities, chain }: Parts,
  transfer: TransferRow,
  kind: Kind,
): Promise<Permitted | { refusal: string }> {
  const signed = await readSignedFees(pool, authorities, chain, transfer)
  if (signed === null) return { limit: limitOf(transfer), isSigned: false }
  if ('refused' in signed) return { refusal: `AUTHORIZATION_REFUSED: ${toText(signed.refused)}` }
  const isFree = kind === 'cancellation' && signed.isCancelled
  return isFree ? { limit: null, isSigned: false } : { limit: signed.limit, isSigned: true }
}

const costOf = ({ gas, caps }: Plan) => ({ maxFee: (gas * caps.maxFeePerGas).toString() })

/** Returns the fee limit of the order, or the limit that a replacement was permitted later; null when there is no limit. */
const limitOf = ({ max_fee }: TransferRow): bigint | null => (max_fee === null ? null : BigInt(max_fee))

const aboveMaxFee = 'ABOVE_MAX_FEE'
const notSignedRefusal = 'NOT_SIGNED: there is no transaction yet that could be replaced'
const endedRefusal = 'ENDED: the transfer is final'
const refused = (refusal: string) => new WalletError(409, 'The transaction cannot be replaced now', refusal)

async function endUnsigned(pool: pg.Pool, transfer: TransferRow, wanted: Kind): Promise<void> {
  if (transfer.status !== 'queued') throw refused(endedRefusal)
  if (wanted === 'payment') throw refused(notSignedRefusal)
  // If it is signed at this moment, the state shows the transaction, which can be named in another request.
  await failUnsigned(pool, transfer, 'CANCELLED: before it was signed')
}

type Situation = Awaited<ReturnType<typeof readSituation>>

async function readSituation(
  { pool, chain }: Parts,
  transfer: TransferRow,
  { newest, count }: { newest: Transaction; count: number },
) {
  const { from_address: address } = transfer
  const opening = await readOpening(pool, transfer)
  const [minedCount, balance, price] = await Promise.all([
    chain.client.getTransactionCount({ address, blockTag: 'latest' }),
    chain.client.getBalance({ address }),
    readGasPrice(chain),
  ])
  return { newest, count, opening, minedCount, balance, price }
}

type Plan = {
  kind: Kind
  movement: Movement
  gas: bigint
  caps: FeeCaps
  maxCost: bigint
  opening: Opening
  balance: bigint
  fees: Fees
}

async function planReplacement(
  { chain }: Parts,
  transfer: TransferRow,
  wanted: Kind,
  { newest, count, opening, minedCount, balance, price, limit }: Situation & { limit: bigint | null },
): Promise<Plan | { refusal: string }> {
  if (transfer.status !== 'queued' && transfer.status !== 'broadcast') return { refusal: endedRefusal }
  const nonce = Number(transfer.nonce)
  if (minedCount > nonce) return { refusal: 'ALREADY_MINED: a transaction with this nonce is in a block' }
  // Only a faster cancellation can follow a cancellation, so that the payment stays cancelled.
  const kind = newest.kind === 'cancellation' ? 'cancellation' : wanted
  if (kind === 'payment' && minedCount < nonce)
    return { refusal: 'EARLIER_FIRST: an earlier transfer of the address must be mined first' }
  if (count >= variantsMax) return { refusal: `TOO_MANY: the transfer has ${count} transactions already` }
  const signed = parseTransaction(newest.raw)
  const replaced = {
    maxFeePerGas: signed.maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: signed.maxPriorityFeePerGas ?? 0n,
  }
  const movement = kind === 'payment' ? movementOf(transfer) : nothing(transfer)
  const gas =
    newest.kind === kind ? (signed.gas ?? plainTransferGas) : withReserve((await estimateGas(chain, movement)).gas)
  const decided = replacementCaps(replaced, transfer.fee_level ?? defaultFeeLevel, { gas, maxFee: limit }, price)
  if ('refusal' in decided) {
    return {
      refusal:
        decided.refusal === 'enough'
          ? 'FEE_HIGH_ENOUGH: the transaction pays far more than what is usual now'
          : `${aboveMaxFee}: a replacement must pay more than the ${limit} that are permitted`,
    }
  }
  const maxCost = callOf(movement).value + gas * decided.caps.maxFeePerGas
  if (balance < maxCost)
    return { refusal: `INSUFFICIENT_FUNDS: the replacement needs ${maxCost}, the address has ${balance}` }
  const fees = { fee: gas * decided.caps.maxFeePerGas, unsignedLimit: unsignedLimitOf(gas, price) }
  return { kind, movement, gas, caps: decided.caps, maxCost, opening, balance, fees }
}

const nothing = ({ from_address }: TransferRow): Movement => ({
  fromAddress: from_address,
  toAddress: from_address,
  contractAddress: null,
  amount: 0n,
})

async function storeReplacement(
  tx: pg.PoolClient,
  { account, authorities, chain }: Omit<Parts, 'pool' | 'keyring'> & { account: PrivateKeyAccount },
  transfer: TransferRow,
  { newest, plan }: { newest: Transaction; plan: Plan },
): Promise<void> {
  const { rows } = await tx.query<TransferRow>(
    `select * from wallet.transfers
     where client_id = $1 and id = $2 and status in ('queued', 'broadcast') and nonce = $3
       and block_number is null for update`,
    [transfer.client_id, transfer.id, transfer.nonce],
  )
  const row = rows[0]
  const current = (await listTransactions(tx, [transfer]))(transfer)[0]
  // Somebody else replaced it, or it ended: the state says so.
  if (row === undefined || current?.hash !== newest.hash) return
  await lockNonce(tx, row)
  const transferCost = BigInt(row.max_cost ?? '0')
  const others = (await readCommittedCost(tx, row, plan.opening)) - transferCost
  if (plan.kind === 'payment' && plan.balance < others + plan.maxCost)
    throw refused('INSUFFICIENT_FUNDS: other transfers of the address may use up its balance')
  const nonce = Number(row.nonce)
  const claimed = await claimSigning(tx, authorities, transfer, { nonce, kind: plan.kind, ...plan.fees })
  if (claimed !== null) throw refused(claimed)
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    nonce,
    gas: plan.gas,
    ...plan.caps,
    ...callOf(plan.movement),
  })
  const transaction = { kind: plan.kind, raw, hash: keccak256(raw) }
  await storeTransaction(tx, row, { transaction, nonce, maxCost: plan.maxCost })
  await tx.query(
    `update wallet.transfers set resend = true, attempts = 0, next_attempt_at = clock_timestamp()
     where client_id = $1 and id = $2`,
    [row.client_id, row.id],
  )
}
