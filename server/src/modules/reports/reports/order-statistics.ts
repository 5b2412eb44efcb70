import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { OrderStatistics } from './activity.ts'
import type { Interval } from './buckets.ts'
import { isCounted, isReported, type OperationFilter } from './operation-filter.ts'

/**
 * The ranks, as shares of the number of values, of the lower and the upper middle: of n values percentile_disc takes the
 * one at rank ceil(share × n), and the second share lifts only an even n/2 to n/2 + 1, for any n below 500 million.
 */
export const middles = sql`array[0.5, 0.500000001]::float8[]`

/** The maximum number of tokens that are distinguished while operations are read; each costs every operation a comparison. */
const comparedTokensMax = 16

/**
 * The minimum, the two middle values and the maximum of the amounts of every token, over the operations that count, with one sort.
 *
 * @param tokenIds the tokens of the operations that count, each once
 */
export async function listOrderStatistics(
  trx: Trx,
  filter: OperationFilter,
  interval: Interval,
  tokenIds: readonly string[],
): Promise<Map<string, OrderStatistics>> {
  const found = sql`percentile_disc(array_cat(${middles}, array[0, 1]::float8[])) within group (order by o.amount)`
  const counted = sql`from operations o where ${isReported(filter, interval)} and ${isCounted(filter)}`
  if (tokenIds.length === 0) return new Map()
  if (tokenIds.length > comparedTokensMax) {
    const { rows } = await sql<{ token_id: string; found: string[] }>`
      select o.token_id, (${found})::text[] as found ${counted} group by o.token_id`.execute(trx)
    return new Map(rows.map((row) => [row.token_id, toOrderStatistics(row.found)]))
  }
  // Grouping would sort whole operations by token before it sorts amounts, which takes longer than the comparisons.
  const ofTokens = tokenIds.map((id) => sql`${found} filter (where o.token_id = ${id})`)
  const { rows } = await sql<{ found: string[][] }>`
    select array[${sql.join(ofTokens)}]::text[] as found ${counted}`.execute(trx)
  return new Map(tokenIds.map((id, index) => [id, toOrderStatistics(rows[0]!.found[index]!)]))
}

function toOrderStatistics(found: string[]): OrderStatistics {
  const [lower, upper, smallest, largest] = found.map(BigInt)
  return { lower: lower!, upper: upper!, smallest: smallest!, largest: largest! }
}
