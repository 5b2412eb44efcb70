import { type RawBuilder, sql, type Updateable } from 'kysely'
import type { Static } from 'typebox'
import { claimRows } from '../../../db/claim.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import type { Screenings } from '../../../db/types.ts'
import { wireTime } from '../../../db/wire-time.ts'
import { newId } from '../../../lib/ids.ts'
import { screeningLeaseMilliseconds } from '../../../lib/limits.ts'
import { formatDecimal } from '../../../lib/money.ts'
import type { Screening } from './schema.ts'
import type { Question, ScreeningAnswer, Verdict } from './screener.ts'

/** The types that are screened after they are stored; the orders that policies ask about are not stored. */
type ScreenedType = 'deposit' | 'transfer'
export type ScreenedSubject = { vaultId: string; subjectType: ScreenedType; subjectId: string }

export type ScreeningRow = RowOf<Screenings, { subject_type: ScreenedType; verdict: Verdict | null }>

/** The screening as it is shown beside its deposit or transfer. */
export type ShownScreening = Static<typeof Screening>

/** SQL: the screening of a subject as it is shown, or null. */
export function screeningOf(type: ScreenedType, vaultId: RawBuilder<unknown>, id: RawBuilder<unknown>) {
  return sql<ShownScreening | null>`(
    select json_build_object('verdict', screened.verdict, 'score', screened.score, 'reference', screened.reference,
      'askedAt', ${wireTime('screened.asked_at')}, 'answeredAt', ${wireTime('screened.answered_at')}, 'attempts', screened.attempts,
      'isWaived', screened.waived_hold_id is not null)
    from screenings screened where screened.vault_id = ${vaultId} and screened.subject_type = ${sql.lit(type)}
      and screened.subject_id = ${id})`
}

/** Returns the row of a question that is due now. */
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

const isOf = ({ vaultId, subjectType, subjectId }: ScreenedSubject) =>
  sql`vault_id = ${vaultId} and subject_type = ${subjectType} and subject_id = ${subjectId}`

export async function findScreening(trx: Trx, subject: ScreenedSubject): Promise<ScreeningRow | null> {
  const { rows } = await sql<ScreeningRow>`select * from screenings where ${isOf(subject)}`.execute(trx)
  return rows[0] ?? null
}

/** Asks about a subject again: an earlier answer no longer counts. */
export async function askAnew(trx: Trx, subject: ScreenedSubject, now: Date): Promise<void> {
  const fresh = newScreening(subject, now)
  const answer = {
    verdict: null,
    score: null,
    reference: null,
    asked_at: null,
    answered_at: null,
    waived_hold_id: null,
  }
  wake(trx, 'screen')
  await trx
    .insertInto('screenings')
    .values(fresh)
    .onConflict((conflict) =>
      conflict
        .columns(['vault_id', 'subject_type', 'subject_id'])
        .doUpdateSet({ ...fresh, ...answer, attempts: 0, failure: null }),
    )
    .execute()
}

/** A question that this node has claimed until `leaseEndsAt`; no other node asks it earlier. */
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

/** Locks a claimed question; null when it was answered or waived, or another node has claimed it since. */
export async function lockClaimed(trx: Trx, claim: ScreeningClaim): Promise<ScreeningRow | null> {
  const { rows } = await sql<ScreeningRow>`
    select * from screenings
    where ${isOf(claim)} and id = ${claim.id} and next_attempt_at = ${claim.leaseEndsAt} for update`.execute(trx)
  return rows[0] ?? null
}

/** `next_attempt_at` is null when no further question is asked. */
type Changes = Pick<Updateable<Screenings>, 'failure' | 'next_attempt_at' | 'waived_hold_id' | 'answered_at'> &
  Partial<ScreeningAnswer>

export async function changeScreening(
  trx: Trx,
  { vaultId, id }: { vaultId: string; id: string },
  changes: Changes,
): Promise<void> {
  await trx.updateTable('screenings').set(changes).where('vault_id', '=', vaultId).where('id', '=', id).execute()
}

/** Locks the screening that a hold belongs to; null for a hold of people. It is locked before the hold. */
export async function lockScreeningHeldBy(trx: Trx, vaultId: string, holdId: string): Promise<ScreeningRow | null> {
  const { rows } = await sql<ScreeningRow>`
    select s.* from screenings s join holds h on h.vault_id = s.vault_id and h.subject_type = s.subject_type
      and h.subject_id = s.subject_id and h.origin = 'screening'
    where h.vault_id = ${vaultId} and h.id = ${holdId} for update of s`.execute(trx)
  return rows[0] ?? null
}

type QuestionRow = Omit<Question, 'id' | 'subject' | 'amountDecimal'> & { decimals: number; status: string }

/** Returns the question about a stored deposit or transfer; null for a transfer that is no longer pending. */
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
