import type pg from 'pg'
import { erc20Abi, type Hex, parseEventLogs, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'
import type { Transaction } from '../../transfers/transactions.ts'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import type { Found, Mined, Outcome } from '../chain.ts'
import { eachLimited } from '../each-limited.ts'
import type { EvmBlock } from './block.ts'
import type { Node } from './node.ts'
import { feeOf } from './receipt-fee.ts'
import { unlessUnknown } from './seen-block.ts'

type MinedHash = { mined_kind: Transaction['kind'] | null; mined_raw: string | null; mined_hash: string | null }

/**
 * Returns the transfers whose transactions are in the blocks, and the transfers whose nonce was passed although none of their
 * transactions is in the blocks. A signed transaction may be mined although no broadcast of it is recorded.
 */
export async function findInBlocks(
  chain: Node,
  pool: pg.Pool,
  blocks: EvmBlock[],
): Promise<{ mined: Mined[]; passed: TransferRow[] }> {
  const places = new Map<string, { block: EvmBlock; receipt: TransactionReceipt | null }>(
    blocks.flatMap((block) => block.transactions.map(({ hash, receipt }) => [hash, { block, receipt }] as const)),
  )
  const all = blocks.flatMap(({ transactions }) => transactions)
  if (all.length === 0) return { mined: [], passed: [] }
  const { rows } = await pool.query<TransferRow & MinedHash>({
    name: 'find-in-blocks',
    text: `select t.*, v.kind as mined_kind, v.raw_transaction as mined_raw, v.tx_hash as mined_hash
           from (select sender, max(nonce) as nonce from unnest($2::text[], $3::bigint[]) as b (sender, nonce) group by sender) s
           join wallet.in_flight f on f.network = $1 and f.from_address = s.sender and f.nonce <= s.nonce and f.block_number is null
           cross join lateral (
             select * from wallet.transfers
             where client_id = f.client_id and id = f.id and status in ('queued', 'broadcast') and block_number is null offset 0
           ) t
           left join lateral (
             select kind, raw_transaction, tx_hash from wallet.transactions
             where client_id = t.client_id and id = t.id and tx_hash = any($4)
           ) v on true`,
    values: [chain.network, all.map(({ from }) => from), all.map(({ nonce }) => nonce), all.map(({ hash }) => hash)],
  })
  const mined: Mined[] = []
  await eachLimited(
    rows.filter(({ mined_hash }) => mined_hash !== null),
    async ({ mined_kind, mined_raw, mined_hash, ...row }) => {
      const hash = mined_hash!
      const { block, ...seen } = places.get(hash)!
      const receipt = seen.receipt ?? (await chain.client.getTransactionReceipt({ hash: hash as Hex }))
      if (receipt.blockHash !== block.hash) throw new Error(`block ${block.number} was reorganised while it was read`)
      mined.push({ row, block, ...outcomeOf(row, { kind: mined_kind!, raw: mined_raw!, hash }, receipt) })
    },
  )
  return { mined, passed: rows.filter(({ mined_hash }) => mined_hash === null) }
}

/** Looks up the transactions of a transfer, newest first. They share a nonce, so at most one of them is in the chain. */
export async function findTransfer(chain: Node, row: TransferRow, transactions: Transaction[]): Promise<Found> {
  for (const [age, transaction] of transactions.entries()) {
    const hash = transaction.hash as Hex
    const known = await unlessUnknown(chain.batched.getTransaction({ hash }))
    if (known !== null && known.blockNumber === null && age === 0) return 'pending'
    if (known === null || known.blockNumber === null) continue
    const receipt = await findReceipt(chain, hash)
    if (receipt === null) continue
    const { blockNumber, blockHash } = receipt
    return { ...outcomeOf(row, transaction, receipt), blockNumber, blockHash }
  }
  return 'unknown'
}

async function findReceipt(chain: Node, hash: Hex): Promise<TransactionReceipt | null> {
  try {
    return await chain.batched.getTransactionReceipt({ hash })
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return null
    throw error
  }
}

const outcomeOf = (row: TransferRow, transaction: Transaction, receipt: TransactionReceipt): Outcome => ({
  transaction,
  fee: feeOf(receipt),
  failure: failureOf(row, transaction, receipt),
})

/** Returns the reason why a mined transaction moved nothing: it reverted, or the token ignored it. Returns null if it moved funds. */
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
