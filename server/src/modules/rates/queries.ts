import { type RawBuilder, sql } from 'kysely'
import { rateAgeMinutesMax } from '../../lib/limits.ts'

/** What an operation remembers of the rate at its creation. */
export type RateSnapshot = { usdRate: string; asOf: Date; source: string }

export type RateColumns = { usd_rate: string | null; usd_rate_as_of: Date | null; usd_rate_source: string | null }

/**
 * A lateral subquery `r(usd_rate, usd_rate_as_of, usd_rate_source)`: the newest rate of a token that is not older than
 * 15 minutes (decisions.md, section 9). For joining it into a query that runs anyway.
 *
 * @param tokenId a column, such as `t.id`
 */
export function newestRate(tokenId: string, now: Date): RawBuilder<unknown> {
  const oldest = new Date(now.getTime() - rateAgeMinutesMax * 60_000)
  return sql`left join lateral (
    select x.usd_rate, x.as_of as usd_rate_as_of, x.source as usd_rate_source from token_rates x
    where x.token_id = ${sql.ref(tokenId)} and x.as_of <= ${now} and x.as_of >= ${oldest}
    order by x.as_of desc limit 1
  ) r on true`
}

export function toRateSnapshot(row: RateColumns): RateSnapshot | null {
  if (row.usd_rate === null || row.usd_rate_as_of === null || row.usd_rate_source === null) return null
  return { usdRate: row.usd_rate, asOf: row.usd_rate_as_of, source: row.usd_rate_source }
}
