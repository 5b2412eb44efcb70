import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, allVisible, isAddressInScope, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import { profileOf } from '../../../access/profile.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { type Columns, select } from '../../../db/columns.ts'
import { isOneOf } from '../../../db/one-of.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { NetworkType } from '../../../lib/onchain-address.ts'
import { type OperationStatus, type Phase, sentPhases } from '../../../lib/operations.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { firstCategoryKey } from '../../operations/categories/rights.ts'
import { type FeedRows, readFeed } from '../../operations/feed/feed.ts'
import type { FeedFilters } from '../../operations/feed/feed-filters.ts'
import type { DetailColumns } from '../../operations/feed/present.ts'
import { isOperationReadable } from '../../operations/feed/queries.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import type { TargetRecord } from '../../record/audit/record.ts'
import { isWithheld } from '../../registry/tokens/withheld.ts'
import type { KeptDecision } from '../../rules/decisions/decision.ts'
import { isHeld, sharedHoldLock } from '../../rules/holds/active.ts'
import type { Facts } from '../../rules/selectors/facts.ts'
import type { Beside } from '../../rules/votes/ballot.ts'
import type { ApprovalState } from '../../rules/votes/compare-approval.ts'
import { approvalStateOf, approversOf, type ProfileRow, requirementsOf, type Votes } from '../../rules/votes/queries.ts'
import type { ApproverRow, RequirementState } from '../../rules/votes/tally.ts'
import type { Payload, StoredPayload } from '../orders/payload.ts'
import { type ShownScreening, screeningOf } from '../screening/queries.ts'
import { columnsToDecide, type ToDecide } from './to-decide.ts'
import { vaultsIn } from './vaults-in-queue.ts'

export type TransferRow = DetailColumns & {
  vault_code: string
  vault_name: string
  from_address: string
  derivation_path: string
  owner_id: string
  initiator_id: string
  initiator: ProfileRow
  status: OperationStatus
  confirmed_at: Date | null
  updated_at: Date
  to_address: string
  to_address_id: string | null
  payload: Payload
  payload_hash: Buffer
  decision: KeptDecision
  decision_policy_id: string | null
  decision_policy_code: string | null
  decision_policy_name: string | null
  approval_threshold: number
  expires_at: Date | null
  phase: Phase
  sent_at: Date | null
  fee: string | null
  fee_usd_value: string | null
  failure_reason: string | null
  halt_reason: string | null
  tx_index: number | null
  replaced_tx_hashes: string[]
  stuck_since: Date | null
  screening: ShownScreening | null
  network_id: string
  payout_id: string | null
  external_id: string | null
  requirements: RequirementState[]
  approvers: ApproverRow[]
}

/** A transfer without its votes. */
export type UnvotedRow = Omit<TransferRow, keyof Votes>

