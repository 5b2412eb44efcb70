import { type RawBuilder, sql, type Updateable } from 'kysely'
import { claimRows } from '../../../db/claim.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { Screenings } from '../../../db/types.ts'
import { newId } from '../../../lib/ids.ts'
import { screeningLeaseMilliseconds } from '../../../lib/limits.ts'
import { formatDecimal } from '../../../lib/money.ts'
import type { Question, ScreeningAnswer, Verdict } from './client.ts'

/** What is screened once it is stored; the orders that policies ask about are not stored. */
export type ScreenedType = 'deposit' | 'transfer'
export type ScreenedSubject = { vaultId: string; subjectType: ScreenedType; subjectId: string }

export type ScreeningRow = RowOf<Screenings, { subject_type: ScreenedType; verdict: Verdict | null }>

/** SQL: the screening of a subject as JSON of ScreeningColumns, or null. */
export function screeningOf(type: ScreenedType, vaultId: RawBuilder<unknown>, id: RawBuilder<unknown>) {
  return sql<ScreeningColumns | null>`(
    select json_build_object('verdict', screened.verdict, 'score', screened.score, 'reference', screened.reference,
      'askedAt', screened.asked_at, 'answeredAt', screened.answered_at, 'attempts', screened.attempts,
      'isWaived', screened.waived_hold_id is not null)
    from screenings screened where screened.vault_id = ${vaultId} and screened.subject_type = ${sql.lit(type)}
      and screened.subject_id = ${id})`
}

export type ScreeningColumns = {
  verdict: Verdict | null
  score: number | null
  reference: string | null
  askedAt: string | null
  answeredAt: string | null
  attempts: number
  isWaived: boolean
}

/** The row of a question that is to be asked now. */
export function newScreening({ vaultId, subjectType, subjectId }: ScreenedSubject, now: Date) {
  return {
    vault_id: vaultId,
    subject_type: subjectType,
    subject_id: subjectId,
    id: newId(now),
    next_attempt_at: now,
    created_at: now,
  }
}

const ofSubject = ({ vaultId, subjectType, subjectId }: ScreenedSubject) =>
  ({ vault_id: vaultId, subject_type: subjectType, subject_id: subjectId }) as const

export async function findScreening(trx: Trx, subject: ScreenedSubject): Promise<ScreeningRow | null> {
  const row = await trx
    .selectFrom('screenings')
    .selectAll()
    .where((e) => e.and(ofSubject(subject)))
    .executeTakeFirst()
  return (row as ScreeningRow | undefined) ?? null
}

/** Asks about a subject, anew if it was asked about before: an earlier answer counts no longer. */
export async function askAnew(trx: Trx, subject: ScreenedSubject, now: Date): Promise<void> {
  const fresh = newScreening(subject, now)
  const { id, next_attempt_at, created_at } = fresh
  const unanswered = { verdict: null, score: null, reference: null, asked_at: null, answered_at: null }
  await trx
    .insertInto('screenings')
    .values(fresh)
    .onConflict((conflict) =>
      conflict.columns(['vault_id', 'subject_type', 'subject_id']).doUpdateSet({
        ...unanswered,
        id,
        attempts: 0,
        failure: null,
        next_attempt_at,
        waived_hold_id: null,
        created_at,
      }),
    )
    .execute()
}

/** A question that this node has claimed until `leaseEndsAt`; no other node asks it before. */
export type ScreeningClaim = ScreenedSubject & { id: string; attempts: number; leaseEndsAt: Date }

/** Claims the questions that are due, each for one node only. */
export async function claimDueScreenings(db: Db, now: Date, limit: number): Promise<ScreeningClaim[]> {
  const leaseEndsAt = new Date(now.getTime() + screeningLeaseMilliseconds)
  const { rows } = await sql<Omit<ScreeningClaim, 'leaseEndsAt'>>`
    with ${claimRows({
      table: 'screenings',
      key: ['vault_id', 'subject_type', 'subject_id'],
      where: sql`n.next_attempt_at <= ${now}`,
      orderBy: sql`n.next_attempt_at`,
      limit,
      set: sql`next_attempt_at = ${leaseEndsAt}, attempts = n.attempts + 1, asked_at = coalesce(n.asked_at, ${now})`,
    })}
    select vault_id as "vaultId", subject_type as "subjectType", subject_id as "subjectId", id, attempts from claimed`.execute(
    db,
  )
  return rows.map((claim) => ({ ...claim, leaseEndsAt }))
}

