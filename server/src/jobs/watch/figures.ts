import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/client.ts'
import { isOneOf } from '../../db/one-of.ts'
import { countedMax, directoryTokenWarningDays, serviceTokenWarningDays } from '../../lib/limits.ts'
import { phases, type Queue, queues, sentPhases } from '../../lib/operations.ts'
import { vaultsIn } from '../../modules/money/transfers/vaults-in-queue.ts'
import { listUncheckedNetworks } from '../../modules/registry/networks/queries.ts'
import { type HoldSubjectType, holdSubjectTypes } from '../../modules/rules/holds/active.ts'

/** The number of waiting entries, and the age of the oldest in seconds, or 0 without entries. */
export type Waiting = { count: number; oldestSeconds: number }

/** The figures for an operator, from the database. They name no vault and no person. */
export type Figures = {
  transfers: (Waiting & { phase: string })[]
  stuckTransfers: number
  /** Orders that are not handed over yet. */
  handOvers: Waiting
  following: Following
  holds: { subject: HoldSubjectType; count: number }[]
  screenings: Waiting
  walletEvents: (Waiting & { outcome: string })[]
  unsealedRecords: Waiting
  unsealedEntries: Waiting
  /** Witnesses whose heads are overdue. */
  witnesses: Waiting
  mails: Waiting
  /** Vaults whose wallet service shows an older authority than before. */
  authorities: Waiting
  /** Vaults that are halted, because their books and their wallet service differ. */
  haltedVaults: Waiting
  directories: DirectoryFigures
  /** The number of service tokens that end soon, without tokens whose whole life is shorter. */
  serviceTokensEnding: number
  /** Active identity providers that did not answer the last request. */
  failingProviders: Waiting
  /** Active identity providers, with the time since their metadata and keys were last read. */
  providers: Waiting
  exports: Waiting
  /** Vaults whose comparison with the chain is overdue. */
  reconciliations: Waiting
  /** Balances that differ from the chain and were reported to the administrators. */
  differences: Waiting
  /** The seconds since a node last learned that a commit is confirmed; 0 before the first node has run. */
  heartbeatAgeSeconds: number
  /** True if the role of this node owns a table, or can become its owner. */
  loginOwns: boolean
  /** Networks of Litecoin that have addresses of another form, so that no address on them is checked. */
  uncheckedNetworks: string[]
  rates: { network: string; token: string; source: RateSource; ageSeconds: number }[]
}

/** The wallet services whose changes are read while transfers are in flight. */
type Following = {
  /** The seconds since the last answer, of the wallet service that has been silent for longest. */
  lagSeconds: number
  /** The number of changes that a request about a single transfer found before the wallet service reported them. */
  foundByQuestion: number
  /** The number of entries about transfers that the vault does not have. */
  strangers: number
}

type DirectoryFigures = {
  /** The seconds since the last request, or since its set-up, of the active directory that has been silent for longest. */
  silentSeconds: number
  /** The number of active directories whose token ends soon. */
  tokensEnding: number
  heldStops: Waiting
}

/** The source of the newest rate of a token. Only rates of the provider are expected to be current. */
type RateSource = 'provider' | 'people'

const unfinishedPhases = phases.filter((phase) => phase !== 'done')
const outcomes = ['unmatched', 'quarantined']

/**
 * Reads the figures. Each statement walks an index of unfinished rows, and counts no further than `countedMax`, so that a
 * scrape costs the same for vaults of any size.
 */
