import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { addDecimals, compareDecimals, multiplyDecimals, subtractDecimals } from '../../../lib/money.ts'
import type { Facts, VelocitySum } from '../selectors/facts.ts'
import { summedTypes } from '../selectors/selectors.ts'
import { listCandidates } from './candidates.ts'
import { decideFrom, type Initiator, type Question } from './decide.ts'
import { type Decision, named, type PolicySnapshot, type Requirement, strictestFirst } from './decision.ts'
import { sumVelocityOfBatch, velocityKeyOf, velocityLockOf, velocityWindowsOf } from './velocity-sums.ts'

/** Orders that are decided together. `orders` are their facts, with the same initiator, time and vault. */
export type BatchQuestion = Omit<Question, 'facts'> & {
  orders: Facts[]
  /** The payout that the orders replace; its transfers do not count for the velocity of the orders. */
  withoutPayout?: string | null
}

export type BatchDecision = Omit<Decision, 'trace' | 'facts' | 'policies'> & {
  /** The decision on each order, as if all other orders had been placed before it. */
  each: Decision[]
  /** The decision that refused the batch or asked for the most votes, and the order that it is about. */
  decisive: { order: number; view: ViewName; decision: Decision }
}

/**
 * A view of an order of a batch. `alone` is the order without the others; `together` adds the others to its velocity. In
 * `source` its amount is the sum of the orders of its source and token, and in `token` that of its token.
 */
type ViewName = 'alone' | 'together' | 'source' | 'token'

/**
 * Returns the policies for a batch. If a policy limits velocity, waits until no other limited order of the vault is in flight,
 * and makes later orders wait until the end of the transaction. One lock covers all sources and destinations.
 */
export async function lockBatch(
  trx: Trx,
  { vaultId, actionType, initiator }: Omit<BatchQuestion, 'orders'>,
): Promise<PolicySnapshot[]> {
  const candidates = await listCandidates(trx, vaultId, actionType, initiator.groupIds)
  if (velocityWindowsOf(candidates).length === 0) return candidates
  const lock = velocityLockOf('vault', vaultId, vaultId)
  await sql`select pg_advisory_xact_lock(${String(lock)}::bigint)`.execute(trx)
  return candidates
}

/**
 * Decides on every order of a batch in every view; the strictest result counts for all of them.
 *
 * @param areStored true if the orders are stored transfers: the sums of the past then already contain the other orders
 */
export async function decideBatch(
  db: Db | Trx,
  candidates: PolicySnapshot[],
  { vaultId, initiator, orders, withoutPayout = null }: BatchQuestion,
  { areStored }: { areStored: boolean },
): Promise<BatchDecision> {
  const windows = velocityWindowsOf(candidates)
  const sums = await sumVelocityOfBatch(db, vaultId, windows, { orders, withoutPayout })
  const alone = orders.map((facts, i) => (windows.length === 0 ? facts : { ...facts, velocity: sums[i]! }))
  const together = areStored ? alone : withEachOther(vaultId, alone)
  return decideViews(candidates, { together, alone: windows.length === 0 || areStored ? null : alone }, initiator)
}

/** Decides from the facts alone; pure. `alone` are the facts without the other orders; null when they equal `together`. */
export async function decideViews(
  candidates: PolicySnapshot[],
  { together, alone }: { together: Facts[]; alone: Facts[] | null },
  { isAdmin }: Pick<Initiator, 'isAdmin'>,
): Promise<BatchDecision> {
  const hasSums = candidates.some(({ rules }) =>
    rules.some(({ selectors }) => selectors.some(({ selectorType }) => summedTypes.has(selectorType))),
  )
  const views: { view: ViewName; facts: Facts[] }[] = [{ view: 'together', facts: together }]
  if (alone !== null) views.push({ view: 'alone', facts: alone })
  if (hasSums) {
    const ofSource = summedBy(together, ({ token, sourceAddressId }) => `${token?.id} ${sourceAddressId}`)
    views.push({ view: 'source', facts: ofSource })
    views.push({ view: 'token', facts: summedBy(together, ({ token }) => `${token?.id}`) })
  }
  const strictest = gatherStrictest(new Map(candidates.map((policy) => [policy.id, policy])))
  const decisions: Decision[] = []
  for (const { view, facts } of views) {
    for (const [order, factsOfOrder] of facts.entries()) {
      // A thousand orders and hundreds of policies take a while, in which other requests get their turn.
      if (order % ordersPerTurn === ordersPerTurn - 1) await setImmediate()
      const decision = decideFrom(candidates, factsOfOrder, { isAdmin })
      if (view === 'together') decisions.push(decision)
      strictest.add({ order, view, decision })
    }
  }
  return { ...strictest.result(), each: decisions }
}

const ordersPerTurn = 50

type Decided = BatchDecision['decisive']

