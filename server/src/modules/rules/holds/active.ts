import { type RawBuilder, sql } from 'kysely'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { type AppError, type Objection, refusalFor } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/secrets.ts'

/** The types of subjects that can be held. */
export const holdSubjectTypes = ['address', 'vault', 'deposit', 'counterparty', 'transfer', 'user'] as const
export type HoldSubjectType = (typeof holdSubjectTypes)[number]

/** The origins of a hold: people, or a screening (its answer or a missing answer). A subject has at most one of each origin. */
export const holdOrigins = ['people', 'screening'] as const
export type HoldOrigin = (typeof holdOrigins)[number]

/**
 * A reason to stop an order, a vote or a hand-over: a hold that is not released, or the exposure of an address. An exposure
 * has the id of its address.
 */
export type ActiveHold = {
  id: string
  subjectType: HoldSubjectType | 'exposure'
  subjectId: string
  /** True for a hold on an address of the vault that is paid. People who order from other addresses may not see that address. */
  ofRecipient?: boolean
  /** The row of the payout that it stops, from 1; only where a payout is stopped. */
  row?: number
}

type Text = string | RawBuilder<unknown>

/** The subjects of an order, a vote or a hand-over that may be held. */
export type Touched = Named & {
  /** The paying address. */
  addressId?: Text
  /** False if an exposure of the paying address does not count. The default is true. */
  ofExposure?: boolean
  /** The recipient, which may be an address of the vault or of a counterparty. */
  to?: { networkId: Text; key: Text }
}

type Named = {
  vaultId: Text
  /** False if a hold of the whole vault does not count. */
  ofVault?: boolean
  /** The counterparty that was paid when the transfer was ordered. */
  counterpartyId?: Text
  transferId?: Text
  userIds?: Text[]
}

/**
 * SQL for a list of tables: a row `hold_lock` that makes every new hold wait until the transaction ends. A decision takes the
 * lock, and reads the holds in a later statement, because a statement that waited for the lock still sees the earlier state.
 * The lock is shared, so that decisions never wait for each other.
 */
export function sharedHoldLock(vaultId: string): RawBuilder<unknown> {
  return sql`(select pg_advisory_xact_lock_shared(${lockOf(vaultId)}::bigint)) hold_lock`
}

/** Takes the lock of `sharedHoldLock` in a separate statement. */
export async function shareHoldLock(trx: Trx, vaultId: string): Promise<void> {
  await sql`select from ${sharedHoldLock(vaultId)}`.execute(trx)
}

