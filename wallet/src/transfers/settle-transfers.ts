import type pg from 'pg'
import type { Logger } from 'pino'
import { erc20Abi, type Hex, parseEventLogs, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'
import { eachLimited } from '../chains/each-limited.ts'
import type { Chain } from '../chains/open-chain.ts'
import { settleBatchMax } from '../limits.ts'
import { isKnown } from './broadcast-transaction.ts'
import { listTransactions, type Transaction } from './transactions.ts'
import type { TransferRow } from './transfer-row.ts'

type Parts = { pool: pg.Pool; chain: Chain; log: Logger }

/** Reads the receipts of broadcast transfers and settles those that are deep enough below `headBlock`. */
export async function settleTransfers(parts: Parts, headBlock: bigint): Promise<void> {
  const { rows } = await parts.pool.query<TransferRow>({
    name: 'transfers-to-settle',
    text: `select * from wallet.transfers where network = $1 and status = 'broadcast'
           order by updated_at, from_address, nonce limit $2`,
    values: [parts.chain.network, settleBatchMax],
  })
  const blockTimes = new Map<bigint, Promise<Date>>()
  if (rows.length === 0) return
  const transactionsOf = await listTransactions(parts.pool, rows)
  await eachLimited(rows, async (row) => {
    const transactions = transactionsOf(row)
    const mined = await findMined(parts.chain, transactions)
    if (mined) await settleTransfer(parts, { row, ...mined, headBlock, blockTimes })
    else await noteMissing(parts, row, transactions[0]!)
  })
}

/** They share a nonce, so at most one of them is in the chain, whichever that is. */
async function findMined(
  chain: Chain,
  transactions: Transaction[],
): Promise<{ transaction: Transaction; receipt: TransactionReceipt } | null> {
  for (const transaction of transactions) {
    const receipt = await findReceipt(chain, transaction.hash)
    if (receipt) return { transaction, receipt }
  }
  return null
}

type Settling = {
  row: TransferRow
  transaction: Transaction
  receipt: TransactionReceipt
  headBlock: bigint
  blockTimes: Map<bigint, Promise<Date>>
}

async function settleTransfer(
  { pool, chain, log }: Parts,
  { row, transaction, receipt, headBlock, blockTimes }: Settling,
): Promise<void> {
  // The receipt may be of a block that was mined after the head was read.
  const confirmations = Number(receipt.blockNumber > headBlock ? 1n : headBlock - receipt.blockNumber + 1n)
  const failureReason = failureOf(row, transaction, receipt)
  const final = confirmations >= chain.confirmations
  const status = final ? (failureReason === null ? 'confirmed' : 'failed') : 'broadcast'
  let blockTime = blockTimes.get(receipt.blockNumber)
  if (!blockTime) {
    blockTime = readBlockTime(chain, receipt.blockNumber)
    blockTimes.set(receipt.blockNumber, blockTime)
  }
  const { rowCount } = await pool.query(
    `update wallet.transfers
     set status = $3, fee = $4, confirmations = $5, block_number = $6, block_time = $7, failure_reason = $8,
         resend = false, raw_transaction = $9, tx_hash = $10, updated_at = clock_timestamp()
     where client_id = $1 and id = $2 and status = 'broadcast'`,
    [
      row.client_id,
      row.id,
      status,
      (receipt.gasUsed * receipt.effectiveGasPrice).toString(),
      confirmations,
      receipt.blockNumber.toString(),
      await blockTime,
      status === 'failed' ? failureReason : null,
      transaction.raw,
      transaction.hash,
    ],
  )
  if (final && rowCount === 1)
    log.info({ transferId: row.id, txHash: transaction.hash, failureReason }, `transfer ${status}`)
}

/** A transaction can be mined and still have moved nothing: it reverted, or the token ignored it. */
function failureOf(row: TransferRow, { kind }: Transaction, receipt: TransactionReceipt): string | null {
  if (kind === 'cancellation')
    return 'CANCELLED: a transaction that moves nothing was mined with the nonce of the transfer'
  if (receipt.status === 'reverted') return 'REVERTED: the transaction was mined and reverted; the fee was paid'
  if (row.contract_address === null) return null
  const moved = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs }).some(
    (log) => log.address.toLowerCase() === row.contract_address!.toLowerCase() && log.args.from === row.from_address,
  )
  return moved ? null : 'NOTHING_MOVED: the transaction was mined, but the token reports no transfer from the address'
}

/** Without a receipt the newest transaction waits in the pool, or the node has lost it and gets the same bytes again. */
async function noteMissing({ pool, chain, log }: Parts, row: TransferRow, { raw, hash }: Transaction): Promise<void> {
  const pending = await isKnown(chain, hash)
  if (!pending)
    log.warn({ transferId: row.id, txHash: hash }, 'the node does not know the transaction; it is sent again')
  // A transaction that was signed since is not overwritten: it is being sent.
  await pool.query(
    `update wallet.transfers
     set fee = null, confirmations = 0, block_number = null, block_time = null, raw_transaction = $4, tx_hash = $5,
         updated_at = clock_timestamp(),
         next_attempt_at = case when $3 and not resend then clock_timestamp() else next_attempt_at end, resend = resend or $3
     where client_id = $1 and id = $2 and status = 'broadcast' and tx_hash = $6`,
    [row.client_id, row.id, !pending, raw, hash, row.tx_hash],
  )
}

async function findReceipt(chain: Chain, hash: Hex): Promise<TransactionReceipt | null> {
  try {
    return await chain.client.getTransactionReceipt({ hash })
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return null
    throw error
  }
}

async function readBlockTime(chain: Chain, blockNumber: bigint): Promise<Date> {
  const { timestamp } = await chain.client.getBlock({ blockNumber })
  return new Date(Number(timestamp) * 1000)
}
