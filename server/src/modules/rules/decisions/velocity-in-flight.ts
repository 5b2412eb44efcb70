import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { addDecimals } from '../../../lib/money.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { type Facts, type VelocityScope, type VelocitySum, velocityScopes } from '../selectors/facts.ts'
import { usdOf } from '../selectors/payment.ts'
import { evaluateSelector, velocityTypes } from '../selectors/selectors.ts'
import type { PolicySnapshot } from './decision.ts'
import { sumsOf, type VelocityWindow, velocityKeyOf, velocityLockOf } from './velocity-sums.ts'

/** The most that orders of a scope are about to add to its sums; `usd` is null when the rate of one of them is unknown. */
export type InFlight = { per: VelocitySum['per']; count: number; amount: string; usd: string | null }

/** The scopes and windows of the candidates that can match, and those of all candidates. */
type Windows = { limiting: VelocityWindow[]; all: VelocityWindow[] }

/**
 * Sums the windows under locks that are held until the end of the transaction: shared ones when orders in flight cannot change
 * what a velocity selector answers, else exclusive ones of the scopes that limit this order.
 *
 * An order announces its amounts before it reads those of the others and then the sums. So of two orders the later reader
 * knows the earlier one: from the sums, or from its announcement, which ends after its commit is visible (decision 0077). It
 * announces them in every scope, because another order may be limited by a scope that does not limit this one.
 */
export async function sumUnderLock(
  trx: Trx,
  candidates: PolicySnapshot[],
  { limiting, all }: Windows,
  { vaultId, facts }: { vaultId: string; facts: Facts },
): Promise<VelocitySum[]> {
  const statement = sumsOf(vaultId, all, facts)
  if (statement === null) return []
  const scopes = scopesOf(vaultId, facts, limiting)
  await announce(trx, scopes)
  const { sums, inFlight } = await readSums(trx, statement, scopes)
  if (isSettled(candidates, facts, { sums, inFlight })) return sums
  await announceAlone(trx, scopes)
  return (await statement.execute(trx)).rows
}

/** Returns true when each velocity selector answers the same with none and with all of what is in flight; pure. */
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
  // A total only grows with what is added, and a bound has one side: the same answer at both ends is the answer between.
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
/** The key of a sum that an order adds to, and how much it adds at most. */
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
 * Shared locks of pairs exclude nobody: their second number says how much the transaction is about to order. Then reads what
 * others have announced, in a statement that ends before the sums are read, which a setting carries to them.
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

/** Begins again: waits until no other order is in flight in the scopes that limit this one, and announces it in the others. */
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
/** The amount is unknown. */
const unknownMark = 0

export function toMark(decimal: string): number {
  const [whole = '', fraction = ''] = decimal.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const exponent = digits.length - fraction.length - digitsKept
  const isCut = /[1-9]/.test(digits.slice(digitsKept))
  const kept = Number(digits.slice(0, digitsKept).padEnd(digitsKept, '0')) + (isCut ? 1 : 0)
  return (exponent - exponentMin) * marksPerExponent + kept
}

export function ofMark(mark: number): string | null {
  if (mark === unknownMark) return null
  const exponent = Math.floor(mark / marksPerExponent) + exponentMin
  const digits = String(mark % marksPerExponent)
  if (exponent >= 0) return BigInt(digits + '0'.repeat(exponent)).toString()
  const padded = digits.padStart(1 - exponent, '0')
  return `${padded.slice(0, exponent)}.${padded.slice(exponent)}`
}