export async function readFigures(db: Db, now: Date): Promise<Figures> {
  const waiting = (rows: RawBuilder<unknown>) => readWaiting(db, now, rows)
  return {
    ...(await readTransfers(db, now)),
    handOvers: await waiting(sql`
      select t.created_at as at from deliveries d join transfers t on t.vault_id = d.vault_id and t.id = d.id
      where d.queue = 'hand-over' order by d.vault_id, d.next_attempt_at`),
    following: await readFollowing(db, now),
    holds: await readHolds(db),
    screenings: await waiting(
      sql`select created_at as at from screenings where verdict is null and waived_hold_id is null order by created_at`,
    ),
    walletEvents: await Promise.all(
      outcomes.map(async (outcome) => ({
        outcome,
        ...(await waiting(
          sql`select received_at as at from wallet_events where outcome = ${sql.lit(outcome)} order by received_at`,
        )),
      })),
    ),
    unsealedRecords: await waiting(sql`select created_at as at from audit_records where seal_sequence is null`),
    unsealedEntries: await waiting(sql`select created_at as at from ledger_unsealed`),
    witnesses: await waiting(sql`select due_at as at from witnesses where due_at <= ${now} order by due_at`),
    mails: await waiting(sql`
      (select created_at as at from queued_mails where next_attempt_at is not null order by next_attempt_at limit ${countedMax})
      union all
      (select created_at from notifications where next_attempt_at is not null order by next_attempt_at limit ${countedMax})`),
    authorities: await waiting(
      sql`select alarm_since as at from authority_marks where alarm_since is not null order by alarm_since`,
    ),
    uncheckedNetworks: await listUncheckedNetworks(db),
    haltedVaults: await waiting(sql`select halted_at as at from vaults where halted_at is not null order by halted_at`),
    directories: {
      ...(await readDirectories(db, now)),
      heldStops: await waiting(sql`select asked_at as at from directory_stops where held order by asked_at`),
    },
    serviceTokensEnding: await readTokensEnding(db, now),
    failingProviders: await waiting(sql`
      select r.failing_since as at from identity_provider_reads r join identity_providers p on p.id = r.provider_id
      where p.status = 'active' and r.failing_since is not null`),
    providers: await waiting(sql`
      select coalesce(r.read_at, p.updated_at) as at from identity_providers p
      left join identity_provider_reads r on r.provider_id = p.id where p.status = 'active'`),
    exports: await waiting(
      sql`select created_at as at from report_exports where state in ('queued', 'running') order by created_at`,
    ),
    reconciliations: await waiting(
      sql`select next_at as at from reconciliations where next_at <= ${now} order by next_at`,
    ),
    differences: await waiting(
      sql`select first_seen_at as at from reconciliation_differences where announced <> 0 order by first_seen_at`,
    ),
    heartbeatAgeSeconds: await readHeartbeatAge(db),
    loginOwns: await readLoginOwns(db),
    rates: await readRates(db, now),
  }
}

async function readDirectories(db: Db, now: Date): Promise<Omit<DirectoryFigures, 'heldStops'>> {
  const soon = new Date(now.getTime() + directoryTokenWarningDays * 86_400_000)
  const { rows } = await sql<{ seen: Date | null; ending: number }>`
    select min(coalesce(last_seen_at, updated_at)) as seen,
      count(*) filter (where token_expires_at < ${soon})::int as ending
    from (select last_seen_at, updated_at, token_expires_at from directories where status = 'active'
      order by id limit ${countedMax}) d`.execute(db)
  const { seen, ending } = rows[0]!
  return { silentSeconds: seen === null ? 0 : ageOf(seen, now), tokensEnding: ending }
}

