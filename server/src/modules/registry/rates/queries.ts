import { type RawBuilder, sql } from 'kysely'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { HeldRates } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import { rateAgeMinutesMax, rateAnchorHours } from '../../../lib/limits.ts'
import type { Bounds } from '../../../lib/period.ts'
import type { Benchmarks } from './jump.ts'
import type { HeldRateStatus } from './schema.ts'

/** The rate of a token at a time, from a person or from the provider. */
export type Rate = { tokenId: string; usdRate: string; asOf: Date; source: string }

/** The rate at the creation of an operation, as stored with it. */
export type RateSnapshot = { usdRate: string; asOf: Date; source: string }

export type RateColumns = { usd_rate: string | null; usd_rate_as_of: Date | null; usd_rate_source: string | null }

/**
 * SQL: the lateral subquery `r(usd_rate, usd_rate_as_of, usd_rate_source)` of the newest rate of a token that is not
 * older than 15 minutes (contract 3.3). It is joined into other queries.
 *
 * @param tokenId a column, such as `t.id`
 */
export function newestRate(tokenId: string, now: Date): RawBuilder<unknown> {
  const oldest = new Date(now.getTime() - rateAgeMinutesMax * 60_000)
  return sql`left join lateral (
    select trim_scale(x.usd_rate) as usd_rate, x.as_of as usd_rate_as_of, x.source as usd_rate_source from token_rates x
    where x.token_id = ${sql.ref(tokenId)} and x.as_of <= ${now} and x.as_of >= ${oldest}
    order by x.as_of desc limit 1
  ) r on true`
}

export type TokenRateRow = { token_id: string; as_of: Date; source: string; usd_rate: string; created_at: Date }

/** Returns recorded rates of a token, newest first by `as_of`, one row more than the limit; both bounds are inclusive. */
export async function listTokenRates(
  db: Db | Trx,
  tokenId: string,
  { from, to }: Bounds,
  { after, limit }: Paging,
): Promise<TokenRateRow[]> {
  const { rows } = await sql<TokenRateRow>`
    select token_id, as_of, source, trim_scale(usd_rate) as usd_rate, created_at from token_rates
    where token_id = ${tokenId}
      ${from === null ? sql`` : sql`and as_of >= ${from}`}
      ${to === null ? sql`` : sql`and as_of <= ${to}`}
      ${after === null ? sql`` : sql`and as_of < ${after.createdAt}`}
    order by as_of desc limit ${limit + 1}`.execute(db)
  return rows
}

/** Serialises the recording of rates until the transaction ends, because each rate is compared with earlier ones. */
export async function lockRates(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${rateLock})`.execute(trx)
}

/** Takes the lock of `lockRates` without waiting. Returns false when another transaction has it. */
export async function tryLockRates(trx: Trx): Promise<boolean> {
  const { rows } = await sql<{ is_free: boolean }>`select pg_try_advisory_xact_lock(${rateLock}) as is_free`.execute(
    trx,
  )
  return rows[0]?.is_free === true
}

const rateLock = sql`hashtextextended('strongroom rates', 0)`

/** Returns true if the token has a rate of that time, or a held rate of that time. */
export async function hasRateAt(trx: Trx, { tokenId, asOf }: { tokenId: string; asOf: Date }): Promise<boolean> {
  const { rows } = await sql`
    select from token_rates where token_id = ${tokenId} and as_of = ${asOf}
    union all
    select from held_rates where token_id = ${tokenId} and as_of = ${asOf} and status = 'held'`.execute(trx)
  return rows.length > 0
}

/**
 * Returns the rates with which new rates of the tokens are compared. A token without a rate has no entry. The age of a
 * rate counts from its recording, because `as_of` is a claim of the source.
 */
export async function findBenchmarks(trx: Trx, tokenIds: string[], now: Date): Promise<Map<string, Benchmarks>> {
  const aDayAgo = new Date(now.getTime() - rateAnchorHours * 3_600_000)
  const { rows } = await sql<Benchmarks & { id: string }>`
    select t.id, trim_scale(newest.usd_rate) as newest, trim_scale(coalesce(settled.usd_rate, oldest.usd_rate)) as anchor
    from unnest(${tokenIds}::text[]) as t(id)
    join lateral (
      select usd_rate from token_rates where token_id = t.id order by as_of desc limit 1
    ) newest on true
    left join lateral (
      select usd_rate from token_rates
      where token_id = t.id and (created_at <= ${aDayAgo} or confirmed_by_id is not null)
      order by created_at desc limit 1
    ) settled on true
    left join lateral (
      select usd_rate from token_rates where token_id = t.id order by created_at limit 1
    ) oldest on true`.execute(trx)
  return new Map(rows.map(({ id, newest, anchor }) => [id, { newest, anchor }]))
}

export type HeldRateRow = RowOf<
  HeldRates,
  {
    token_code: string
    network_slug: string
    status: HeldRateStatus
    created_by: MemberProfile | null
    decided_by: MemberProfile | null
  }
>

/** Returns held rates, newest first, one row more than the limit. */
export async function listHeldRates(
  db: Db | Trx,
  { tokenId, status }: { tokenId?: string; status?: HeldRateStatus },
  { after, limit }: Paging,
): Promise<HeldRateRow[]> {
  const { rows } = await sql<HeldRateRow>`
    ${selectHeldRates} where true
      ${tokenId === undefined ? sql`` : sql`and h.token_id = ${tokenId}`}
      ${status === undefined ? sql`` : sql`and h.status = ${status}`}
      ${after === null ? sql`` : sql`and (h.created_at, h.id) < (${after.createdAt}, ${after.id})`}
    order by h.created_at desc, h.id desc limit ${limit + 1}`.execute(db)
  return rows
}

export async function findHeldRate(db: Db | Trx, id: string): Promise<HeldRateRow | null> {
  const { rows } = await sql<HeldRateRow>`${selectHeldRates} where h.id = ${id}`.execute(db)
  return rows[0] ?? null
}

/** Returns the held rates of the provider, by token. */
export async function findHeldByProvider(
  db: Db | Trx,
  tokenIds: string[],
): Promise<Map<string, { id: string; usd_rate: string }>> {
  const rows = await db
    .selectFrom('held_rates')
    .select(['id', 'token_id', 'usd_rate'])
    .where('token_id', 'in', tokenIds)
    .where('created_by_id', 'is', null)
    .where('status', '=', 'held')
    .execute()
  return new Map(rows.map((row) => [row.token_id, row]))
}

const selectHeldRates = sql`
  select h.id, h.token_id, t.code as token_code, n.slug as network_slug, h.as_of, h.source,
    trim_scale(h.usd_rate) as usd_rate, trim_scale(h.compared_usd_rate) as compared_usd_rate, h.status,
    h.created_by_id, h.created_at, h.decided_by_id, h.decided_at,
    ${profileOfUser(sql`h.created_by_id`)} as created_by, ${profileOfUser(sql`h.decided_by_id`)} as decided_by
  from held_rates h
  join tokens t on t.id = h.token_id
  join networks n on n.id = t.network_id`
