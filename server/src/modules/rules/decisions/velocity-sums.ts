import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { Facts, VelocityScope, VelocitySum } from '../selectors/facts.ts'
import { velocityTypes } from '../selectors/selectors.ts'
import { readVelocityWindow } from '../selectors/velocity.ts'
import type { PolicySnapshot } from './decision.ts'

export type VelocityWindow = { per: VelocityScope; windowSeconds: number }

/** Every window that velocity selectors of these policies look at, each once. */
export function velocityWindowsOf(policies: PolicySnapshot[]): VelocityWindow[] {
  const windows = new Map<string, VelocityWindow>()
  for (const { rules } of policies) {
    for (const { selectorType, value } of rules.flatMap(({ selectors }) => selectors)) {
      if (!velocityTypes.has(selectorType)) continue
      const window = readVelocityWindow(value)
      if (window !== null) windows.set(`${window.per} ${window.windowSeconds}`, window)
    }
  }
  return [...windows.values()]
}

/** The key of a scope, such as the id of the initiator; null when the facts do not contain it. */
export function velocityKeyOf(per: VelocityScope, vaultId: string, facts: Facts): string | null {
  if (per === 'vault') return vaultId
  if (per === 'initiator') return facts.initiatorId
  if (per === 'sourceAddress') return facts.sourceAddressId ?? null
  return facts.destination?.key ?? null
}

/** The advisory lock of a scope: shared by orders that are decided side by side, exclusive for those that are decided alone. */
export function velocityLockOf(per: VelocityScope, vaultId: string, key: string): bigint {
  return sha256(`velocity ${vaultId} ${per} ${key}`).readBigInt64BE()
}

/**
 * The sums of the waiting, pending and confirmed transfers in these windows, without the one that is decided on. One round
 * trip, in which every window is an index range of its scope. A scope that is missing in the facts is left out.
 */
export async function sumVelocity(
  db: Db | Trx,
  vaultId: string,
  windows: VelocityWindow[],
  facts: Facts,
): Promise<VelocitySum[]> {
  const sums = sumsOf(vaultId, windows, facts)
  return sums === null ? [] : (await sums.execute(db)).rows
}

/** SQL: the statement of `sumVelocity`; null when it would have no windows. */
export function sumsOf(vaultId: string, windows: VelocityWindow[], facts: Facts): RawBuilder<VelocitySum> | null {
  const parts = windows.flatMap((window) => {
    const key = velocityKeyOf(window.per, vaultId, facts)
    const asked = { key, tokenId: facts.token?.id ?? null, operationId: facts.operationId ?? null }
    return key === null ? [] : [sumOfWindow(vaultId, window, facts.now, asked)]
  })
  return parts.length === 0 ? null : sql<VelocitySum>`${sql.join(parts, sql` union all `)}`
}

/** The transfers that a velocity limit counts: those that reserve or moved funds, not those that failed or were rejected. */
const countedStatuses = (['awaiting_approval', 'pending', 'confirmed'] as const satisfies OperationStatus[]).map(
  (status) => sql.lit(status),
)

/**
 * As `sumVelocity` for each of many orders of one time, with one statement for each window however many they are.
 * An order that is stored already (`operationId`) is left out of its own sums.
 */
export async function sumVelocityOfBatch(
  db: Db | Trx,
  vaultId: string,
  windows: VelocityWindow[],
  orders: Facts[],
): Promise<VelocitySum[][]> {
  const sums: VelocitySum[][] = orders.map(() => [])
  const [first] = orders
  if (first === undefined) return sums
  for (const window of windows) {
    const asked = orders.map((facts) => ({
      key: velocityKeyOf(window.per, vaultId, facts),
      tokenId: facts.token?.id ?? null,
      operationId: facts.operationId ?? null,
    }))
    const distinct = [...new Map(asked.map((one) => [JSON.stringify(one), one])).entries()]
    const { rows } = await sql<VelocitySum & { n: number }>`
      select q.n::int as n, s.* from unnest(
        ${distinct.map(([, { key }]) => key)}::text[], ${distinct.map(([, { tokenId }]) => tokenId)}::text[],
        ${distinct.map(([, { operationId }]) => operationId)}::text[]
      ) with ordinality as q(key, token_id, operation_id, n)
      cross join lateral (${sumOfWindow(vaultId, window, first.now, {
        key: sql.ref('q.key'),
        tokenId: sql.ref('q.token_id'),
        operationId: sql.ref('q.operation_id'),
      })}) s
      where q.key is not null`.execute(db)
    const found = new Map(rows.map(({ n, ...sum }) => [distinct[n - 1]![0], sum]))
    for (const [i, one] of asked.entries()) {
      const sum = found.get(JSON.stringify(one))
      if (sum !== undefined) sums[i]!.push(sum)
    }
  }
  return sums
}

/**
 * There is no upper bound, because a request that began later may have committed first and counts. A rate that was added
 * after the creation does not count as one, so that nobody makes a limit permit what it was in doubt about.
 */
function sumOfWindow(
  vaultId: string,
  { per, windowSeconds }: VelocityWindow,
  now: Date,
  { key, tokenId, operationId }: Record<'key' | 'tokenId' | 'operationId', string | null | RawBuilder<unknown>>,
): RawBuilder<unknown> {
  const since = new Date(now.getTime() - windowSeconds * 1_000)
  const counted = {
    initiator: sql`operations o where o.initiator_id = ${key} and o.created_at > ${since}`,
    sourceAddress: sql`operations o where o.address_id = ${key} and o.created_at > ${since}`,
    vault: sql`operations o where o.created_at > ${since}`,
    destination: sql`transfers t join operations o on o.vault_id = t.vault_id and o.id = t.id
      where t.vault_id = ${vaultId} and t.to_address_key = ${key} and t.created_at > ${since}`,
  }[per]
  // The unit of a token is 1e-decimals, which is exact; a division would not be.
  return sql`
    select ${per}::text as per, ${windowSeconds}::int as "windowSeconds", coalesce(sum(c.count), 0)::int as count,
      trim_scale(coalesce(sum(c.raw * k.unit) filter (where c.token_id = ${tokenId}), 0))::text as amount,
      case when coalesce(sum(c.count - c.rated), 0) = 0
        then trim_scale(coalesce(sum(c.raw_usd * k.unit), 0))::text end as usd
    from (
      select o.token_id, count(*) as count, count(o.usd_rate) filter (where o.usd_rate_added_at is null) as rated,
        sum(o.amount) as raw, sum(o.amount * o.usd_rate) as raw_usd
      from ${counted} and o.vault_id = ${vaultId} and o.type = 'transfer'
        and o.status in (${sql.join(countedStatuses)}) and o.id is distinct from ${operationId}
      group by o.token_id
    ) c
    cross join lateral (select ('1e-' || t.decimals)::numeric as unit from tokens t where t.id = c.token_id) k`
}
