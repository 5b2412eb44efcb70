import type { FeeLevel, TransferStatus } from '../protocol.ts'
import type { TransferChange } from './change-protocol.ts'

/** A row of wallet.transfers as `pg` returns it: numeric and bigint columns are strings. */
export type TransferRow = {
  client_id: string
  id: string
  network: string
  coin_type: string
  derivation_path: string
  from_address: string
  to_address: string
  contract_address: string | null
  amount: string
  fee_level: FeeLevel | null
  max_fee: string | null
  status: TransferStatus['status']
  nonce: string | null
  raw_transaction: string | null
  tx_hash: string | null
  max_cost: string | null
  resend: boolean
  fee: string | null
  confirmations: number
  block_number: string | null
  block_time: Date | null
  failure_reason: string | null
  attempts: number
  /** The reason of the last attempt that neither signed nor sent it. */
  last_error: string | null
  sequence: string
  created_at: Date
  /** The authorization of the order in a protected client, as it was received: docs/signed-orders.md. */
  signed_order: unknown
}

/** A row with the further columns of an answer. */
export type PresentedRow = TransferRow & {
  tx_hashes: string[]
  waits_for: string | null
} & Depth &
  Place

/** Depth of the block below the newest followed block. It is computed, so that a new block changes no row. */
type Depth = { depth: number }

/** SQL: the column of Depth, for a transfer `t` and the row `f` of wallet.follows for its network. */
export const depthColumn = `case when t.status = 'broadcast' and t.block_number is not null
  then greatest(f.block - t.block_number + 1, 1)::int else t.confirmations end as depth`

/** Of a signed transfer on networks with outputs: the output that all its transactions spend, and if the present one pays the recipient. */
type Place = { anchor: { txHash: string; index: number } | null; pays: boolean | null }

/** SQL: the columns of Place, for a transfer `t`. */
export const placeColumns = `(
    select json_build_object('txHash', a.tx_hash, 'index', a.index) from wallet.transaction_inputs a
    where a.client_id = t.client_id and a.id = t.id and a.number = 0 and a.position = 0
  ) as anchor, (select p.kind = 'payment' from wallet.transactions p where p.tx_hash = t.tx_hash) as pays`

/** The columns of a row that every answer needs, with the number of its last change. */
export type ChangedRow = ShownColumns & { number: string }
type ShownColumns = Pick<
  TransferRow,
  | 'id'
  | 'status'
  | 'tx_hash'
  | 'fee'
  | 'block_time'
  | 'failure_reason'
  | 'network'
  | 'from_address'
  | 'to_address'
  | 'contract_address'
  | 'amount'
> &
  Depth &
  Place

export const toTransferStatus = (row: PresentedRow): TransferStatus => ({
  ...toTransferChange(row),
  txHashes: row.tx_hashes,
  waitsFor: row.waits_for,
  waitingReason: row.status === 'queued' ? row.last_error : null,
})

export function toTransferChange(row: ShownColumns): TransferChange {
  return {
    id: row.id,
    status: row.status,
    txHash: row.tx_hash,
    // The payment is the first output of its transaction.
    ...(row.anchor === null ? {} : { index: row.pays === true ? 0 : null, anchor: row.anchor }),
    fee: row.fee,
    feePaidBy: row.fee === null ? null : row.from_address,
    confirmations: row.depth,
    blockTime: row.block_time?.toISOString() ?? null,
    failureReason: row.failure_reason,
    network: row.network,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    contractAddress: row.contract_address,
    amount: row.amount,
  }
}
