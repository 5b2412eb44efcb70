import { type RawBuilder, sql } from 'kysely'
import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import { isHeldUser } from '../../../access/memberships.ts'
import { type MemberProfile, memberProfile } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { inboxCountMax } from '../../../lib/limits.ts'
import type { RequestAction } from '../../rules/approval-requests/steps.ts'
import type { PreparedStep } from '../../rules/votes/executor.ts'
import { requirementsOf } from '../../rules/votes/queries.ts'
import type { RequirementState, VoteChoice } from '../../rules/votes/tally.ts'
import type { InboxItem, InboxState } from './schema.ts'

type Item = Static<typeof InboxItem>

export type InboxRow = {
  vault_id: string
  id: string
  vault_code: string
  vault_name: string
  initiator: MemberProfile
  /** The time by which the list is ordered: the vote of the caller in `decided`, otherwise the creation. */
  at: Date
  created_at: Date
  expires_at: Date
  payload_hash: Buffer
  decision: VoteChoice | null
  voted_at: Date | null
  requirements: RequirementState[]
  kind: Item['kind']
  status: Item['status']
  transfer: Omit<NonNullable<Item['transfer']>, 'amountDecimal'> | null
  /** The action of an approval request; null for others. */
  action: RequestAction | null
  steps: PreparedStep[] | null
  /** The name of the counterparty or counterparty group that the first step changes; null for others. */
  target_name: string | null
  payout: Item['payout']
}

/** The user and the time. An inbox holds only subjects that the user may read by id: those they vote on and those they requested. */
export type Reader = { userId: string; now: Date }

/** Returns one page of the inbox over all vaults of the user, newest first; up to one row more than the limit. */
export async function listInbox(db: Db, reader: Reader, state: InboxState, page: Paging): Promise<InboxRow[]> {
  const { rows } = await sql<InboxRow>`
    with found as materialized (${subjects[state](reader, page)})
    select f.vault_id, f.id, f.at, v.code as vault_code, v.name as vault_name, ${memberProfile('i')} as initiator,
      case when t.id is not null then 'transfer' when p.id is not null then 'payout' else 'approval_request' end as kind,
      coalesce(o.status, p.status, r.status) as status, coalesce(t.created_at, p.created_at, r.created_at) as created_at,
      coalesce(t.expires_at, p.expires_at, r.expires_at) as expires_at,
      coalesce(t.payload_hash, p.payload_hash, r.payload_hash) as payload_hash, w.decision, w.voted_at,
      ${requirementsOf(sql.ref('f.vault_id'), sql.ref('f.id'))} as requirements,
      r.action, r.steps, coalesce(c.name, g.name) as target_name,
      case when t.id is not null then json_build_object('amount', o.amount::text, 'token',
        json_build_object('id', o.token_id, 'code', k.code, 'symbol', k.symbol, 'decimals', k.decimals), 'network', n.slug,
        'toAddress', t.to_address, 'recipientName', o.counterparty_name, 'usdValue', o.usd_value::text,
        'paymentPurpose', o.payment_purpose) end as transfer,
      case when p.id is not null then json_build_object('name', p.name, 'rows', p.rows_count, 'sums', ${payoutSums}) end as payout
    from found f
    join vaults v on v.id = f.vault_id
    left join operations o on o.vault_id = f.vault_id and o.id = f.id
    left join transfers t on t.vault_id = f.vault_id and t.id = f.id
    left join tokens k on k.id = o.token_id
    left join networks n on n.id = o.network_id
    left join payouts p on p.vault_id = f.vault_id and p.id = f.id
    left join approval_requests r on r.vault_id = f.vault_id and r.id = f.id
    left join counterparties c on c.vault_id = f.vault_id and c.id = r.steps -> 0 ->> 'targetId'
    left join counterparty_groups g on g.vault_id = f.vault_id and g.id = r.steps -> 0 ->> 'targetId'
    left join approval_voters w on w.vault_id = f.vault_id and w.subject_id = f.id and w.user_id = ${reader.userId}
    join users i on i.id = coalesce(o.initiator_id, p.initiator_id, r.initiator_id)
    order by f.at desc, f.id desc`.execute(db)
  return rows
}

/** SQL: the sums that the payout `p` pays, per token; null when there are none. */
const payoutSums = sql`(
  select json_agg(json_build_object('tokenId', s.token_id, 'code', s.code, 'symbol', y.symbol, 'amountDecimal', s.amount)
    order by s.n)
  from rows from (jsonb_to_recordset(p.sums) as ("tokenId" text, asset text, "amountDecimal" text))
    with ordinality as s(token_id, code, amount, n)
  join tokens y on y.id = s.token_id)`