/** SQL: the columns of the rows that `transferSources` joins, for a viewer. */
const columnsWithoutVotes: Columns<UnvotedRow, AddressScope> = {
  id: () => sql`o.id`,
  vault_id: () => sql`o.vault_id`,
  vault_code: () => sql`v.code`,
  vault_name: () => sql`v.name`,
  address_id: () => sql`o.address_id`,
  from_address: () => sql`a.address`,
  derivation_path: () => sql`a.derivation_path`,
  owner_id: () => sql`o.owner_id`,
  initiator_id: () => sql`o.initiator_id`,
  initiator: () => profileOf('i'),
  network: () => sql`n.slug`,
  network_id: () => sql`o.network_id`,
  token_id: () => sql`o.token_id`,
  token_code: () => sql`k.code`,
  token_symbol: () => sql`k.symbol`,
  decimals: () => sql`k.decimals`,
  contract_address: () => sql`t.contract_address`,
  amount: () => sql`o.amount`,
  status: () => sql`o.status`,
  flow_type: () => sql`o.flow_type`,
  counterparty_id: () => sql`o.counterparty_id`,
  counterparty_address_id: () => sql`o.counterparty_address_id`,
  counterparty_name: () => sql`o.counterparty_name`,
  counterparty_kind: () => sql`o.counterparty_kind`,
  tx_hash: () => sql`o.tx_hash`,
  usd_rate: () => sql`trim_scale(o.usd_rate)`,
  usd_rate_as_of: () => sql`o.usd_rate_as_of`,
  usd_rate_source: () => sql`o.usd_rate_source`,
  usd_value: () => sql`o.usd_value`,
  category: (scope) => firstCategoryKey(scope, 'o'),
  tags: () => sql`o.tags`,
  payment_purpose: () => sql`o.payment_purpose`,
  note: () => sql`o.note`,
  created_at: () => sql`o.created_at`,
  confirmed_at: () => sql`o.confirmed_at`,
  updated_at: () => sql`o.updated_at`,
  to_address: () => sql`t.to_address`,
  // The destination, if it is an address of the vault that the viewer may see.
  to_address_id: (scope) => sql`(
    select r.id from addresses r where r.id = t.to_address_id and ${isAddressInScope(allVisible(scope), 'r')})`,
  payload: () => sql`t.payload`,
  payload_hash: () => sql`t.payload_hash`,
  decision: () => sql`t.decision`,
  decision_policy_id: () => sql`t.decision_policy_id`,
  decision_policy_code: () => sql`t.decision_policy_code`,
  decision_policy_name: () => sql`t.decision_policy_name`,
  approval_threshold: () => sql`t.approval_threshold`,
  expires_at: () => sql`t.expires_at`,
  phase: () => sql`t.phase`,
  sent_at: () => sql`t.sent_at`,
  fee: () => sql`t.fee`,
  fee_usd_value: () => sql`o.fee_usd_value`,
  failure_reason: () => sql`t.failure_reason`,
  halt_reason: () => sql`t.halt_reason`,
  tx_index: () => sql`t.tx_index`,
  replaced_tx_hashes: () => sql`t.replaced_tx_hashes`,
  stuck_since: () => sql`t.stuck_since`,
  payout_id: () => sql`t.payout_id`,
  external_id: () => sql`t.external_id`,
  screening: () => screeningOf('transfer', sql.ref('o.vault_id'), sql.ref('o.id')),
}

const transferColumns: Columns<TransferRow, AddressScope> = {
  ...columnsWithoutVotes,
  requirements: () => requirementsOf(sql.ref('o.vault_id'), sql.ref('o.id')),
  approvers: () => approversOf(sql.ref('o.vault_id'), sql.ref('o.id')),
}

const transferSources = sql`
  operations o
  join transfers t on t.vault_id = o.vault_id and t.id = o.id
  join vaults v on v.id = o.vault_id
  join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
  join networks n on n.id = o.network_id join tokens k on k.id = o.token_id join users i on i.id = o.initiator_id`

/** Returns a transfer that the member may see: as initiator, owner or viewer of the source address, approver, or administrator. */
export async function findTransfer(db: Db | Trx, member: Member, id: string): Promise<TransferRow | null> {
  const { rows } = await sql<TransferRow>`${prepared}
    select ${select(transferColumns, visibleScopeOf(member))} from ${transferSources}
    where ${isVisible(member, id)}`.execute(db)
  return rows[0] ?? null
}

/**
 * Returns a transfer as `findTransfer` does, with the facts of the vault about the recipient while it waits for votes. They are
 * for voters only: an initiator could use them to inquire about any address.
 */
export async function findTransferToDecide(
  db: Db,
  member: Member,
  id: string,
): Promise<(TransferRow & ToDecide) | null> {
  const { rows } = await sql<TransferRow & ToDecide>`${prepared}
    select ${select(transferColumns, visibleScopeOf(member))}, ${select(columnsToDecide, { member, subject: 'o' })}
    from ${transferSources} where ${isVisible(member, id)}`.execute(db)
  return rows[0] ?? null
}