/** Keeps only the decisions that may be the result, because a batch has thousands of decisions. */
function gatherStrictest(policies: ReadonlyMap<string, PolicySnapshot>) {
  const first: Partial<Record<Decision['effect'], Decided>> = {}
  const requirements = new Map<string, { requirement: Requirement; by: Decided }>()
  return {
    add(decided: Decided): void {
      first[decided.decision.effect] ??= decided
      for (const requirement of decided.decision.requirements) {
        const known = requirements.get(requirement.policyId)
        // A requirement that is waived for some of the orders only is not waived.
        if (known === undefined || (known.requirement.bypassed && !requirement.bypassed))
          requirements.set(requirement.policyId, { requirement, by: decided })
      }
    },
    result(): Omit<BatchDecision, 'each'> {
      const refused = first.block ?? first.deny
      if (refused !== undefined) {
        const { effect, blockReason, decisionPolicy } = refused.decision
        return { effect, blockReason, decisionPolicy, requirements: [], decisive: refused }
      }
      const sorted = [...requirements.values()].toSorted((a, b) =>
        strictestFirst(policies.get(a.requirement.policyId)!, policies.get(b.requirement.policyId)!),
      )
      const open = sorted.filter(({ requirement }) => !requirement.bypassed)
      const strictest = open[0] ?? sorted[0]
      const decisive = strictest?.by ?? first.allow!
      const policy = strictest && named(policies.get(strictest.requirement.policyId)!)
      return {
        effect: open.length === 0 ? 'allow' : 'approval',
        blockReason: null,
        decisionPolicy: policy ?? decisive.decision.decisionPolicy,
        requirements: sorted.map(({ requirement }) => requirement),
        decisive,
      }
    },
  }
}

/** Adds to the sums of an order those of all other orders of its scope. */
const withEachOther = (vaultId: string, orders: Facts[]): Facts[] => withOthers(vaultId, orders, addDecimals)

/** Returns the sums of each order without the other orders. USD that were unknown together stay unknown. */
export const withoutEachOther = (vaultId: string, orders: Facts[]): Facts[] =>
  withOthers(vaultId, orders, subtractDecimals)

function withOthers(vaultId: string, orders: Facts[], change: (a: string, b: string) => string): Facts[] {
  const totals = new Map<string, { count: number; unrated: number; usd: string; amounts: Map<string, string> }>()
  const keyOf = (per: VelocitySum['per'], facts: Facts) => `${per} ${velocityKeyOf(per, vaultId, facts)}`
  const pers = new Set(orders.flatMap(({ velocity = [] }) => velocity.map(({ per }) => per)))
  for (const facts of orders) {
    const { amount = '0', usdRate, token } = facts
    for (const per of pers) {
      const key = keyOf(per, facts)
      const total = totals.get(key) ?? { count: 0, unrated: 0, usd: '0', amounts: new Map<string, string>() }
      total.count += 1
      if (usdRate === undefined) total.unrated += 1
      else total.usd = addDecimals(total.usd, multiplyDecimals(amount, usdRate))
      total.amounts.set(token?.id ?? '', addDecimals(total.amounts.get(token?.id ?? '') ?? '0', amount))
      totals.set(key, total)
    }
  }
  return orders.map((facts) => {
    const { velocity, amount = '0', usdRate, token } = facts
    if (velocity === undefined) return facts
    const added = velocity.map((sum) => {
      const total = totals.get(keyOf(sum.per, facts))!
      const others = subtractDecimals(total.amounts.get(token?.id ?? '')!, amount)
      const isRated = total.unrated - (usdRate === undefined ? 1 : 0) === 0
      const ownUsd = usdRate === undefined ? '0' : multiplyDecimals(amount, usdRate)
      return {
        ...sum,
        count: Number(change(String(sum.count), String(total.count - 1))),
        amount: change(sum.amount, others),
        usd: sum.usd === null || !isRated ? null : change(sum.usd, subtractDecimals(total.usd, ownUsd)),
      }
    })
    return { ...facts, velocity: added }
  })
}

/** Returns the facts with the sum of the orders of a group, and the sum of the available balances of their sources. */
function summedBy(orders: Facts[], groupOf: (facts: Facts) => string): Facts[] {
  const groups = new Map<string, { amount: string; sources: Map<string, string> }>()
  for (const facts of orders) {
    const group = groups.get(groupOf(facts)) ?? { amount: '0', sources: new Map<string, string>() }
    group.amount = addDecimals(group.amount, facts.amount ?? '0')
    group.sources.set(facts.sourceAddressId ?? '', facts.available ?? '0')
    groups.set(groupOf(facts), group)
  }
  const summed = new Map<string, NonNullable<Facts['summed']>>()
  for (const [key, { amount, sources }] of groups)
    summed.set(key, { amount, available: [...sources.values()].reduce(addDecimals, '0') })
  return orders.map((facts) => {
    const group = summed.get(groupOf(facts))!
    const isSame = compareDecimals(group.amount, facts.amount ?? '0') === 0 && group.available === facts.available
    return isSame ? facts : { ...facts, summed: group }
  })
}
