import type pg from 'pg'
import { aboveFeeLimit } from '../authority/journal.ts'
import { toText } from '../authority/refusal.ts'
import type { AuthorityStore } from '../authority/store.ts'
import { claimSigning, readSignedFees, refusalOfStored } from '../authority/verify-stored.ts'
import { aboveMaxFee, type Chain, type Key, type Replacement, type ReplacementPlan } from '../chains/chain.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { WalletError } from '../errors.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { ReplacementQuote, Replacement as Wanted } from '../protocol.ts'
import { readAmount } from './order-transfer.ts'
import { failUnsigned, openKey } from './sign-transfers.ts'
import { listTransactions, storeTransaction, type Transaction } from './transactions.ts'
import type { TransferRow } from './transfer-row.ts'

type Parts = { pool: pg.Pool; keyring: Keyring; authorities: AuthorityStore | null; chain: Chain }
type Kind = Exclude<Transaction['kind'], 'child'>

/**
 * Signs another transaction in the place of the transfer's newest one, with a higher fee, and stores it; the sending loop
 * broadcasts it. `payment` repeats what the newest transaction does, `cancellation` moves nothing. Whichever is mined
 * decides, so the amount moves at most once. Nothing happens when the newest transaction is another than the caller
 * knows, so that a repetition starts nothing. A child does not change the newest transaction, so nothing happens either until a block
 * came after the child, which could contain it.
 *
 * @throws 409 with a code and a sentence when it is impossible now
 */
export async function replaceTransaction(
  parts: Parts,
  transfer: TransferRow,
  wanted: Kind,
  { txHash, maxFee }: Wanted,
): Promise<void> {
  const { pool, chain } = parts
  const named = txHash === null ? null : chain.readHash('txHash', txHash)
  const transactions = (await listTransactions(pool, [transfer]))(transfer)
  const newest = newestOf(transactions)
  if (named !== (newest?.hash ?? null)) return
  if (newest === undefined) return await endUnsigned(pool, transfer, wanted)
  if (wanted === 'payment' && (await isChildFresh(pool, transfer, transactions[0]!))) return
  const kind = newest.kind === 'cancellation' ? 'cancellation' : wanted
  const permitted = await readPermitted(parts, transfer, kind)
  if ('refusal' in permitted) throw refused(permitted.refusal)
  const limit = maxFee === undefined ? permitted.limit : readAmount(maxFee, 'maxFee')
  if (permitted.isSigned && permitted.limit !== null && limit !== null && limit > permitted.limit)
    throw refused(aboveFeeLimit(permitted.limit.toString()))
  const replaced = { newest, tip: transactions[0]!, count: transactions.length }
  const replacement = await chain.openReplacement(pool, transfer, replaced)
  const plan = isOpen(transfer) ? await replacement.plan(wanted, limit) : { refusal: endedRefusal }
  if ('refusal' in plan) throw refused(plan.refusal)
  const unsigned = plan.kind !== 'cancellation' ? await findUnsigned(parts, transfer) : null
  if (unsigned !== null) throw refused(unsigned)
  const key = await openKey(parts, transfer)
  await inTransaction(pool, (tx) => storeReplacement(tx, parts, transfer, { key, newest, plan, replacement }))
}

/** Returns true if the transaction is a child that was signed after the newest block was followed. */
async function isChildFresh(pool: pg.Pool, { network }: TransferRow, { kind, hash }: Transaction): Promise<boolean> {
  if (kind !== 'child') return false
  const { rowCount } = await pool.query(
    `select from wallet.transactions v join wallet.follows f on f.network = $1
     where v.tx_hash = $2 and v.created_at > f.updated_at`,
    [network, hash],
  )
  return rowCount === 1
}