function isVisible(member: Member, id: string): RawBuilder<unknown> {
  return sql`o.vault_id = ${member.vault.id} and o.id = ${id} and o.type = 'transfer'
    and ${isOperationReadable(visibleScopeOf(member), 'o')}`
}

/** Returns one page of the transfers that the filters leave in scope, newest first. */
export function listTransfers(
  db: Db,
  scope: AddressScope,
  filters: FeedFilters,
  page: Paging,
): Promise<FeedRows<TransferRow>> {
  return readFeed(db, scope, { ...filters, type: 'transfer' }, page, async (snapshot, ids) => {
    const { rows } = await sql<TransferRow>`
      select ${select(transferColumns, scope)} from ${transferSources}
      where o.vault_id = ${scope.vaultId} and o.id = any(${ids}::text[])`.execute(snapshot)
    return rows
  })
}

/**
 * The mutable part of a locked transfer, with the order rebuilt from the current rows. The statement that reads it takes the
 * shared lock of the holds first.
 */
export type LockedTransfer = {
  vault_id: string
  id: string
  status: OperationStatus
  phase: Phase
  owner_id: string
  initiator_id: string
  address_id: string
  token_id: string
  amount: bigint
  expires_at: Date | null
  next_attempt_at: Date | null
  token_enabled: boolean
  vault_locked: boolean
  payload_hash: Buffer
  wallet_tx_hash: string | null
  /** The part of this transaction that pays the transfer; null if the wallet service does not tell. */
  tx_index: number | null
  /** The earlier hashes of the transfer, oldest first. */
  replaced_tx_hashes: string[]
  halt_reason: string | null
  /** The payout that contains the transfer and its votes; null for a single transfer. */
  payout_id: string | null
  attempts: number
  /** The number of questions to the wallet service without news, since the last news. */
  asked: number
  fee: string | null
  fee_owed: boolean
  /** The address that paid the fee, if it was not the sender. */
  fee_address_id: string | null
  replacement_due: boolean
  network_id: string
  network_type: NetworkType
  /** The order as the tables hold it now. Values that an order may leave out are null. */
  current: StoredPayload
}

export const lockTransfer = async (trx: Trx, vaultId: string, id: string): Promise<LockedTransfer | null> =>
  (await lockWhere(trx, vaultId, sql`o.id = ${id}`))[0] ?? null

/** Locks transfers in the order of their ids. */
export const lockTransfers = (trx: Trx, vaultId: string, ids: string[]): Promise<LockedTransfer[]> =>
  lockWhere(trx, vaultId, sql`o.id = any(${ids}::text[])`)

/** Locks the transfers that may have been sent and have neither ended nor halted, in the order of their ids. Leaves out the others. */
export function lockAnswerable(trx: Trx, vaultId: string, ids: string[]): Promise<LockedTransfer[]> {
  const isSent = sql`o.id = any(${ids}::text[]) and o.status = 'pending' and ${isOneOf('t.phase', sentPhases)}`
  return lockWhere(trx, vaultId, isSent)
}

/** Locks a transfer that the member sees. @throws 404 */
export async function lockVisibleTransfer(trx: Trx, member: Member, id: string): Promise<LockedTransfer> {
  const [transfer] = await lockWhere(trx, member.vault.id, isVisible(member, id))
  return orNotFound(transfer, 'Transfer')
}

/** Locks all transfers of a payout, in the order of their ids. */
export const lockTransfersOf = (trx: Trx, vaultId: string, payoutId: string): Promise<LockedTransfer[]> =>
  lockWhere(trx, vaultId, sql`t.payout_id = ${payoutId}`)

