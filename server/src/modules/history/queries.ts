import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, isOperationInScope } from '../../access/address-scope.ts'
import type { Db } from '../../db/client.ts'
import type { Position } from '../../lib/cursor.ts'

export type HistoryRow = {
  id: string
  type: 'transfer' | 'deposit'
  status: 'awaiting_approval' | 'pending' | 'confirmed' | 'failed' | 'rejected' | 'cancelled'
  network: string
  flow_type: 'internal' | 'external'
  counterparty_id: string | null
  counterparty_name: string | null
  tx_hash: string | null
  amount: string
  token_id: string
  token_code: string
  token_symbol: string
  decimals: number
  address_id: string
  address: string
  label: string | null
  to_address: string | null
  from_address: string | null
  initiator_id: string | null
  fee: string | null
  failure_reason: string | null
  decision_policy_id: string | null
  decision_policy_code: string | null
  approval_threshold: number | null
  approvals_count: number
  usd_rate: string | null
  usd_value: string | null
  usd_rate_source: string | null
  tags: string[]
  payment_purpose: string | null
  note: string | null
  created_at: Date
  confirmed_at: Date | null
}

export type HistoryFilter = {
  /** Set: only transfers of others that wait for this caller's vote, wherever they come from. */
  awaitingApprovalOf: string | null
  direction: 'in' | 'out' | null
  status: HistoryRow['status'] | null
  asset: string | null
  tokenId: string | null
  network: string | null
  addressId: string | null
  flowType: 'internal' | 'external' | null
  counterpartyId: string | null
  counterpartyGroupId: string | null
  counterpartyAddressId: string | null
  decisionPolicyId: string | null
  txHash: string | null
  from: Date | null
  to: Date | null
  after: Position | null
  limit: number
}

/** One page of the feed, newest first; one row more than the limit. The page is found first, its details then. */
export async function listHistory(db: Db, scope: AddressScope, filter: HistoryFilter): Promise<HistoryRow[]> {
  const { rows } = await sql<HistoryRow>`
    with page as (
      select o.* from operations o
      where ${sql.join(conditions(scope, filter), sql` and `)}
      order by o.created_at desc, o.id desc limit ${filter.limit + 1}
    )
    select o.id, o.type, o.status, n.slug as network, o.flow_type, o.counterparty_id, o.counterparty_name, o.tx_hash, o.amount, o.token_id, k.code as token_code,
      k.symbol as token_symbol, k.decimals, o.address_id, a.address, a.label, t.to_address, d.from_address, o.initiator_id,
      t.fee, t.failure_reason, t.decision_policy_id, t.decision_policy_code, t.approval_threshold,
      (select count(*)::int from approval_voters w
        where w.vault_id = o.vault_id and w.subject_id = o.id and w.decision = 'approve') as approvals_count,
      o.usd_rate, o.usd_value, o.usd_rate_source, o.tags, o.payment_purpose, o.note, o.created_at, o.confirmed_at
    from page o
    join networks n on n.id = o.network_id
    join tokens k on k.id = o.token_id
    join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
    left join transfers t on t.vault_id = o.vault_id and t.id = o.id
    left join deposits d on d.vault_id = o.vault_id and d.id = o.id
    order by o.created_at desc, o.id desc`.execute(db)
  return rows
}

function conditions(scope: AddressScope, filter: HistoryFilter): RawBuilder<unknown>[] {
  const all: RawBuilder<unknown>[] = [sql`o.vault_id = ${scope.vaultId}`]
  const add = (value: unknown, condition: RawBuilder<unknown>) => {
    if (value !== null) all.push(condition)
  }
  if (filter.awaitingApprovalOf === null) all.push(isOperationInScope(scope, 'o'))
  else {
    all.push(sql`o.status = 'awaiting_approval' and o.initiator_id <> ${filter.awaitingApprovalOf} and o.id in (
      select v.subject_id from approval_voters v
      where v.vault_id = ${scope.vaultId} and v.user_id = ${filter.awaitingApprovalOf} and v.decision is null
        and exists (select from entitled_voters e
          where e.vault_id = v.vault_id and e.subject_id = v.subject_id and e.user_id = v.user_id))`)
  }
  add(filter.direction, sql`o.type = ${filter.direction === 'in' ? 'deposit' : 'transfer'}`)
  add(filter.status, sql`o.type = 'transfer' and o.status = ${filter.status}`)
  // Codes and slugs are few: their ids are found first, so that no row of the feed is joined to be thrown away.
  add(filter.asset, sql`o.token_id in (select id from tokens where code = ${filter.asset})`)
  add(filter.tokenId, sql`o.token_id = ${filter.tokenId}`)
  add(filter.network, sql`o.network_id = (select id from networks where slug = ${filter.network})`)
  add(filter.addressId, sql`o.address_id = ${filter.addressId}`)
  add(filter.flowType, sql`o.flow_type = ${filter.flowType}`)
  add(filter.counterpartyId, sql`o.counterparty_id = ${filter.counterpartyId}`)
  add(filter.counterpartyAddressId, sql`o.counterparty_address_id = ${filter.counterpartyAddressId}`)
  // By membership as it is now, not as it was.
  add(
    filter.counterpartyGroupId,
    sql`o.counterparty_id in (select g.counterparty_id from counterparty_group_memberships g
      where g.vault_id = ${scope.vaultId} and g.group_id = ${filter.counterpartyGroupId})`,
  )
  add(
    filter.decisionPolicyId,
    sql`exists (select from transfers p where p.vault_id = o.vault_id and p.id = o.id and p.decision_policy_id = ${filter.decisionPolicyId})`,
  )
  add(filter.txHash, sql`o.tx_hash = ${filter.txHash}`)
  add(filter.from, sql`o.created_at >= ${filter.from}`)
  add(filter.to, sql`o.created_at <= ${filter.to}`)
  if (filter.after !== null) all.push(sql`(o.created_at, o.id) < (${filter.after.createdAt}, ${filter.after.id})`)
  return all
}
