import { type RawBuilder, sql } from 'kysely'
import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import { profileOf } from '../../../access/profile.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import { select } from '../../../db/columns.ts'
import type { Payouts } from '../../../db/types.ts'
import type { Paging, Position } from '../../../lib/cursor.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import type { KeptDecision } from '../../rules/decisions/decision.ts'
import { type ActiveHold, activeHoldOn, isHeld, sharedHoldLock } from '../../rules/holds/active.ts'
import type { Beside } from '../../rules/votes/ballot.ts'
import type { ApprovalState } from '../../rules/votes/compare-approval.ts'
import {
  approvalStateOf,
  approversOf,
  isSubjectVisible,
  type ProfileRow,
  requirementsOf,
} from '../../rules/votes/queries.ts'
import type { ApproverRow, RequirementState } from '../../rules/votes/tally.ts'
import type { Order } from '../orders/load-order.ts'
import type { Payload } from '../orders/payload.ts'
import { type SignedFields, signedFieldsOf } from '../orders/signatures.ts'
import { columnsToDecide, type Decided, type ToDecide } from '../transfers/to-decide.ts'
import type { LoadedRow, Sum } from './payout-rows.ts'
import type { PayoutQuery, PayoutRow, PayoutStatus, Replaces } from './schema.ts'

type PayoutColumns = RowOf<
  Payouts,
  { status: PayoutStatus; sums: Sum[]; decision: KeptDecision; replaces: Static<typeof Replaces> | null }
>

export type PayoutListRow = PayoutColumns & {
  initiator: ProfileRow
  requirements: RequirementState[]
  approvers: ApproverRow[]
}

/** The number of transfers of a payout by status. */
export type TransferCounts = Partial<Record<OperationStatus, number>>

/** Returns a payout that the member may see: as initiator, voter, administrator or auditor. */
export async function findPayout(
  db: Db | Trx,
  member: Member,
  id: string,
): Promise<(PayoutListRow & { transfers: TransferCounts }) | null> {
  const { rows } = await sql<PayoutListRow & { transfers: TransferCounts }>`
    select ${columns}, (
      select coalesce(json_object_agg(s.status, s.count), '{}') from (
        select o.status, count(*) as count from transfers t
        join operations o on o.vault_id = t.vault_id and o.id = t.id
        where t.vault_id = p.vault_id and t.payout_id = p.id group by o.status) s) as transfers
    from payouts p join users i on i.id = p.initiator_id
    where p.vault_id = ${member.vault.id} and p.id = ${id} and ${isSubjectVisible('p', member)}`.execute(db)
  return rows[0] ?? null
}