/** Returns for both replacements the highest possible cost, or the reason for a refusal. */
export async function quoteReplacement(parts: Parts, transfer: TransferRow): Promise<ReplacementQuote> {
  const transactions = (await listTransactions(parts.pool, [transfer]))(transfer)
  const newest = newestOf(transactions)
  if (newest === undefined) {
    const isQueued = transfer.status === 'queued'
    const cancelOnChain = isQueued ? { maxFee: '0' } : { refusal: endedRefusal }
    return { txHash: null, speedUp: { refusal: isQueued ? notSignedRefusal : endedRefusal }, cancelOnChain }
  }
  const replaced = { newest, tip: transactions[0]!, count: transactions.length }
  const replacement = await parts.chain.openReplacement(parts.pool, transfer, replaced)
  const quote = async (kind: Kind) => {
    const permitted = await readPermitted(parts, transfer, newest.kind === 'cancellation' ? newest.kind : kind)
    if ('refusal' in permitted) return permitted
    const { limit, isSigned } = permitted
    const plan = isOpen(transfer) ? await replacement.plan(kind, limit) : { refusal: endedRefusal }
    const isPayment = kind === 'payment' && newest.kind === 'payment'
    const unsigned = isPayment ? await findUnsigned(parts, transfer) : null
    if (unsigned !== null) return { refusal: unsigned }
    if (!('refusal' in plan)) return costOf(plan)
    if (!plan.refusal.startsWith(aboveMaxFee) || (isPayment && isSigned)) return plan
    // A person who may raise the limit needs to know the cost.
    const dearer = await replacement.plan(kind, null)
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

/** Children come in addition to the transaction that can be replaced. */
const newestOf = (transactions: Transaction[]) => transactions.find(({ kind }) => kind !== 'child')

const isOpen = ({ status }: TransferRow) => status === 'queued' || status === 'broadcast'
const costOf = ({ fees }: ReplacementPlan) => ({ maxFee: fees.fee.toString() })

/** Returns the fee limit of the order, or the limit that a replacement was permitted later; null when there is no limit. */
const limitOf = ({ max_fee }: TransferRow): bigint | null => (max_fee === null ? null : BigInt(max_fee))

const notSignedRefusal = 'NOT_SIGNED: there is no transaction yet that could be replaced'
const endedRefusal = 'ENDED: the transfer is final'
const refused = (refusal: string) => new WalletError(409, 'The transaction cannot be replaced now', refusal)

async function endUnsigned(pool: pg.Pool, transfer: TransferRow, wanted: Kind): Promise<void> {
  if (transfer.status !== 'queued') throw refused(endedRefusal)
  if (wanted === 'payment') throw refused(notSignedRefusal)
  // If it is signed at this moment, the state shows the transaction, which can be named in another request.
  await failUnsigned(pool, transfer, 'CANCELLED: before it was signed')
}

type Storing = { key: Key; newest: Transaction; plan: ReplacementPlan; replacement: Replacement }

async function storeReplacement(
  tx: pg.PoolClient,
  { authorities }: Parts,
  transfer: TransferRow,
  { key, newest, plan, replacement }: Storing,
): Promise<void> {
  const { rows } = await tx.query<TransferRow>(
    `select * from wallet.transfers
     where client_id = $1 and id = $2 and status in ('queued', 'broadcast') and nonce = $3
       and block_number is null for update`,
    [transfer.client_id, transfer.id, transfer.nonce],
  )
  const row = rows[0]
  const current = newestOf((await listTransactions(tx, [transfer]))(transfer))
  // Another request replaced the transaction, or the transfer ended: the answer shows its state.
  if (row === undefined || current?.hash !== newest.hash) return
  const short = await replacement.reserve(tx, plan)
  if (short !== null) throw refused(short)
  const nonce = Number(row.nonce)
  const claimed = await claimSigning(tx, authorities, transfer, {
    nonce,
    kind: plan.kind === 'child' ? 'payment' : plan.kind,
    ...plan.fees,
  })
  if (claimed !== null) throw refused(claimed)
  const transaction = { kind: plan.kind, ...(await replacement.sign(key, plan)) }
  await storeTransaction(tx, row, { transaction, nonce, maxCost: plan.maxCost })
  await replacement.store(tx, plan, transaction)
  await tx.query(
    `update wallet.transfers set resend = true, attempts = 0, next_attempt_at = clock_timestamp()
     where client_id = $1 and id = $2`,
    [row.client_id, row.id],
  )
}
