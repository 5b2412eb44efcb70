import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { addDecimals } from '../../../lib/money.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { type Facts, type VelocityScope, type VelocitySum, velocityScopes } from '../selectors/facts.ts'
import { usdOf } from '../selectors/payment.ts'
import { evaluateSelector, velocityTypes, velocityWindowOf } from '../selectors/selectors.ts'
import type { VelocityWindow } from '../selectors/velocity.ts'
import type { PolicySnapshot } from './decision.ts'

/** Returns the windows that velocity selectors of these policies test, each once. */
export function velocityWindowsOf(policies: PolicySnapshot[]): VelocityWindow[] {
  const windows = new Map<string, VelocityWindow>()
  for (const { rules } of policies) {
    for (const { selectorType, value } of rules.flatMap(({ selectors }) => selectors)) {
      const window = velocityWindowOf(selectorType, value)
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

/** The advisory lock of a scope: shared by orders that are decided side by side, exclusive for an order that is decided alone. */
export function velocityLockOf(per: VelocityScope, vaultId: string, key: string): bigint {
  return sha256(`velocity ${vaultId} ${per} ${key}`).readBigInt64BE()
}

/** The facts of the action that is decided on, and its vault. */
type Limited = { vaultId: string; facts: Facts }

/**
 * Returns the sums of the waiting, pending and confirmed transfers in the windows of these candidates, without the transfer that
 * is decided on. One round trip, in which every window is an index range of its scope. A scope that is missing in the facts is
 * left out, and a window whose sum is already among the facts is not summed again.
 */
export async function sumVelocity(
  db: Db | Trx,
  candidates: PolicySnapshot[],
  { vaultId, facts }: Limited,
): Promise<Pick<Facts, 'velocity'>> {
  const { velocity: known = [] } = facts
  const windows = velocityWindowsOf(candidates).filter(
    ({ per, windowSeconds }) => !known.some((sum) => sum.per === per && sum.windowSeconds === windowSeconds),
  )
  if (windows.length === 0) return {}
  const sums = sumsOf(vaultId, windows, facts)
  return { velocity: sums === null ? known : [...known, ...(await sums.execute(db)).rows] }
}

/** SQL: the statement that sums these windows; null without windows that have a scope. */
export function sumsOf(vaultId: string, windows: VelocityWindow[], facts: Facts): RawBuilder<VelocitySum> | null {
  const parts = windows.flatMap((window) => {
    const key = velocityKeyOf(window.per, vaultId, facts)
    const counted = { key, tokenId: facts.token?.id ?? null, operationId: facts.operationId ?? null }
    return key === null ? [] : [sumOfWindow(vaultId, window, facts.now, counted)]
  })
  return parts.length === 0 ? null : sql<VelocitySum>`${sql.join(parts, sql` union all `)}`
}

/** The transfers that a velocity limit counts: those that reserve or moved funds, not those that failed or were rejected. */
const countedStatuses = (['awaiting_approval', 'pending', 'confirmed'] as const satisfies OperationStatus[]).map(
  (status) => sql.lit(status),
)

/**
 * As `sumVelocity` for many orders of the same time, with one statement for each window. The sums of a stored order
 * (`operationId`) do not contain the order itself, and no sum contains the rows of `withoutPayout`.
 */
export async function sumVelocityOfBatch(
  db: Db | Trx,
  vaultId: string,
  windows: VelocityWindow[],
  { orders, withoutPayout }: { orders: Facts[]; withoutPayout: string | null },
): Promise<VelocitySum[][]> {
  const sums: VelocitySum[][] = orders.map(() => [])
  const [first] = orders
  if (first === undefined) return sums
  for (const window of windows) {
    const keys = orders.map((facts) => ({
      key: velocityKeyOf(window.per, vaultId, facts),
      tokenId: facts.token?.id ?? null,
      operationId: facts.operationId ?? null,
    }))
    const distinct = [...new Map(keys.map((entry) => [JSON.stringify(entry), entry])).entries()]
    const { rows } = await sql<VelocitySum & { n: number }>`
      select q.n::int as n, s.* from unnest(
        ${distinct.map(([, { key }]) => key)}::text[], ${distinct.map(([, { tokenId }]) => tokenId)}::text[],
        ${distinct.map(([, { operationId }]) => operationId)}::text[]
      ) with ordinality as q(key, token_id, operation_id, n)
      cross join lateral (${sumOfWindow(vaultId, window, first.now, {
        key: sql.ref('q.key'),
        tokenId: sql.ref('q.token_id'),
        operationId: sql.ref('q.operation_id'),
        withoutPayout,
      })}) s
      where q.key is not null`.execute(db)
    const found = new Map(rows.map(({ n, ...sum }) => [distinct[n - 1]![0], sum]))
    for (const [i, entry] of keys.entries()) {
      const sum = found.get(JSON.stringify(entry))
      if (sum !== undefined) sums[i]!.push(sum)
    }
  }
  return sums
}

/** The scope and the token of a sum, and what it leaves out. */
type Counted = Record<'key' | 'tokenId' | 'operationId', string | null | RawBuilder<unknown>> & {
  withoutPayout?: string | null
}

/**
 * There is no upper bound, because a request that began later may have committed first and counts. A rate that was added
 * after the creation does not count, because it could turn an unknown sum into one below the limit.
 */
function sumOfWindow(
  vaultId: string,
  { per, windowSeconds }: VelocityWindow,
  now: Date,
  { key, tokenId, operationId, withoutPayout = null }: Counted,
): RawBuilder<unknown> {
  const isOther =
    withoutPayout === null
      ? sql``
      : sql`and not exists (
          select from transfers r where r.vault_id = o.vault_id and r.id = o.id and r.payout_id = ${withoutPayout})`
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
        and o.status in (${sql.join(countedStatuses)}) and o.id is distinct from ${operationId} ${isOther}
      group by o.token_id
    ) c
    cross join lateral (select ('1e-' || t.decimals)::numeric as unit from tokens t where t.id = c.token_id) k`
}

/** The most that orders of a scope are about to add to its sums. `usd` is null when the rate of an order is unknown. */
export type InFlight = { per: VelocitySum['per']; count: number; amount: string; usd: string | null }

/**
 * Sums the windows of all candidates, if a candidate that can match has a window, under locks that are held until the end of the
 * transaction: shared locks when orders in flight cannot change the result of a velocity selector, otherwise exclusive locks of
 * the scopes that limit this order.
 *
 * An order announces its amounts before it reads the announcements of other orders and then the sums. So of two orders the
 * later reader knows the earlier order: from the sums, or from its announcement, which ends after its commit is visible
 * (decision 0077). An order announces its amounts in every scope, because another order may be limited by a scope that does
 * not limit this order.
 *
 * @param matchable the candidates that can match
 */
export async function sumUnderLock(
  trx: Trx,
  matchable: PolicySnapshot[],
  candidates: PolicySnapshot[],
  { vaultId, facts }: Limited,
): Promise<Pick<Facts, 'velocity'>> {
  const limiting = velocityWindowsOf(matchable)
  if (limiting.length === 0) return {}
  const statement = sumsOf(vaultId, velocityWindowsOf(candidates), facts)
  if (statement === null) return { velocity: [] }
  const scopes = scopesOf(vaultId, facts, limiting)
  await announce(trx, scopes)
  const { sums, inFlight } = await readSums(trx, statement, scopes)
  if (isSettled(matchable, facts, { sums, inFlight })) return { velocity: sums }
  await announceAlone(trx, scopes)
  return { velocity: (await statement.execute(trx)).rows }
}

/** Returns true if each velocity selector has the same result without and with all orders in flight. It is pure. */
export function isSettled(
  candidates: { rules: { selectors: Parameters<typeof evaluateSelector>[0][] }[] }[],
  facts: Facts,
  { sums, inFlight }: { sums: VelocitySum[]; inFlight: InFlight[] },
): boolean {
  const selectors = candidates
    .flatMap(({ rules }) => rules.flatMap((rule) => rule.selectors))
    .filter(({ selectorType }) => velocityTypes.has(selectorType))
  const answersAt = (velocity: VelocitySum[]) => {
    const known = { ...facts, velocity }
    return selectors.map((selector) => evaluateSelector(selector, known).matched)
  }
  const most = answersAt(sums.map((sum) => withInFlight(sum, inFlight)))
  // A total only grows, and a limit has one side, so that equal results at both ends hold for every total between them.
  return answersAt(sums).every((answer, i) => answer === most[i])
}

function withInFlight(sum: VelocitySum, inFlight: InFlight[]): VelocitySum {
  const others = inFlight.find(({ per }) => per === sum.per)
  if (others === undefined) return sum
  const usd = sum.usd === null || others.usd === null ? null : addDecimals(sum.usd, others.usd)
  return { ...sum, count: sum.count + others.count, amount: addDecimals(sum.amount, others.amount), usd }
}

/** A scope that an order counts in: its lock, and what the order announces there. `isLimiting`: its sum decides on the order. */
type Scope = { per: VelocityScope; lock: bigint; isLimiting: boolean; amount: Mark; usd: Mark }
/** The key of a sum to which an order adds, and the most that it adds. */
type Mark = { key: number; value: number }

/** Every scope of an order, sorted by lock: transactions that take the locks in this order cannot deadlock. */
function scopesOf(vaultId: string, facts: Facts, limiting: VelocityWindow[]): Scope[] {
  const scopes = velocityScopes.flatMap((per): Scope[] => {
    const key = velocityKeyOf(per, vaultId, facts)
    if (key === null) return []
    const markOf = (measure: string, value: string | null): Mark => ({
      key: sha256(`in flight ${vaultId} ${per} ${key} ${measure}`).readInt32BE(),
      value: value === null ? unknownMark : toMark(value),
    })
    return [
      {
        per,
        lock: velocityLockOf(per, vaultId, key),
        isLimiting: limiting.some((window) => window.per === per),
        amount: markOf(facts.token?.id ?? '', facts.amount ?? null),
        usd: markOf('usd', usdOf(facts)),
      },
    ]
  })
  return scopes.toSorted((a, b) => (a.lock < b.lock ? -1 : 1))
}

const shared = ({ lock }: Scope) => `pg_advisory_xact_lock_shared('${lock}'::bigint)`
const exclusive = ({ lock }: Scope) => `pg_advisory_xact_lock('${lock}'::bigint)`
const marksOf = (scopes: Scope[]) => scopes.flatMap(({ amount, usd }) => [amount, usd])
const mark = ({ key, value }: Mark) => `pg_advisory_xact_lock_shared('${key}'::int, ${value})`

/**
 * Takes shared locks of pairs of numbers, which exclude nobody: the second number says how much the transaction is about to
 * order. Then reads the announcements of others, in a statement that ends before the sums are read. A setting carries the
 * announcements to that later statement.
 */
async function announce(trx: Trx, scopes: Scope[]): Promise<void> {
  const taken = [...scopes.map(shared), ...marksOf(scopes).map(mark)]
  const keys = marksOf(scopes.filter(({ isLimiting }) => isLimiting)).map(({ key }) => key >>> 0)
  const statements = [
    'savepoint velocity',
    `select ${taken.join(', ')}`,
    `select set_config('strongroom.in_flight', coalesce(json_agg(json_build_array(classid::bigint, objid::bigint)), '[]')::text, true)
      from pg_locks where locktype = 'advisory' and objsubid = 2 and granted and pid <> pg_backend_pid()
        and database = (select oid from pg_database where datname = current_database())
        and classid::bigint = any ('{${keys.join(',')}}'::bigint[])`,
  ]
  await sql.raw(statements.join(';')).execute(trx)
}

/** Begins anew: waits until no other order is in flight in the scopes that limit this order, and announces it in other scopes. */
async function announceAlone(trx: Trx, scopes: Scope[]): Promise<void> {
  const locks = scopes.map((scope) => (scope.isLimiting ? exclusive(scope) : shared(scope)))
  const marks = marksOf(scopes.filter(({ isLimiting }) => !isLimiting)).map(mark)
  await sql.raw(`rollback to savepoint velocity; select ${[...locks, ...marks].join(', ')}`).execute(trx)
}

async function readSums(trx: Trx, statement: RawBuilder<VelocitySum>, scopes: Scope[]) {
  const { rows } = await sql<VelocitySum & { announced: string }>`
    select s.*, current_setting('strongroom.in_flight') as announced from (${statement}) s`.execute(trx)
  const announced = JSON.parse(rows[0]!.announced) as [key: number, value: number][]
  const amountsOf = ({ key }: Mark) => announced.flatMap(([of, value]) => (of === key >>> 0 ? [ofMark(value)] : []))
  const limiting = scopes.filter(({ isLimiting }) => isLimiting)
  const inFlight = limiting.map(({ per, amount, usd }): InFlight => {
    const usds = amountsOf(usd)
    const total = amountsOf(amount).reduce(addKnown, '0')
    return { per, count: usds.length, amount: total ?? '0', usd: usds.reduce(addKnown, '0') }
  })
  return { sums: rows.map(({ announced: _, ...sum }) => sum), inFlight }
}

const addKnown = (a: string | null, b: string | null) => (a === null || b === null ? null : addDecimals(a, b))

/** A decimal rounded up to six digits, in 31 bits: an exponent of ten above `exponentMin`, and the digits. */
const digitsKept = 6
const exponentMin = -100
const marksPerExponent = 2_000_000
/** The mark of an unknown amount. */
const unknownMark = 0

/** Returns the mark of an amount: the amount rounded up to `digitsKept` digits. */
export function toMark(decimal: string): number {
  const [whole = '', fraction = ''] = decimal.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const exponent = digits.length - fraction.length - digitsKept
  const isCut = /[1-9]/.test(digits.slice(digitsKept))
  const kept = Number(digits.slice(0, digitsKept).padEnd(digitsKept, '0')) + (isCut ? 1 : 0)
  return (exponent - exponentMin) * marksPerExponent + kept
}

/** Returns the amount of a mark; null if it is unknown. */
export function ofMark(mark: number): string | null {
  if (mark === unknownMark) return null
  const exponent = Math.floor(mark / marksPerExponent) + exponentMin
  const digits = String(mark % marksPerExponent)
  if (exponent >= 0) return BigInt(digits + '0'.repeat(exponent)).toString()
  const padded = digits.padStart(1 - exponent, '0')
  return `${padded.slice(0, exponent)}.${padded.slice(exponent)}`
}
