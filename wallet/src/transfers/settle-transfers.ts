import type pg from 'pg'
import type { Logger } from 'pino'
import { erc20Abi, type Hex, parseEventLogs, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'
import { eachLimited } from '../chains/each-limited.ts'
import type { Chain } from '../chains/open-chain.ts'
import { settleBatchMax } from '../limits.ts'
import { isKnown } from './broadcast-transaction.ts'
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
  await eachLimited(rows, async (row) => {
    const receipt = await findReceipt(parts.chain, row.tx_hash!)
    if (receipt) await settleTransfer(parts, { row, receipt, headBlock, blockTimes })
    else await noteMissing(parts, row)
  })
}

type Settling = {
  row: TransferRow
  receipt: TransactionReceipt
  headBlock: bigint
  blockTimes: Map<bigint, Promise<Date>>
}

async function settleTransfer(
  { pool, chain, log }: Parts,
  { row, receipt, headBlock, blockTimes }: Settling,
): Promise<void> {
  // The receipt may be of a block that was mined after the head was read.
  const confirmations = Number(receipt.blockNumber > headBlock ? 1n : headBlock - receipt.blockNumber + 1n)
  const failureReason = failureOf(row, receipt)
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
         resend = false, updated_at = clock_timestamp()
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
    ],
  )
  if (final && rowCount === 1)
    log.info({ transferId: row.id, txHash: row.tx_hash, failureReason }, `transfer ${status}`)
}

/** A transaction can be mined and still have moved nothing: it reverted, or the token ignored it. */
function failureOf(row: TransferRow, receipt: TransactionReceipt): string | null {
  if (receipt.status === 'reverted') return 'REVERTED: the transaction was mined and reverted; the fee was paid'
  if (row.contract_address === null) return null
  const moved = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs }).some(
    (log) => log.address.toLowerCase() === row.contract_address!.toLowerCase() && log.args.from === row.from_address,
  )
  return moved ? null : 'NOTHING_MOVED: the transaction was mined, but the token reports no transfer from the address'
}

/** Without a receipt the transaction waits in the pool, or the node has lost it and gets the same bytes again. */
async function noteMissing({ pool, chain, log }: Parts, row: TransferRow): Promise<void> {
  const pending = await isKnown(chain, row.tx_hash!)
  if (!pending)
    log.warn({ transferId: row.id, txHash: row.tx_hash }, 'the node does not know the transaction; it is sent again')
  await pool.query(
    `update wallet.transfers
     set fee = null, confirmations = 0, block_number = null, block_time = null, updated_at = clock_timestamp(),
         next_attempt_at = case when $3 and not resend then clock_timestamp() else next_attempt_at end, resend = resend or $3
     where client_id = $1 and id = $2 and status = 'broadcast'`,
    [row.client_id, row.id, !pending],
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