/** Waits for running decisions in the vault, and holds up new decisions until the transaction ends. */
export async function lockForPlacing(trx: Trx, vaultId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockOf(vaultId)}::bigint)`.execute(trx)
}

const lockOf = (vaultId: string): string => sha256(`holds ${vaultId}`).readBigInt64BE().toString()

/**
 * SQL: the oldest active hold on any of the subjects, as JSON of ActiveHold; without a hold, the exposure of the paying address, or
 * null. A hold on a counterparty covers its present addresses. The cost is an index lookup for each subject.
 */
export function activeHoldOn(touched: Touched): RawBuilder<ActiveHold | null> {
  const { vaultId, addressId, ofExposure = true } = touched
  const hold = oldestHoldOn(vaultId, subjectsTouched(touched), addressId)
  if (addressId === undefined || !ofExposure) return sql<ActiveHold | null>`${hold}`
  return sql<ActiveHold | null>`coalesce(${hold}, (
    select json_build_object('id', exposed.address_id, 'subjectType', 'exposure', 'subjectId', exposed.address_id)
    from ledger_accounts exposed
    where exposed.vault_id = ${vaultId} and exposed.address_id = ${addressId} and exposed.exposure > 0 limit 1))`
}

/** SQL for a list of tables: the rows `alias` of all active holds on any of the subjects, each hold once. */
export const activeHoldsOn = (touched: Touched, alias: string): RawBuilder<unknown> => {
  const active = (column: string) => sql.ref(`${alias}.${column}`)
  return sql`(${sql.join(subjectsTouched(touched), sql` union `)}) touched
    join holds ${sql.ref(alias)} on ${active('vault_id')} = ${touched.vaultId} and ${active('subject_type')} = touched.type
      and ${active('subject_id')} = touched.id and ${active('released_at')} is null`
}

function subjectsTouched(touched: Touched): RawBuilder<unknown>[] {
  const { vaultId, addressId, to } = touched
  const subjects = subjectsOf(touched)
  if (addressId !== undefined) subjects.push(sql`select 'address', ${addressId}::text`)
  if (to !== undefined) {
    const isRecipient = (alias: string) => sql`${sql.ref(`${alias}.vault_id`)} = ${vaultId}
      and ${sql.ref(`${alias}.network_id`)} = ${to.networkId} and ${sql.ref(`${alias}.address_key`)} = ${to.key}`
    subjects.push(sql`select 'address', own.id from addresses own where ${isRecipient('own')}`)
    subjects.push(
      sql`select 'counterparty', known.counterparty_id from counterparty_addresses known where ${isRecipient('known')}`,
    )
  }
  return subjects
}

/** SQL: as `activeHoldOn`, for a subject without an address. */
export const activeHoldOf = (touched: Named): RawBuilder<ActiveHold | null> =>
  oldestHoldOn(touched.vaultId, subjectsOf(touched))

function subjectsOf({
  vaultId,
  ofVault = true,
  counterpartyId,
  transferId,
  userIds = [],
}: Named): RawBuilder<unknown>[] {
  const subjects = [sql`select 'vault' as type, ${vaultId}::text as id where ${ofVault ? sql`true` : sql`false`}`]
  if (counterpartyId !== undefined) subjects.push(sql`select 'counterparty', ${counterpartyId}::text`)
  if (transferId !== undefined) subjects.push(sql`select 'transfer', ${transferId}::text`)
  for (const userId of userIds) subjects.push(sql`select 'user', ${userId}::text`)
  return subjects
}

const oldestHoldOn = (vaultId: Text, subjects: RawBuilder<unknown>[], payerId?: Text) => sql<ActiveHold | null>`(
  select json_build_object('id', active.id, 'subjectType', active.subject_type, 'subjectId', active.subject_id
    ${payerId === undefined ? sql`` : sql`, 'ofRecipient', active.subject_type = 'address' and active.subject_id <> ${payerId}`})
  from (${sql.join(subjects, sql` union all `)}) touched
  join holds active on active.vault_id = ${vaultId} and active.subject_type = touched.type
    and active.subject_id = touched.id and active.released_at is null
  order by active.created_at, active.id limit 1)`

/** SQL: true if this subject itself has an active hold. */
export function isHeld(type: HoldSubjectType, vaultId: Text, id: Text): RawBuilder<boolean> {
  return sql<boolean>`exists (select from holds own_hold where own_hold.vault_id = ${vaultId}
    and own_hold.subject_type = ${sql.lit(type)} and own_hold.subject_id = ${id} and own_hold.released_at is null)`
}

export async function findActiveHold(db: Db | Trx, touched: Touched): Promise<ActiveHold | null> {
  const { rows } = await sql<{ hold: ActiveHold | null }>`${prepared} select ${activeHoldOn(touched)} as hold`.execute(
    db,
  )
  return rows[0]!.hold
}

/** Returns the active hold on this deposit itself. */
export async function findHoldOnDeposit(trx: Trx, vaultId: string, id: string): Promise<ActiveHold | null> {
  const { rows } = await sql<ActiveHold>`
    select id, subject_type as "subjectType", subject_id as "subjectId" from holds
    where vault_id = ${vaultId} and subject_type = 'deposit' and subject_id = ${id} and released_at is null`.execute(
    trx,
  )
  return rows[0] ?? null
}

const nouns: Record<HoldSubjectType, string> = {
  address: 'an address',
  vault: 'the vault',
  deposit: 'a deposit',
  counterparty: 'a counterparty',
  transfer: 'the transfer',
  user: 'a person',
}

/** The sentence about a hold in an error. It omits the reason of the hold, which only readers of the hold may see. */
export function sentenceOf({ subjectType, row }: ActiveHold): string {
  const stopped = row === undefined ? 'this' : `row ${row}, and with it the payout`
  if (subjectType !== 'exposure') return `A hold on ${nouns[subjectType]} stops ${stopped}`
  const cause = 'The chain took back a deposit of the address that was already spent'
  return row === undefined ? cause : `${cause}, which stops ${stopped}`
}

/** The reason code of the error. */
export const reasonOf = ({ subjectType }: ActiveHold): 'held' | 'address_exposed' =>
  subjectType === 'exposure' ? 'address_exposed' : 'held'

export const objectionOfHold = (hold: ActiveHold): Objection<ReturnType<typeof reasonOf>> => ({
  reason: reasonOf(hold),
  message: sentenceOf(hold),
  details: detailsOf(hold),
})

export const heldConflict = (hold: ActiveHold): AppError => refusalFor(objectionOfHold(hold))

export function detailsOf({ id, subjectType, subjectId, ofRecipient }: ActiveHold): string {
  if (subjectType === 'exposure') return `The address ${subjectId} sends nothing until its exposure is covered`
  if (ofRecipient === true) return 'A hold on the address of the recipient stops this'
  return `The hold ${id} on the ${subjectType} ${subjectId} stops this`
}

/** @throws 409 naming the hold */
export function assertNotHeld(hold: ActiveHold | null): void {
  if (hold !== null) throw heldConflict(hold)
}
