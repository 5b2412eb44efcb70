import { type Insertable, type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { assignments, type CompareAndSet, recordsetOf, runParts } from '../../../db/insert-rows.ts'
import type { Operations } from '../../../db/types.ts'
import { conflict } from '../../../lib/errors.ts'
import { usdValueOf } from '../../../lib/money.ts'
import type { FlowType, OperationStatus, OperationType } from '../../../lib/operations.ts'
import type { CounterpartyKind } from '../../address-book/counterparties/queries.ts'
import type { RateColumns, RateSnapshot } from '../../registry/rates/queries.ts'

type OperationCounterparty = { id: string; addressId: string; name: string; kind: CounterpartyKind }

export type NewOperation = {
  vaultId: string
  id: string
  type: OperationType
  status: OperationStatus
  addressId: string
  ownerId: string
  initiatorId: string | null
  networkId: string
  tokenId: string
  amount: bigint
  decimals: number
  /** Null when no rate was fresh enough. */
  rate: RateSnapshot | null
  flowType: FlowType
  /** The counterparty, as the address book holds it now. */
  counterparty: OperationCounterparty | null
  txHash: string | null
  tags: string[]
  paymentPurpose: string | null
  note: string | null
  now: Date
  confirmedAt: Date | null
  blockchainAt: Date | null
}

export function toRateSnapshot(row: RateColumns): RateSnapshot | null {
  if (row.usd_rate === null || row.usd_rate_as_of === null || row.usd_rate_source === null) return null
  return { usdRate: row.usd_rate, asOf: row.usd_rate_as_of, source: row.usd_rate_source }
}

/** Returns the columns that transfers and deposits share. */
export function toOperationRow(operation: NewOperation) {
  return {
    vault_id: operation.vaultId,
    id: operation.id,
    type: operation.type,
    status: operation.status,
    address_id: operation.addressId,
    owner_id: operation.ownerId,
    initiator_id: operation.initiatorId,
    network_id: operation.networkId,
    token_id: operation.tokenId,
    amount: operation.amount.toString(),
    usd_rate: operation.rate?.usdRate ?? null,
    usd_rate_as_of: operation.rate?.asOf ?? null,
    usd_rate_source: operation.rate?.source ?? null,
    usd_value:
      operation.rate === null ? null : usdValueOf(operation.amount, operation.decimals, operation.rate.usdRate),
    flow_type: operation.flowType,
    counterparty_id: operation.counterparty?.id ?? null,
    counterparty_address_id: operation.counterparty?.addressId ?? null,
    counterparty_name: operation.counterparty?.name ?? null,
    counterparty_kind: operation.counterparty?.kind ?? null,
    tx_hash: operation.txHash,
    tags: operation.tags,
    payment_purpose: operation.paymentPurpose,
    note: operation.note,
    created_at: operation.now,
    confirmed_at: operation.confirmedAt,
    blockchain_at: operation.blockchainAt,
    updated_at: operation.now,
  } satisfies Insertable<Operations>
}

type Move = {
  id: string
  from: OperationStatus
  to: OperationStatus
  txHash?: string | null
  blockchainAt?: Date | null
  /** The network fee that the same statement posts. */
  bookedFee?: BookedFee | null
}

/** A network fee that is posted, in the coin of the network, with the rate of that moment; null when no rate is fresh enough. */
export type BookedFee = { amount: bigint; decimals: number; rate: RateSnapshot | null }

/** Returns the columns of a booked fee. Without a rate it has no value. */
const feeColumnsOf = ({ amount, decimals, rate }: BookedFee, now: Date) => ({
  fee_amount: amount.toString(),
  fee_booked_at: now,
  fee_usd_rate: rate?.usdRate ?? null,
  fee_usd_rate_as_of: rate?.asOf ?? null,
  fee_usd_rate_source: rate?.source ?? null,
  fee_usd_value: rate === null ? null : usdValueOf(amount, decimals, rate.usdRate),
})

type Moment = { vaultId: string; now: Date }

const feeColumns = [
  'fee_amount',
  'fee_booked_at',
  'fee_usd_rate',
  'fee_usd_rate_as_of',
  'fee_usd_rate_source',
  'fee_usd_value',
] as const satisfies (keyof ReturnType<typeof feeColumnsOf>)[]

/** Moves the status by compare-and-set; does nothing when another resolution came first. */
export async function moveOperation(trx: Trx, { vaultId, now, ...move }: Move & Moment): Promise<void> {
  await runParts(trx, [operationsMoved({ vaultId, now }, [move]).update])
}

/** SQL: the statement of `moveOperation` for several operations, as a part of another statement. */
export function operationsMoved({ vaultId, now }: Moment, moves: Move[]): CompareAndSet {
  const column = <T>(read: (move: Move) => T) => moves.map(read)
  const fees = moves.flatMap(({ id, bookedFee = null }) =>
    bookedFee === null ? [] : [{ id, ...feeColumnsOf(bookedFee, now) }],
  )
  const hasFees = fees.length > 0
  const update = sql`
    update operations o set status = m.next, updated_at = ${now}, tx_hash = coalesce(m.tx_hash, o.tx_hash),
      blockchain_at = coalesce(m.blockchain_at, o.blockchain_at),
      confirmed_at = case when m.next = 'confirmed' then ${now}::timestamptz else o.confirmed_at end
      ${hasFees ? sql`, ${sql.join(feeColumns.map((name) => sql`${sql.ref(name)} = ${sql.ref(`f.${name}`)}`))}` : sql``}
    from unnest(${column(({ id }) => id)}::text[], ${column(({ from }) => from)}::text[], ${column(({ to }) => to)}::text[],
      ${column(({ txHash = null }) => txHash)}::text[], ${column(({ blockchainAt = null }) => blockchainAt)}::timestamptz[])
      as m (id, status, next, tx_hash, blockchain_at)
    ${hasFees ? sql`left join ${recordsetOf('operations', fees)} f on f.id = m.id` : sql``}
    where o.vault_id = ${vaultId} and o.id = m.id and o.status = m.status returning o.id`
  return {
    update,
    rows: moves.length,
    otherwise: () => conflict('wrong_state', 'The transfer was resolved by someone else'),
  }
}

/** SQL: the update of an operation whose fee is posted after its end. */
export const feeNoted = ({ vaultId, now }: Moment, id: string, fee: BookedFee): RawBuilder<unknown> => sql`
  update operations set ${assignments({ ...feeColumnsOf(fee, now), updated_at: now })} where vault_id = ${vaultId} and id = ${id}`

type RecordedColumns = {
  vaultId: string
  id: string
  status: OperationStatus
  initiatorId: string
  fromAddressId: string
  network: string
  tokenId: string
  amount: string
  now: Date
}

/** Restores the columns of an operation from the audit record of its order, whatever they hold now (threat T56). */
export async function restoreOperation(trx: Trx, recorded: RecordedColumns): Promise<void> {
  await sql`
    update operations set status = ${recorded.status}, initiator_id = ${recorded.initiatorId},
      address_id = ${recorded.fromAddressId}, token_id = ${recorded.tokenId}, amount = ${recorded.amount}::numeric,
      network_id = coalesce((select id from networks where slug = ${recorded.network}), network_id),
      updated_at = ${recorded.now}
    where vault_id = ${recorded.vaultId} and id = ${recorded.id}`.execute(trx)
}

/** Sets the amount of a deposit that two people corrected, and its value at the rate of its time. */
export async function correctOperationAmount(
  trx: Trx,
  { vaultId, id, amount, decimals, now }: { vaultId: string; id: string; amount: string; decimals: number; now: Date },
): Promise<void> {
  const { usd_rate } = await trx
    .selectFrom('operations')
    .select('usd_rate')
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const usd_value = usd_rate === null ? null : usdValueOf(BigInt(amount), decimals, usd_rate)
  await trx
    .updateTable('operations')
    .set({ amount, usd_value, updated_at: now })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .execute()
}

/** SQL: sets the hashes of transactions, which may change until the end. */
export const operationHashesSet = (
  vaultId: string,
  found: { id: string; txHash: string }[],
): RawBuilder<unknown> => sql`
  update operations o set tx_hash = m.tx_hash
  from unnest(${found.map(({ id }) => id)}::text[], ${found.map(({ txHash }) => txHash)}::text[]) as m (id, tx_hash)
  where o.vault_id = ${vaultId} and o.id = m.id`