async function readTokensEnding(db: Db, now: Date): Promise<number> {
  const [days] = serviceTokenWarningDays
  const soon = new Date(now.getTime() + days * 86_400_000)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from service_tokens t join users u on u.id = t.user_id and u.disabled_at is null
      where t.revoked_at is null and t.expires_at > ${now} and t.expires_at <= ${soon}
        and t.expires_at - t.created_at > ${days} * interval '1 day'
      limit ${countedMax}) t`.execute(db)
  return rows[0]!.count
}

/** Reads the age of the newest heartbeat by the clock of the database, which wrote the times. */
async function readHeartbeatAge(db: Db): Promise<number> {
  const { rows } = await sql<{ age: number }>`
    select coalesce(greatest(extract(epoch from now() - max(confirmed_at)), 0), 0)::float as age from heartbeats`.execute(
    db,
  )
  return rows[0]!.age
}

async function readTransfers(db: Db, now: Date): Promise<Pick<Figures, 'transfers' | 'stuckTransfers'>> {
  const { rows } = await sql<{ phase: string; count: number; oldest: Date; stuck: number }>`
    select f.phase, count(*)::int as count, min(f.created_at) as oldest,
      count(f.stuck_since) filter (where ${isOneOf('f.phase', sentPhases)})::int as stuck
    from (
      ${sql.join(queues.map(inQueue), sql` union all `)}
    ) f
    group by f.phase`.execute(db)
  const transfers = unfinishedPhases.map((phase) => {
    const row = rows.find((counted) => counted.phase === phase)
    return { phase, count: row?.count ?? 0, oldestSeconds: row === undefined ? 0 : ageOf(row.oldest, now) }
  })
  return { transfers, stuckTransfers: rows.reduce((sum, { stuck }) => sum + stuck, 0) }
}

const inQueue = (queue: Queue) => sql`
  (select t.phase, t.created_at, t.stuck_since from deliveries d
    join transfers t on t.vault_id = d.vault_id and t.id = d.id
    where d.queue = ${sql.lit(queue)} order by d.vault_id, d.next_attempt_at limit ${countedMax})`

/** Reads the figures about changes of wallet services. A vault without transfers in flight is not followed, and has no lag. */
async function readFollowing(db: Db, now: Date): Promise<Following> {
  const { rows } = await sql<{ heard: Date | null; found: string; strangers: string }>`
    select min(f.heard_at) filter (where f.cursor is not null and v.vault_id is not null) as heard,
      coalesce(sum(f.found_by_question), 0) as found, coalesce(sum(f.strangers), 0) as strangers
    from followings f left join ${vaultsIn('follow')} v on v.vault_id = f.vault_id`.execute(db)
  const { heard, found, strangers } = rows[0]!
  return {
    lagSeconds: heard === null ? 0 : ageOf(heard, now),
    foundByQuestion: Number(found),
    strangers: Number(strangers),
  }
}

/** Counts the held subjects of each type, with holds of any cause. */
async function readHolds(db: Db): Promise<Figures['holds']> {
  const { rows } = await sql<{ subject: HoldSubjectType; count: number }>`
    select f.subject_type as subject, count(distinct (f.vault_id, f.subject_id))::int as count
    from (select h.vault_id, h.subject_type, h.subject_id from holds h where h.released_at is null limit ${countedMax}) f
    group by f.subject_type`.execute(db)
  return holdSubjectTypes.map((subject) => rows.find((row) => row.subject === subject) ?? { subject, count: 0 })
}

/** @param rows SQL that selects the times `at` of waiting entries */
async function readWaiting(db: Db, now: Date, rows: RawBuilder<unknown>): Promise<Waiting> {
  const found = await sql<{ count: number; oldest: Date | null }>`
    select count(*)::int as count, min(f.at) as oldest from (select w.at from (${rows}) w limit ${countedMax}) f`.execute(
    db,
  )
  const { count, oldest } = found.rows[0]!
  return { count, oldestSeconds: oldest === null ? 0 : ageOf(oldest, now) }
}

/** Reads the age of the newest rate of each enabled token that has a rate. */
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

async function readLoginOwns(db: Db): Promise<boolean> {
  const { rows } = await sql<{ owns: boolean }>`
    select exists (
      select from pg_class c where c.relnamespace = 'public'::regnamespace and pg_has_role(session_user, c.relowner, 'member')
    ) as owns`.execute(db)
  return rows[0]!.owns
}

function ageOf(instant: Date, now: Date): number {
  return Math.max(0, (now.getTime() - instant.getTime()) / 1_000)
}