async function lockWhere(trx: Trx, vaultId: string, which: RawBuilder<unknown>): Promise<LockedTransfer[]> {
  const { rows } = await sql<Omit<LockedTransfer, 'amount'> & { amount: string }>`${prepared}
    select o.vault_id, o.id, o.status, t.phase, o.owner_id, o.initiator_id, o.address_id, o.token_id, o.amount, t.expires_at,
      d.next_attempt_at, k.enabled and not ${isWithheld(sql`o.vault_id`, sql`k.id`)} as token_enabled,
      v.locked_at is not null as vault_locked, t.payload_hash,
      t.wallet_tx_hash, t.tx_index, t.replaced_tx_hashes, t.halt_reason, t.payout_id,
      coalesce(d.attempts, 0) as attempts, coalesce(d.asked, 0) as asked, t.fee, t.fee_owed, t.fee_address_id,
      t.replacement_due, n.id as network_id,
      n.type as network_type, ${currentOrder} as current
    from ${sharedHoldLock(vaultId)}
    cross join operations o
    join transfers t on t.vault_id = o.vault_id and t.id = o.id
    join vaults v on v.id = o.vault_id
    join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
    join networks n on n.id = o.network_id
    join tokens k on k.id = o.token_id
    left join lateral (select q.next_attempt_at, q.attempts, q.asked from deliveries q
      where q.vault_id = t.vault_id and q.id = t.id for update) d on true
    where o.vault_id = ${vaultId} and t.vault_id = ${vaultId} and ${which}
    order by o.id
    for update of o, t`.execute(trx)
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
}

/**
 * Returns the transfers that were not approved in time. A transfer of a payout ends with its payout, and a held transfer stays
 * as it is.
 */
export async function listDueApprovals(db: Db, now: Date, limit: number): Promise<{ vault_id: string; id: string }[]> {
  const { rows } = await sql<{ vault_id: string; id: string }>`select d.vault_id, d.id from ${vaultsIn('votes')} v
    join deliveries d on d.queue = 'votes' and d.vault_id = v.vault_id and d.next_attempt_at <= ${now}
    where not ${isHeld('transfer', sql.ref('d.vault_id'), sql.ref('d.id'))} limit ${limit}`.execute(db)
  return rows
}

/** JSON of Payload from the rows, not from the stored payload. The amount is text, because JSON numbers lack the range. */
const currentOrder = sql`json_build_object(
  'transferId', t.id, 'vaultId', t.vault_id, 'initiatorId', o.initiator_id, 'fromAddressId', o.address_id,
  'fromAddress', a.address, 'network', n.slug, 'coinType', n.coin_type, 'derivationPath', a.derivation_path,
  'toAddress', t.to_address, 'tokenId', o.token_id, 'contractAddress', t.contract_address, 'amount', o.amount::text,
  'feeLevel', t.fee_level, 'maxFee', t.max_fee::text)`

/** The columns of a transfer that are compared with its audit records. */
export type StoredOrder = {
  id: string
  /** The status. It and the other columns of `operations` are null when that row is missing. */
  status: OperationStatus | null
  phase: Phase
  current: { [Field in keyof StoredPayload]: StoredPayload[Field] | null }
  payload: Payload
  payload_hash: Buffer
  expires_at: Date | null
  to_address_key: string
  counterparty_id: string | null
  effect: string | null
  facts: Facts | null
  token_code: string | null
  decimals: number | null
  /** The amount that the ledger reserved for it, in raw units. */
  reserved: { amount: string; tokenId: string; addressId: string } | null
  /** The approval of the payout that has the transfer; for a single transfer, its own approval. */
  approval: ApprovalState
  payout_id: string | null
  payout_row: number | null
  external_id: string | null
  /** True if its external id was passed on to the payout that took the place of its payout. */
  is_replaced: boolean
  /** The audit records of the payout. */
  payoutRecords: TargetRecord[]
}

