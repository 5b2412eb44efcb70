import { sql } from 'kysely'
import type { Db } from '../../db/client.ts'
import { countedMax, stuckTransferMinutes } from '../../lib/limits.ts'

/** How many there are, and the age of the oldest in seconds; 0 if there is none. */
export type Waiting = { count: number; oldestSeconds: number }

/** What an operator watches, from the database. It says nothing about any vault or person. */
export type Figures = {
  transfers: (Waiting & { phase: string })[]
  stuckTransfers: number
  walletEvents: (Waiting & { outcome: string })[]
  unsealedRecords: Waiting
  mails: Waiting
  exports: Waiting
  rates: { network: string; token: string; source: RateSource; ageSeconds: number }[]
}

/** Who the newest rate of a token is from. One that people set is as old as they let it be. */
type RateSource = 'provider' | 'people'

const phases = ['waiting', 'queued', 'submitting', 'submitted', 'broadcast', 'halted']
const outcomes = ['unmatched', 'quarantined']

/**
 * Reads the figures. Each statement walks an index of what is unfinished, and counts no further than `countedMax`, so
 * that a scrape costs the same whatever the vaults hold.
 */
export async function readFigures(db: Db, now: Date): Promise<Figures> {
  const transfers = await readTransfers(db, now)
  return {
    ...transfers,
    walletEvents: await Promise.all(
      outcomes.map(async (outcome) => ({
        outcome,
        ...(await readWaiting(
          db,
          now,
          sql`
          select received_at as at from wallet_events where outcome = ${sql.lit(outcome)} order by received_at`,
        )),
      })),
    ),
    unsealedRecords: await readWaiting(
      db,
      now,
      sql`
      select created_at as at from audit_records where seal_sequence is null`,
    ),
    mails: await readWaiting(
      db,
      now,
      sql`
      (select created_at as at from queued_mails where next_attempt_at is not null order by next_attempt_at limit ${countedMax})
      union all
      (select created_at from notifications where next_attempt_at is not null order by next_attempt_at limit ${countedMax})`,
    ),
    exports: await readWaiting(
      db,
      now,
      sql`
      select created_at as at from report_exports where state in ('queued', 'running') order by created_at`,
    ),
    rates: await readRates(db, now),
  }
}

async function readTransfers(db: Db, now: Date): Promise<Pick<Figures, 'transfers' | 'stuckTransfers'>> {
  const stuckSince = new Date(now.getTime() - stuckTransferMinutes * 60_000)
  const { rows } = await sql<{ phase: string; count: number; oldest: Date; stuck: number }>`
    select f.phase, count(*)::int as count, min(f.created_at) as oldest,
      count(*) filter (where f.phase not in ('waiting', 'halted') and o.updated_at < ${stuckSince})::int as stuck
    from (
      (select t.vault_id, t.id, t.phase, t.created_at from transfers t
        where t.phase in ('queued', 'submitting', 'submitted', 'broadcast') order by t.next_attempt_at limit ${countedMax})
      union all
      (select t.vault_id, t.id, t.phase, t.created_at from transfers t
        where t.phase = 'waiting' order by t.expires_at limit ${countedMax})
      union all
      (select t.vault_id, t.id, t.phase, t.created_at from transfers t
        where t.phase = 'halted' order by t.created_at limit ${countedMax})
    ) f
    join operations o on o.vault_id = f.vault_id and o.id = f.id
    group by f.phase`.execute(db)
  const transfers = phases.map((phase) => {
    const row = rows.find((each) => each.phase === phase)
    return { phase, count: row?.count ?? 0, oldestSeconds: row === undefined ? 0 : ageOf(row.oldest, now) }
  })
  return { transfers, stuckTransfers: rows.reduce((sum, { stuck }) => sum + stuck, 0) }
}

/** @param rows SQL that selects `at` */
async function readWaiting(db: Db, now: Date, rows: ReturnType<typeof sql>): Promise<Waiting> {
  const found = await sql<{ count: number; oldest: Date | null }>`
    select count(*)::int as count, min(f.at) as oldest from (select w.at from (${rows}) w limit ${countedMax}) f`.execute(
    db,
  )
  const { count, oldest } = found.rows[0]!
  return { count, oldestSeconds: oldest === null ? 0 : ageOf(oldest, now) }
}

/** The age of the newest rate of each token that is enabled and has one. */
async function readRates(db: Db, now: Date): Promise<Figures['rates']> {
  const { rows } = await sql<{ network: string; token: string; source: RateSource; as_of: Date }>`
    select n.slug as network, k.code as token, r.as_of,
      case when r.source = 'provider' then 'provider' else 'people' end as source
    from tokens k
    join networks n on n.id = k.network_id
    cross join lateral (
      select as_of, source from token_rates where token_id = k.id order by as_of desc limit 1) r
    where k.enabled
    order by n.slug, k.code
    limit ${countedMax}`.execute(db)
  return rows.map(({ as_of, ...rate }) => ({ ...rate, ageSeconds: ageOf(as_of, now) }))
}

function ageOf(instant: Date, now: Date): number {
  return Math.max(0, (now.getTime() - instant.getTime()) / 1_000)
}