/** Counts the subjects that wait for the vote of the user, up to one more than `inboxCountMax`. */
export async function countWaiting(db: Db, reader: Reader): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (${waitingFor(reader)} limit ${inboxCountMax + 1}) w`.execute(db)
  return rows[0]!.count
}

/** Returns the status of the subject that the member has just voted on. */
export async function findStatus(
  trx: Trx,
  { vault }: Member,
  { kind, id }: { kind: InboxRow['kind']; id: string },
): Promise<InboxRow['status']> {
  const table = sql.table({ transfer: 'operations', payout: 'payouts', approval_request: 'approval_requests' }[kind])
  const { rows } = await sql<{ status: InboxRow['status'] }>`
    select s.status from ${table} s where s.vault_id = ${vault.id} and s.id = ${id}`.execute(trx)
  return rows[0]!.status
}

/**
 * SQL: the vaults that the user is a member of. A user who left a vault, or is held in it, sees nothing of it, not even their
 * own requests.
 */
const vaultsOf = (userId: string) => sql`(
  select distinct m.vault_id from policy_group_memberships m
  where m.user_id = ${userId} and not ${isHeldUser(sql.ref('m.vault_id'), sql.ref('m.user_id'))})`

/**
 * SQL: the subjects that the user may vote on now. It reads the entitlements of the user to open subjects, however much the
 * vaults hold; `open` is an entitlement whose voting was not closed.
 */
const waitingFor = ({ userId, now }: Reader) => sql`
  select w.vault_id, w.subject_id as id, w.created_at as at
  from (
    select distinct e.vault_id, e.subject_id from ${vaultsOf(userId)} m
    join approval_eligibilities e on e.vault_id = m.vault_id and e.user_id = ${userId} and e.held is null
  ) open
  join approval_voters w on w.vault_id = open.vault_id and w.subject_id = open.subject_id and w.user_id = ${userId}
  where w.decision is null
    and exists (select from entitled_voters e
      where e.vault_id = w.vault_id and e.subject_id = w.subject_id and e.user_id = ${userId})
    and (exists (select from transfers t
        where t.vault_id = w.vault_id and t.id = w.subject_id and t.phase = 'waiting' and t.expires_at > ${now})
      or exists (select from approval_requests r
        where r.vault_id = w.vault_id and r.id = w.subject_id and r.status = 'pending' and r.expires_at > ${now})
      or exists (select from payouts p where p.vault_id = w.vault_id and p.id = w.subject_id
        and p.status = 'awaiting_approval' and p.expires_at > ${now}))`

/** SQL: the rows from a position, newest first; `at` and `id` name the columns. */
function pageOf(at: string, id: string, { after, limit }: Paging): RawBuilder<unknown> {
  const [instant, key] = [sql.ref(at), sql.ref(id)]
  const from = after === null ? sql`` : sql`and (${instant}, ${key}) < (${after.createdAt}, ${after.id})`
  return sql`${from} order by ${instant} desc, ${key} desc limit ${limit + 1}`
}

/** SQL: one page of the subjects of each part, as (vault_id, id, at). Each vault contributes at most one page, from an index. */
const subjects: Record<InboxState, (reader: Reader, page: Paging) => RawBuilder<unknown>> = {
  waiting: (reader, page) => sql`
    select f.vault_id, f.id, f.at from (${waitingFor(reader)}) f where true ${pageOf('f.at', 'f.id', page)}`,

  decided: ({ userId }, page) => sql`
    select f.vault_id, f.id, f.at from ${vaultsOf(userId)} m cross join lateral (
      select w.vault_id, w.subject_id as id, w.voted_at as at from approval_voters w
      where w.vault_id = m.vault_id and w.user_id = ${userId} and w.decision is not null
      ${pageOf('w.voted_at', 'w.subject_id', page)}
    ) f where true ${pageOf('f.at', 'f.id', page)}`,

  mine: ({ userId }, page) => sql`
    select f.vault_id, f.id, f.at from ${vaultsOf(userId)} m cross join lateral (
      (select t.vault_id, t.id, t.created_at as at from transfers t
        where t.vault_id = m.vault_id and t.payload ->> 'initiatorId' = ${userId} and t.expires_at is not null
          and t.payout_id is null ${pageOf('t.created_at', 't.id', page)})
      union all
      (select p.vault_id, p.id, p.created_at as at from payouts p
        where p.vault_id = m.vault_id and p.initiator_id = ${userId} and p.expires_at is not null
        ${pageOf('p.created_at', 'p.id', page)})
      union all
      (select r.vault_id, r.id, r.created_at as at from approval_requests r
        where r.vault_id = m.vault_id and r.initiator_id = ${userId} ${pageOf('r.created_at', 'r.id', page)})
    ) f where true ${pageOf('f.at', 'f.id', page)}`,
}