/** @param beside a further column, which is JSON */
export function listStoredOrders(
  db: Db | Trx,
  vaultId: string,
  ids: string[],
  beside: RawBuilder<unknown> = sql`null`,
): Promise<(StoredOrder & Beside)[]> {
  return selectStored(db, vaultId, ids, sql`${beside} as beside`)
}

/** Returns transfers as `listStoredOrders` does, with the columns that are shown to the member. */
export function listShownOrders(
  db: Trx,
  member: Member,
  ids: string[],
  beside: RawBuilder<unknown>,
): Promise<(StoredOrder & UnvotedRow & Beside)[]> {
  const columns = sql`${beside} as beside, ${select(columnsWithoutVotes, visibleScopeOf(member))}`
  return selectStored(db, member.vault.id, ids, columns)
}

/**
 * `more` are further columns, from the rows `t`, `o`, `v`, `a`, `n`, `k` and `i`. Only `t` is always present: rows that were written
 * outside of the service may lack the others.
 */
async function selectStored<More>(
  db: Db | Trx,
  vaultId: string,
  ids: string[],
  more: RawBuilder<unknown>,
): Promise<(StoredOrder & More)[]> {
  const { rows } = await sql<Omit<StoredOrder, 'payoutRecords'> & More>`${prepared}
    select ${more}, t.id, t.payout_id, t.payout_row, t.external_id, t.is_replaced, o.status, t.phase, ${currentOrder} as current,
      t.payload, t.payload_hash, t.expires_at, t.to_address_key, o.counterparty_id,
      t.decision ->> 'effect' as effect, t.decision -> 'facts' as facts, k.code as token_code, k.decimals, (
        select json_build_object('amount', e.amount::text, 'tokenId', e.token_id, 'addressId', d.address_id)
        from ledger_entries e
        join ledger_accounts d on d.vault_id = e.vault_id and d.token_id = e.token_id and d.number = e.debit_account
        where e.vault_id = t.vault_id and e.operation_id = t.id and e.kind = 'reserve') as reserved,
      ${approvalStateOf(sql.ref('t.vault_id'), sql`coalesce(t.payout_id, t.id)`)} as approval
    from transfers t
    left join operations o on o.vault_id = t.vault_id and o.id = t.id
    left join vaults v on v.id = o.vault_id
    left join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
    left join networks n on n.id = o.network_id
    left join tokens k on k.id = o.token_id
    left join users i on i.id = o.initiator_id
    where t.vault_id = ${vaultId} and ${isAmong(ids)}`.execute(db)
  const payoutIds = [...new Set(rows.flatMap(({ payout_id }) => (payout_id === null ? [] : [payout_id])))]
  const records = payoutIds.length === 0 ? [] : await listRecordsOf(db, vaultId, 'payout', payoutIds)
  return rows.map((row) => ({
    ...row,
    payoutRecords: records.filter(({ targetId }) => targetId === row.payout_id),
  }))
}

/** SQL: an equality for a single id. For a list, PostgreSQL expects ten rows and would plan the statement at each execution. */
const isAmong = (ids: string[]) => (ids.length === 1 ? sql`t.id = ${ids[0]}` : sql`t.id = any(${ids}::text[])`)

/** The state of a delivery. */
export type DeliveryState = Pick<
  LockedTransfer,
  'status' | 'phase' | 'halt_reason' | 'wallet_tx_hash' | 'tx_index' | 'replaced_tx_hashes' | 'payout_id'
>

/** Returns the present state of the delivery, without a lock. */
export async function findDeliveryState(db: Db | Trx, vaultId: string, id: string): Promise<DeliveryState | null> {
  const { rows } = await sql<DeliveryState>`
    select o.status, t.phase, t.halt_reason, t.wallet_tx_hash, t.tx_index, t.replaced_tx_hashes, t.payout_id
    from transfers t join operations o on o.vault_id = t.vault_id and o.id = t.id
    where t.vault_id = ${vaultId} and t.id = ${id}`.execute(db)
  return rows[0] ?? null
}