/** Locks a claimed question; null when it was answered, waived or claimed by another node since. */
export async function lockClaimed(
  trx: Trx,
  { id, leaseEndsAt, ...subject }: ScreeningClaim,
): Promise<ScreeningRow | null> {
  const row = await trx
    .selectFrom('screenings')
    .selectAll()
    .where((e) => e.and({ ...ofSubject(subject), id, next_attempt_at: leaseEndsAt }))
    .forUpdate()
    .executeTakeFirst()
  return (row as ScreeningRow | undefined) ?? null
}

/** `next_attempt_at` null: nothing more is asked. */
type Changes = Pick<Updateable<Screenings>, 'failure' | 'next_attempt_at' | 'waived_hold_id' | 'answered_at'> &
  Partial<ScreeningAnswer>

export async function changeScreening(
  trx: Trx,
  { vaultId, id }: { vaultId: string; id: string },
  changes: Changes,
): Promise<void> {
  await trx.updateTable('screenings').set(changes).where('vault_id', '=', vaultId).where('id', '=', id).execute()
}

/** Locks the screening for which a hold stands; null for a hold of people. It is locked before the hold. */
export async function lockScreeningHeldBy(trx: Trx, vaultId: string, holdId: string): Promise<ScreeningRow | null> {
  const { rows } = await sql<ScreeningRow>`
    select s.* from screenings s join holds h on h.vault_id = s.vault_id and h.subject_type = s.subject_type
      and h.subject_id = s.subject_id and h.origin = 'screening'
    where h.vault_id = ${vaultId} and h.id = ${holdId} for update of s`.execute(trx)
  return rows[0] ?? null
}

type QuestionRow = Omit<Question, 'id' | 'subject' | 'amountDecimal'> & { decimals: number; status: string }

/** What is asked about a stored deposit or transfer; null when there is nothing left to ask about. */
export async function findQuestion(
  db: Db,
  { vaultId, subjectType, subjectId, id }: ScreeningClaim,
): Promise<Question | null> {
  const isDeposit = subjectType === 'deposit'
  const from = isDeposit ? sql`d.from_address` : sql`a.address`
  const to = isDeposit ? sql`a.address` : sql`d.to_address`
  const { rows } = await sql<QuestionRow>`
    select o.vault_id as "vaultId", n.slug as network, k.code as asset, k.contract_address as "contractAddress",
      o.amount::text as amount, o.usd_value::text as "usdValue", ${from} as "fromAddress", ${to} as "toAddress",
      ${isDeposit ? sql`d.tx_hash` : sql`null`} as "txHash", k.decimals, o.status
    from operations o
    join ${sql.table(isDeposit ? 'deposits' : 'transfers')} d on d.vault_id = o.vault_id and d.id = o.id
    join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
    join networks n on n.id = o.network_id
    join tokens k on k.id = o.token_id
    where o.vault_id = ${vaultId} and o.id = ${subjectId}`.execute(db)
  const [row] = rows
  if (row === undefined || (!isDeposit && row.status !== 'pending')) return null
  const { decimals, status: _, ...known } = row
  return {
    id,
    subject: { type: subjectType, id: subjectId },
    ...known,
    amountDecimal: formatDecimal(row.amount, decimals),
  }
}

/** Where a deposit is, and what was credited for it. */
export async function findHeldDeposit(
  trx: Trx,
  vaultId: string,
  id: string,
): Promise<{ addressId: string; tokenId: string; amount: string }> {
  return trx
    .selectFrom('operations')
    .select(['address_id as addressId', 'token_id as tokenId', 'amount'])
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}