export async function isPayoutVisible(db: Db | Trx, member: Member, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from payouts p where p.vault_id = ${member.vault.id} and p.id = ${id} and ${isSubjectVisible('p', member)}`.execute(
    db,
  )
  return rows.length > 0
}

/** Returns the payouts that the member may see, newest first; up to one row more than the limit. */
export async function listPayouts(
  db: Db,
  member: Member,
  { status, awaitingMyApproval = false }: Static<typeof PayoutQuery>,
  { after, limit, now }: Paging & { now: Date },
): Promise<PayoutListRow[]> {
  const { rows } = await sql<PayoutListRow>`
    select ${columns} from payouts p join users i on i.id = p.initiator_id
    where p.vault_id = ${member.vault.id} and ${awaitingMyApproval ? awaiting(member, now) : isSubjectVisible('p', member)}
      ${status === undefined ? sql`` : sql`and p.status = ${status}`}
      ${after === null ? sql`` : sql`and (p.created_at, p.id) < (${after.createdAt}, ${after.id})`}
    order by p.created_at desc, p.id desc limit ${limit + 1}`.execute(db)
  return rows
}

const columns = sql`
  p.*, ${profileOf('i')} as initiator, ${requirementsOf(sql.ref('p.vault_id'), sql.ref('p.id'))} as requirements,
  ${approversOf(sql.ref('p.vault_id'), sql.ref('p.id'))} as approvers`

/** SQL: true if the payout waits and the member is in the snapshot of voters, has not voted and is still entitled to vote. */
function awaiting({ userId }: Member, now: Date): RawBuilder<unknown> {
  return sql`p.status = 'awaiting_approval' and p.expires_at > ${now} and exists (
    select from approval_voters v
    join entitled_voters e on e.vault_id = v.vault_id and e.subject_id = v.subject_id and e.user_id = v.user_id
    where v.vault_id = p.vault_id and v.subject_id = p.id and v.user_id = ${userId} and v.decision is null)`
}

/** A row as it is shown, without the values that follow from other columns. */
export type StoredRow = Omit<Static<typeof PayoutRow>, 'transferId' | 'amountDecimal' | 'payloadHash' | keyof Decided> &
  ToDecide & {
    id: string
    decimals: number
    payload_hash: Buffer
    created_at: Date
  }

/** Returns the rows of a payout in their order, up to one more than the limit. The caller has checked that the member sees the payout. */
export async function listRows(
  db: Db,
  member: Member,
  payoutId: string,
  { status, after, limit }: { status?: OperationStatus; after: Position | null; limit: number },
): Promise<StoredRow[]> {
  const vaultId = member.vault.id
  const { rows } = await sql<StoredRow>`
    select t.payout_row as row, t.id, t.external_id as "externalId", o.status,
      o.address_id as "fromAddressId", a.address as "fromAddress", t.to_address as "toAddress",
      o.counterparty_name as "counterpartyName", n.slug as network, o.token_id as "tokenId", k.code as asset, k.decimals,
      o.amount, o.usd_value as "usdValue", o.payment_purpose as "paymentPurpose", o.note, t.payload, t.payload_hash,
      o.tx_hash as "txHash", t.tx_index as "txIndex", t.failure_reason as "failureReason", t.halt_reason as "haltReason", t.created_at,
      ${select(columnsToDecide, { member, subject: 'p' })}
    from transfers t
    join payouts p on p.vault_id = t.vault_id and p.id = t.payout_id
    join operations o on o.vault_id = t.vault_id and o.id = t.id
    join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
    join networks n on n.id = o.network_id
    join tokens k on k.id = o.token_id
    where t.vault_id = ${vaultId} and t.payout_id = ${payoutId}
      ${status === undefined ? sql`` : sql`and o.status = ${status}`}
      ${
        after === null
          ? sql``
          : sql`and t.payout_row > (
              select l.payout_row from transfers l
              where l.vault_id = ${vaultId} and l.id = ${after.id} and l.payout_id = ${payoutId})`
      }
    order by t.payout_row limit ${limit + 1}`.execute(db)
  return rows
}

/** A row of a payout as it was ordered. */
export type OrderedRow = { row: number; externalId: string; payload: Payload; asset: string; decimals: number }

/** Returns the rows of a payout as they were ordered, in their order. The caller has checked that the member ordered the payout. */
export async function listOrderedRows(db: Db | Trx, vaultId: string, payoutId: string): Promise<OrderedRow[]> {
  const { rows } = await sql<OrderedRow>`
    select t.payout_row as row, t.external_id as "externalId", t.payload, k.code as asset, k.decimals
    from transfers t join tokens k on k.id = t.payload ->> 'tokenId'
    where t.vault_id = ${vaultId} and t.payout_id = ${payoutId} order by t.payout_row`.execute(db)
  return rows
}

/** A locked payout. Votes, cancellation and expiry of a payout wait for each other. */
export type LockedPayout = PayoutColumns

export async function lockPayout(
  trx: Trx,
  vaultId: string,
  id: string,
  isVisible: RawBuilder<boolean> = sql`true`,
): Promise<LockedPayout | null> {
  const { rows } = await sql<LockedPayout>`
    select p.* from ${sharedHoldLock(vaultId)} cross join payouts p
    where p.vault_id = ${vaultId} and p.id = ${id} and ${isVisible} for update of p`.execute(trx)
  return rows[0] ?? null
}

/** Locks a payout that the member sees. @throws 404 */
export async function lockVisiblePayout(trx: Trx, member: Member, id: string): Promise<LockedPayout> {
  return orNotFound(await lockPayout(trx, member.vault.id, id, isSubjectVisible('p', member)), 'Payout')
}

/** SQL: true if a transfer of the payout of `alias` is itself held; then the payout stays as it is. */
const hasHeldTransfer = (alias: string) =>
  sql<boolean>`exists (select from transfers t where t.vault_id = ${sql.ref(`${alias}.vault_id`)}
    and t.payout_id = ${sql.ref(`${alias}.id`)} and ${isHeld('transfer', sql.ref('t.vault_id'), sql.ref('t.id'))})`

export async function hasTransferHeld(trx: Trx, { vault_id, id }: LockedPayout): Promise<boolean> {
  const { rows } = await sql<{ is_held: boolean }>`
    select ${hasHeldTransfer('p')} as is_held from payouts p where p.vault_id = ${vault_id} and p.id = ${id}`.execute(
    trx,
  )
  return rows[0]?.is_held === true
}

/** Returns the active hold that concerns each row of a payout, in the order of the rows; null for a row without a hold. */
export async function listHoldsOnRows(
  db: Db | Trx,
  { vaultId, initiatorId }: { vaultId: string; initiatorId: string },
  rows: LoadedRow[],
): Promise<(ActiveHold | null)[]> {
  const column = (read: (order: Order) => string) => sql`${rows.map(({ order }) => read(order))}::text[]`
  const touched = {
    vaultId,
    addressId: sql.ref('r.address_id'),
    to: { networkId: sql.ref('r.network_id'), key: sql.ref('r.key') },
    userIds: [initiatorId],
  }
  const found = await sql<{ hold: ActiveHold | null }>`
    select ${activeHoldOn(touched)} as hold
    from unnest(${column(({ source }) => source.address_id)}, ${column(({ source }) => source.network_id)},
      ${column(({ to }) => to.key)}) with ordinality as r(address_id, network_id, key, n)
    order by r.n`.execute(db)
  return found.rows.map(({ hold }) => hold)
}

export function listDuePayouts(db: Db, now: Date, limit: number): Promise<{ vault_id: string; id: string }[]> {
  return db
    .selectFrom('payouts')
    .select(['vault_id', 'id'])
    .where('status', '=', 'awaiting_approval')
    .where('expires_at', '<=', now)
    .where(sql<boolean>`not ${hasHeldTransfer('payouts')}`)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
}

type UsedId = { external_id: string; payout_id: string; payout_row: number; visible: boolean }

/**
 * Returns the stored rows that have an external id of the new rows, except those of the replaced payout. `visible` is true if the
 * member may see the payout of the row.
 */
export async function listUsedIds(
  db: Db | Trx,
  member: Member,
  rows: LoadedRow[],
  replaced: { payoutId: string } | null,
): Promise<UsedId[]> {
  const ids = rows.map(({ body }) => body.externalId)
  const used = await sql<UsedId>`
    select t.external_id, t.payout_id, t.payout_row, ${isSubjectVisible('p', member)} as visible
    from transfers t join payouts p on p.vault_id = t.vault_id and p.id = t.payout_id
    where t.vault_id = ${member.vault.id} and t.external_id = any(${ids}::text[]) and not t.is_replaced
      and t.payout_id is distinct from ${replaced?.payoutId ?? null}`.execute(db)
  return used.rows
}

/** The columns of a payout that its audit record holds too, with the matching values of its transfers. */
export type StoredPayout = Pick<
  PayoutColumns,
  | 'vault_id'
  | 'id'
  | 'initiator_id'
  | 'status'
  | 'name'
  | 'payment_purpose'
  | 'rows_count'
  | 'sums'
  | 'payload_hash'
  | 'replaces'
  | 'replaced_by'
> & {
  /** The rows of the payout, in their order. */
  rows: { externalId: string; transferId: string; payloadHash: string; order: SignedFields }[]
  approval: ApprovalState
}

/** @param beside a further column, which is JSON */
export async function listStoredPayouts(
  db: Db | Trx,
  vaultId: string,
  ids: string[],
  beside: RawBuilder<unknown> = sql`null`,
): Promise<(StoredPayout & Beside)[]> {
  const { rows } = await sql<StoredPayout & Beside>`
    select p.vault_id, p.id, p.initiator_id, p.status, p.name, p.payment_purpose, p.rows_count, p.sums, p.payload_hash,
      p.replaces, p.replaced_by, (
        select coalesce(json_agg(json_build_object('externalId', t.external_id, 'transferId', t.id,
          'payloadHash', encode(t.payload_hash, 'hex'), 'order', ${signedFieldsOf('t')}) order by t.payout_row), '[]')
        from transfers t where t.vault_id = p.vault_id and t.payout_id = p.id) as rows, ${beside} as beside,
      ${approvalStateOf(sql.ref('p.vault_id'), sql.ref('p.id'))} as approval
    from payouts p where p.vault_id = ${vaultId} and p.id = any(${ids}::text[])`.execute(db)
  return rows
}
