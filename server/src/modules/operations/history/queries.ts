import { sql } from 'kysely'
import { type AddressScope, allVisible, isAddressInScope } from '../../../access/address-scope.ts'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import { type Db, prepared } from '../../../db/client.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { type NetworkType, parseOnchainAddress } from '../../../lib/onchain-address.ts'
import type { OperationStatus, OperationType } from '../../../lib/operations.ts'
import { findLookAlikes } from '../../address-book/recipients/queries.ts'
import { isDust } from '../../registry/tokens/queries.ts'
import { firstCategoryKey } from '../categories/rights.ts'
import { type FeedRows, readFeed } from '../feed/feed.ts'
import type { FeedFilters, FeedLimits } from '../feed/feed-filters.ts'
import type { OperationColumns } from '../feed/present.ts'

export type HistoryRow = OperationColumns & {
  type: OperationType
  status: OperationStatus
  address: string
  label: string | null
  to_address: string | null
  from_address: string | null
  /** True if the address of the other side resembles a different address that the viewer knows. */
  is_look_alike: boolean
  /** True for a deposit below the dust limit of its token. */
  is_dust: boolean
  initiator_id: string | null
  initiator: MemberProfile | null
  /** The address of the other side, if it is an address of the vault that the viewer sees. */
  other_id: string | null
  other_label: string | null
  expires_at: Date | null
  fee: string | null
  fee_usd_value: string | null
  failure_reason: string | null
  decision_policy_id: string | null
  decision_policy_code: string | null
  approval_threshold: number | null
  approvals_count: number
  payout_id: string | null
  external_id: string | null
  confirmed_at: Date | null
  tx_index: number | null
  /** Set for a deposit that the chain took back. */
  orphaned_at: Date | null
}

const orphanedReason = 'ORPHANED: The chain no longer has the deposit'

/** Returns one page of the feed, newest first. */
export function listHistory(
  db: Db,
  scope: AddressScope,
  filters: FeedFilters,
  page: Paging,
  limits?: FeedLimits,
): Promise<FeedRows<HistoryRow>> {
  return readFeed(db, scope, filters, page, (snapshot, ids) => describe(snapshot, scope, ids), limits)
}

/**
 * Reads the rows of the ids. The statement has two forms, one for administrators and one for members, because planning
 * it takes longer than running it.
 */
async function describe(db: Db, scope: AddressScope, ids: string[]): Promise<HistoryRow[]> {
  const { rows } = await sql<HistoryRow & OtherSide>`${prepared}
    select o.id, o.type, o.status, n.slug as network, o.flow_type, o.counterparty_id, o.counterparty_name, o.tx_hash, o.amount,
      o.token_id, k.code as token_code, k.symbol as token_symbol, k.decimals, o.address_id, a.address, a.label,
      t.to_address, t.to_address_key, d.from_address, coalesce(t.tx_index, d.tx_index) as tx_index,
      n.type as network_type, n.id as network_id, (o.type = 'deposit' and ${isDust('o.amount', 'k')}) as is_dust, o.initiator_id,
      ${profileOfUser(sql`o.initiator_id`)} as initiator, t.expires_at,
      t.fee, o.fee_usd_value, coalesce(t.failure_reason, case when d.orphaned_at is not null then ${orphanedReason} end) as failure_reason,
      d.orphaned_at, t.decision_policy_id, t.decision_policy_code, t.approval_threshold,
      (select count(*)::int from approval_voters w
        where w.vault_id = o.vault_id and w.subject_id = coalesce(t.payout_id, o.id) and w.decision = 'approve') as approvals_count,
      t.payout_id, t.external_id,
      trim_scale(o.usd_rate) as usd_rate, o.usd_value, o.usd_rate_source, ${firstCategoryKey(scope, 'o')} as category,
      o.tags, o.payment_purpose, o.note, o.created_at, o.confirmed_at
    from operations o
    join networks n on n.id = o.network_id
    join tokens k on k.id = o.token_id
    join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
    left join transfers t on t.vault_id = o.vault_id and t.id = o.id
    left join deposits d on d.vault_id = o.vault_id and d.id = o.id
    where o.vault_id = ${scope.vaultId} and o.id = any(${ids}::text[])`.execute(db)
  const otherSides = rows.map((row) => keyOfOtherSide(row))
  const lookAlikes = await findLookAlikes(db, scope, [...new Set(otherSides.filter((key) => key !== null))])
  const within = await findVisibleAddresses(db, scope, rows, otherSides)
  return rows.map((row, i) => {
    const other = within.get(`${row.network_id} ${otherSides[i]}`)
    const is_look_alike = lookAlikes.has(otherSides[i] ?? '')
    return { ...row, is_look_alike, other_id: other?.id ?? null, other_label: other?.label ?? null }
  })
}

/** Returns the addresses of the vault on the other side that the viewer sees, by network and key. */
async function findVisibleAddresses(
  db: Db,
  scope: AddressScope,
  rows: OtherSide[],
  keys: (string | null)[],
): Promise<Map<string, { id: string; label: string | null }>> {
  const uniqueKeys = [...new Set(keys.filter((key) => key !== null))]
  if (uniqueKeys.length === 0) return new Map()
  const networkIds = [...new Set(rows.map(({ network_id }) => network_id))]
  const found = await sql<{ network_id: string; address_key: string; id: string; label: string | null }>`${prepared}
    select r.network_id, r.address_key, r.id, r.label from addresses r
    where r.network_id = any(${networkIds}::text[]) and r.address_key = any(${uniqueKeys}::text[])
      and ${isAddressInScope(allVisible(scope), 'r')}`.execute(db)
  return new Map(found.rows.map(({ network_id, address_key, ...address }) => [`${network_id} ${address_key}`, address]))
}

type OtherSide = {
  network_id: string
  to_address_key: string | null
  from_address: string | null
  network_type: NetworkType
}

function keyOfOtherSide({ to_address_key: recipient, from_address: sender, network_type }: OtherSide): string | null {
  if (recipient !== null || sender === null) return recipient
  return parseOnchainAddress(sender, network_type)?.key ?? sender
}
