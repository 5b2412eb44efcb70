import { type RawBuilder, sql } from 'kysely'
import type { Static } from 'typebox'
import { isAddressInScope, type Viewer, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import { isAdministrators, isEveryone, isHeldEverywhere, isHeldUser } from '../../../access/memberships.ts'
import { displayNameOf, profileOfUser } from '../../../access/profile.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { isOneOf } from '../../../db/one-of.ts'
import type { Holds } from '../../../db/types.ts'
import { wireTime } from '../../../db/wire-time.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { holdAudienceMax } from '../../../lib/limits.ts'
import { openPhases, sentPhases } from '../../../lib/operations.ts'
import { isHeldSelf, isHoldVisible } from '../../operations/feed/hold-visibility.ts'
import { isOperationReadable } from '../../operations/feed/queries.ts'
import { activeHoldsOn, type HoldOrigin, type HoldSubjectType, type Touched } from '../../rules/holds/active.ts'
import type { Hold, HoldOnPayment, HoldQuery } from './schema.ts'

export type HoldRow = RowOf<Holds, { subject_type: HoldSubjectType; origin: HoldOrigin }>

/** The address and token of a held deposit. */
export type HeldDeposit = { addressId: string; tokenId: string }

/** An active hold, under lock. */
export type LockedHold = HoldRow & { deposit: HeldDeposit | null }

/** A hold as it is shown, without the amount, whose format depends on the token. */
export type ShownHold = Omit<Static<typeof Hold>, 'reserved'> &
  Record<'reserved' | 'code', string | null> & { decimals: number | null; created_at: Date }

/** The viewer of holds; a held user reads the holds on themselves. */
type Reader = Viewer & Pick<Member, 'isHeld'>

export async function findHold(db: Db | Trx, reader: Reader, id: string): Promise<ShownHold | null> {
  const { rows } = await sql<ShownHold>`${selectHolds} where h.id = ${id} and ${isVisible(reader)}`.execute(db)
  return rows[0] ?? null
}

/**
 * Returns one page of the holds that the reader may see, newest first; up to one row more than the limit. Holds that a
 * screening placed and ended by itself are left out, unless one subject is selected: there is one for each deposit.
 */
export async function listHolds(
  db: Db,
  reader: Reader,
  { active, subjectType, subjectId, origin }: Static<typeof HoldQuery>,
  { after, limit }: Paging,
): Promise<ShownHold[]> {
  const { rows } = await sql<ShownHold>`${selectHolds}
    where ${isVisible(reader)}
      ${active === undefined ? sql`` : active ? sql`and h.released_at is null` : sql`and h.released_at is not null`}
      ${subjectType === undefined ? sql`` : sql`and h.subject_type = ${subjectType}`}
      ${subjectId === undefined ? sql`and ${isLasting}` : sql`and h.subject_id = ${subjectId}`}
      ${origin === undefined ? sql`` : sql`and h.origin = ${origin}`}
      ${after === null ? sql`` : sql`and (h.created_at, h.id) < (${after.createdAt}, ${after.id})`}
    order by h.created_at desc, h.id desc limit ${limit + 1}`.execute(db)
  return rows
}

/** SQL: false for a hold that a screening placed and ended by itself. The index of the list has the same condition. */
const isLasting = sql`not (h.origin = 'screening' and h.released_at is not null and h.released_by_id is null)`

/** SQL: the present name of the subject of the hold `h`; null for a transfer or a deposit. */
const nameOfHeld = sql<string | null>`case h.subject_type
  when 'vault' then (select named.name from vaults named where named.id = h.subject_id)
  when 'address' then (select coalesce(named.label, named.address) from addresses named
    where named.vault_id = h.vault_id and named.id = h.subject_id)
  when 'counterparty' then (select named.name from counterparties named
    where named.vault_id = h.vault_id and named.id = h.subject_id)
  when 'user' then (select ${displayNameOf('named')} from users named where named.id = h.subject_id) end`

/** A hold beside the payment that it stops. A reader who may not read the hold learns its kind only. */
export type HoldBeside = Static<typeof HoldOnPayment>

/**
 * SQL: JSON of the active holds that stop a payment, oldest first. A hold that the viewer may not read is left out, unless
 * `decides` is true: a vote would be refused for it, so that its type is not a secret.
 */
export function holdsBeside(touched: Touched, viewer: Viewer, decides: RawBuilder<unknown>): RawBuilder<HoldBeside[]> {
  const hidden = sql`json_build_object('id', null, 'subjectType', h.subject_type, 'subjectId', null, 'subjectName', null,
    'origin', h.origin, 'reason', null, 'placedBy', null, 'createdAt', null)`
  return sql<HoldBeside[]>`(
    select coalesce(json_agg(coalesce(readable.hold, ${hidden}) order by h.created_at, h.id), '[]')
    from ${activeHoldsOn(touched, 'h')}
    left join lateral (
      select json_build_object('id', h.id, 'subjectType', h.subject_type, 'subjectId', h.subject_id,
        'subjectName', ${nameOfHeld}, 'origin', h.origin, 'reason', h.reason,
        'placedBy', ${profileOfUser(sql.ref('h.placed_by_id'))}, 'createdAt', ${wireTime('h.created_at')}) as hold
      where ${isHoldVisible(viewer, 'h')}) readable on true
    where readable.hold is not null or ${decides})`
}

const selectHolds = sql`
  select h.id, h.vault_id as "vaultId", h.subject_type as "subjectType", h.subject_id as "subjectId", h.origin, h.reason,
    h.released_at is null as "isActive", h.reserved, h.handed_over as "handedOverCount", h.created_at,
    h.placed_by_id as "placedById", ${profileOfUser(sql.ref('h.placed_by_id'))} as "placedBy",
    ${wireTime('h.created_at')} as "createdAt", ${wireTime('h.released_at')} as "releasedAt", h.release_reason as "releaseReason",
    ${wireTime('h.ends_at')} as "endsAt", h.because_of_id as "becauseOfId", ${wireTime('h.confirmed_at')} as "confirmedAt",
    h.confirmed_by_id as "confirmedById", ${profileOfUser(sql.ref('h.confirmed_by_id'))} as "confirmedBy",
    h.released_by_id as "releasedById", ${profileOfUser(sql.ref('h.released_by_id'))} as "releasedBy",
    ${nameOfHeld} as "subjectName", k.code, k.decimals
  from holds h
  left join operations o on o.vault_id = h.vault_id and o.id = h.subject_id and h.subject_type = 'deposit'
  left join tokens k on k.id = o.token_id`

const isVisible = (reader: Reader): RawBuilder<boolean> =>
  reader.isHeld ? isHeldSelf(reader, 'h') : isHoldVisible(reader, 'h')

/** The subject of a new hold, as the member sees it. */
export type Subject = {
  name: string
  /** The phase of a transfer; null for other subjects. */
  phase: string | null
  /** The deposit; null for other subjects. The amount is 0 after the chain took the deposit back. */
  deposit: (HeldDeposit & { amount: string }) | null
}

/** SQL for a row of Subject, if the member may see it. */
const subjectOf = (type: HoldSubjectType, viewer: Viewer, id: string): RawBuilder<unknown> => {
  const { id: vaultId } = viewer.vault
  const scope = visibleScopeOf(viewer)
  const none = sql`null as phase, null as deposit`
  switch (type) {
    case 'vault':
      return sql`select v.name, ${none} from vaults v where v.id = ${vaultId} and v.id = ${id}`
    case 'address':
      return sql`select coalesce(a.label || ' ', '') || a.address as name, ${none}
        from addresses a where a.id = ${id} and ${isAddressInScope(scope, 'a')}`
    case 'counterparty':
      return sql`select c.name, ${none} from counterparties c where c.vault_id = ${vaultId} and c.id = ${id}`
    case 'user':
      return sql`select ${displayNameOf('u')} as name, ${none} from users u where u.id = ${id}
        and exists (select from policy_group_memberships m where m.vault_id = ${vaultId} and m.user_id = u.id)`
    case 'transfer':
      return sql`select o.id as name, t.phase, null as deposit
        from operations o join transfers t on t.vault_id = o.vault_id and t.id = o.id
        where o.vault_id = ${vaultId} and o.id = ${id} and ${isOperationReadable(scope, 'o')}`
    case 'deposit':
      return sql`select o.id as name, null as phase, json_build_object('addressId', o.address_id, 'tokenId', o.token_id,
          'amount', case o.status when 'confirmed' then o.amount else 0 end::text) as deposit
        from operations o where o.vault_id = ${vaultId} and o.id = ${id} and o.type = 'deposit' and ${isOperationReadable(scope, 'o')}`
  }
}

export async function findSubject(
  trx: Trx,
  viewer: Viewer,
  { type, id }: { type: HoldSubjectType; id: string },
): Promise<Subject | null> {
  const { rows } = await sql<Subject>`${subjectOf(type, viewer, id)}`.execute(trx)
  return rows[0] ?? null
}

/**
 * Returns the transfers that a hold affects: the number that were handed over and are not finished, and the initiators of those
 * that wait. It reads open transfers through their indexes, however much the vault holds.
 */
export async function findAffected(
  trx: Trx,
  vaultId: string,
  { type, id }: { type: HoldSubjectType; id: string },
): Promise<{ handedOver: number; initiatorIds: string[] }> {
  const isAffected = {
    vault: sql`true`,
    address: sql`(o.address_id = ${id} or t.to_address_id = ${id})`,
    counterparty: sql`o.counterparty_id = ${id}`,
    transfer: sql`o.id = ${id}`,
    user: sql`o.initiator_id = ${id}`,
    deposit: sql`false`,
  }[type]
  const { rows } = await sql<{ handed_over: number; initiator_ids: string[] }>`
    with open as (
      select t.phase, o.initiator_id from deliveries d
      join transfers t on t.vault_id = d.vault_id and t.id = d.id and ${isOneOf('t.phase', ['waiting', ...openPhases])}
      join operations o on o.vault_id = t.vault_id and o.id = t.id
      where d.vault_id = ${vaultId} and ${isAffected})
    select (select count(*)::int from open where ${isOneOf('phase', sentPhases)}) as handed_over,
      array(select distinct initiator_id from open where phase in ('waiting', 'queued') order by 1
        limit ${holdAudienceMax}) as initiator_ids`.execute(trx)
  const { handed_over: handedOver, initiator_ids: initiatorIds } = rows[0]!
  return { handedOver, initiatorIds }
}

/** Returns true if the person is the only administrator of the vault who can act. */
export async function isLastAdministrator(trx: Trx, vaultId: string, userId: string): Promise<boolean> {
  const { rows } = await sql<{ user_id: string }>`
    select u.id as user_id from policy_groups g
    join policy_group_memberships m on m.vault_id = g.vault_id and m.group_id = g.id
    join users u on u.id = m.user_id and u.disabled_at is null and u.kind = 'person'
    where g.vault_id = ${vaultId} and ${isAdministrators('g')}
      and not ${isHeldUser(sql.ref('g.vault_id'), sql.ref('u.id'))}`.execute(trx)
  return rows.length === 1 && rows[0]!.user_id === userId
}

export async function isShutOut(trx: Trx, userId: string): Promise<boolean> {
  const { rows } = await sql<{ is_out: boolean }>`
    select ${isHeldEverywhere('u')} as is_out from users u where u.id = ${userId}`.execute(trx)
  return rows[0]?.is_out === true
}

/** SQL: locks and selects an active hold with the account of its deposit. */
const lockedHold = (condition: RawBuilder<unknown>) => sql<LockedHold>`
  select h.*, (select json_build_object('addressId', o.address_id, 'tokenId', o.token_id) from operations o
    where o.vault_id = h.vault_id and o.id = h.subject_id and h.subject_type = 'deposit') as deposit
  from holds h where ${condition} and h.released_at is null for update of h`

/** Locks an active hold. Returns null without an active hold. */
export async function lockActiveHold(trx: Trx, vaultId: string, id: string): Promise<LockedHold | null> {
  const { rows } = await lockedHold(sql`h.vault_id = ${vaultId} and h.id = ${id}`).execute(trx)
  return rows[0] ?? null
}

/** Locks the active hold of an origin on a subject. Returns null without an active hold. */
export async function lockHoldOn(
  trx: Trx,
  { vaultId, subjectType, subjectId, origin }: HoldKey,
): Promise<LockedHold | null> {
  const { rows } = await lockedHold(sql`h.vault_id = ${vaultId} and h.subject_type = ${subjectType}
    and h.subject_id = ${subjectId} and h.origin = ${origin}`).execute(trx)
  return rows[0] ?? null
}

type HoldKey = { vaultId: string; subjectType: HoldSubjectType; subjectId: string; origin: HoldOrigin }

/** Makes the queued transfers due now, or one of them; a transfer that is still held waits on. */
export async function wakeQueued(
  trx: Trx,
  vaultId: string,
  now: Date,
  transferId: string | null = null,
): Promise<void> {
  wake(trx, 'deliver-transfers')
  await sql`
    update deliveries d set next_attempt_at = ${now} from transfers t
    where d.vault_id = ${vaultId} and d.queue = 'hand-over' ${transferId === null ? sql`` : sql`and d.id = ${transferId}`}
      and t.vault_id = d.vault_id and t.id = d.id and t.phase = 'queued'`.execute(trx)
}

/** Returns the active holds that suspend the placer of a hold. */
export async function listCompanions(trx: Trx, vaultId: string, becauseOfId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from holds where vault_id = ${vaultId} and because_of_id = ${becauseOfId} and released_at is null`.execute(
    trx,
  )
  return rows.map(({ id }) => id)
}

export async function findEveryoneId(trx: Trx, vaultId: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select g.id from policy_groups g where g.vault_id = ${vaultId} and ${isEveryone('g')}`.execute(trx)
  return rows[0]!.id
}
