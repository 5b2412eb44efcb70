import { sql } from 'kysely'
import { claimRows } from '../../../db/claim.ts'
import type { Db } from '../../../db/client.ts'
import { witnessLeaseMilliseconds } from '../../../lib/limits.ts'

/** A witness that is due. */
export type DueWitness = { target: string; attempts: number }

/** Keeps one row for each witness of the settings and deletes other rows. A new witness gets the heads at once. */
export async function keepWitnesses(db: Db, targets: string[], now: Date): Promise<void> {
  await sql`
    insert into witnesses (target, due_at, next_attempt_at)
    select target, ${now}, ${now} from unnest(${targets}::text[]) target on conflict do nothing`.execute(db)
  await sql`delete from witnesses where not target = any(${targets}::text[])`.execute(db)
}

/** Claims one witness that is due. A second node takes the next one meanwhile. */
export async function claimWitness(db: Db, now: Date): Promise<DueWitness[]> {
  const leaseEnd = new Date(now.getTime() + witnessLeaseMilliseconds)
  const { rows } = await sql<DueWitness>`
    with ${claimRows({
      table: 'witnesses',
      key: ['target'],
      where: sql`n.next_attempt_at <= ${now}`,
      orderBy: sql`n.next_attempt_at`,
      limit: 1,
      set: sql`attempts = n.attempts + 1, next_attempt_at = ${leaseEnd}`,
    })}
    select target, attempts from claimed`.execute(db)
  return rows
}

/** Records that a witness has the heads of `now`, and when it gets the next. */
export async function settleWitness(db: Db, { target }: DueWitness, now: Date, next: Date): Promise<void> {
  await sql`
    update witnesses set delivered_at = ${now}, due_at = ${next}, next_attempt_at = ${next}, attempts = 0
    where target = ${target}`.execute(db)
}

export async function retryWitness(db: Db, { target, attempts }: DueWitness, at: Date): Promise<void> {
  await sql`
    update witnesses set next_attempt_at = ${at} where target = ${target} and attempts = ${attempts}`.execute(db)
}
