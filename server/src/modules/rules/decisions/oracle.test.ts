import fc from 'fast-check'
import { expect, it } from 'vitest'
import { campaignOf } from '../../../testing/campaign.ts'
import type { Facts } from '../selectors/facts.ts'
import { findSelectorFault } from '../selectors/selectors.ts'
import { evaluatePolicy } from './decide.ts'
import { combine, type Effect, type PolicySnapshot, type Rule } from './decision.ts'

/** `npm run nightly:policies` sets it to 100,000. */
const { runs, seed } = campaignOf('POLICY', { runs: 2_000, seed: 34 })

/** The facts of a decision in a simple form: amounts and sums are small whole numbers, and names are single letters. */
type World = {
  amount: number
  rate: number | null
  available: number
  initiator: string
  isService: boolean
  groups: string[]
  isFirst: boolean | null
  counterparty: { id: string; kind: string; groups: string[]; ageHours: number; addedHours: number | null } | null
  variant: string
  sums: { count: number; amount: number; usd: number | null }
  isAdmin: boolean
}

const name = fc.constantFrom('a', 'b', 'c')
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 2 })
const small = fc.integer({ min: 1, max: 20 })
const anyWorld: fc.Arbitrary<World> = fc.record({
  amount: small,
  rate: fc.option(fc.constantFrom(1, 2, 3)),
  available: fc.integer({ min: 0, max: 20 }),
  initiator: name,
  isService: fc.boolean(),
  groups: names,
  isFirst: fc.option(fc.boolean()),
  counterparty: fc.option(
    fc.record({
      id: name,
      kind: fc.constantFrom('company', 'other'),
      groups: names,
      ageHours: small,
      // Decisions of earlier versions do not contain this fact.
      addedHours: fc.option(small),
    }),
  ),
  variant: name,
  sums: fc.record({ count: fc.nat(5), amount: fc.nat(20), usd: fc.option(fc.nat(40)) }),
  isAdmin: fc.boolean(),
})

const comparison = fc.oneof(
  fc.record({ op: fc.constantFrom('gt', 'gte', 'lt', 'lte'), value: small.map(String) }),
  fc.tuple(small, small).map(([a, b]) => ({ op: 'between', min: String(Math.min(a, b)), max: String(Math.max(a, b)) })),
)
const limit = fc.record({
  op: fc.constantFrom('gt', 'gte', 'lt', 'lte'),
  value: small.map(String),
  windowSeconds: fc.constant(60),
  // Sums are known of the vault only.
  per: fc.constantFrom('vault', 'initiator'),
})
const set = fc.oneof(name, names)
const selector = fc
  .oneof(
    fc.tuple(fc.constantFrom('amount', 'amountUsd', 'percentOfBalance', 'counterpartyAgeHours'), comparison),
    fc.tuple(fc.constant('destinationAgeHours'), comparison),
    fc.tuple(fc.constantFrom('firstPaymentToDestination', 'addressLookAlike'), fc.boolean()),
    fc.tuple(fc.constant('initiatorKind'), fc.constantFrom('person', 'service')),
    fc.tuple(fc.constantFrom('velocityAmount', 'velocityUsd', 'velocityCount'), limit),
    fc.tuple(fc.constantFrom('initiator', 'initiatorGroup', 'counterparty', 'counterpartyGroup'), set),
    fc.tuple(fc.constant('counterpartyKind'), fc.constantFrom('company', 'other')),
    fc.tuple(fc.constant('routeVariant'), fc.record({ route: fc.constant('purpose'), variant: name })),
    fc.tuple(fc.constant('network'), name),
  )
  .map(([selectorType, value]) => ({ id: 's', selectorType: selectorType as string, value: value as unknown }))
const rule: fc.Arbitrary<Rule> = fc.record({
  id: fc.constant('r'),
  createdAt: fc.constant('2026-01-01T00:00:00.000Z'),
  conditionType: fc.constantFrom('require', 'any', 'exclude'),
  selectors: fc.array(selector, { minLength: 1, maxLength: 3 }),
})
const anyPolicies = fc
  .array(
    fc.record({
      effect: fc.constantFrom('allow' as const, 'block' as const, 'requireApproval' as const),
      votes: fc.integer({ min: 0, max: 3 }),
      adminBypass: fc.boolean(),
      rules: fc.array(rule, { maxLength: 2 }),
    }),
    { maxLength: 6 },
  )
  .map((drafts) =>
    drafts.map(
      ({ effect, votes, adminBypass, rules }, i): PolicySnapshot => ({
        id: `p${i}`,
        groupId: 'g',
        code: `p${i}`,
        name: 'Policy',
        actionType: 'transfer',
        effect,
        blockReason: null,
        approvalThreshold: effect === 'block' ? 0 : effect === 'requireApproval' ? votes + 1 : votes,
        adminBypass,
        allowInitiatorApproval: false,
        rules,
        approvers: [],
      }),
    ),
  )

it(`T34 ${runs} random policy sets are decided as a naive reading of the rules decides them, in any order`, {
  timeout: 600_000,
}, () => {
  const seen = new Set<Effect>()
  fc.assert(
    fc.property(anyWorld, anyPolicies, fc.nat(), (world, policies, turn) => {
      for (const { rules } of policies) {
        for (const { selectorType, value } of rules.flatMap(({ selectors }) => selectors)) {
          expect(findSelectorFault('transfer', selectorType, value)).toBeNull()
        }
      }
      const cut = policies.length === 0 ? 0 : turn % policies.length
      const turned = [...policies.slice(cut), ...policies.slice(0, cut)].reverse()
      const facts = factsOf(world)
      const matches = turned.flatMap((policy) => {
        const { matched, inDoubt } = evaluatePolicy(policy, facts)
        return matched ? { policy, inDoubt } : []
      })
      const { effect, decisionPolicy, requirements } = combine(matches, world.isAdmin)
      seen.add(effect)
      expect({
        effect,
        policy: decisionPolicy?.id ?? null,
        waived: requirements.filter(({ bypassed }) => bypassed).map(({ policyId }) => policyId),
      }).toEqual(naively(policies, world))
    }),
    { numRuns: runs, seed },
  )
  expect([...seen].sort()).toEqual(['allow', 'approval', 'block', 'deny'])
})

const now = new Date('2026-01-30T09:30:00.000Z')

function factsOf(world: World): Facts {
  const { counterparty } = world
  return {
    now,
    initiatorId: world.initiator,
    initiatorGroupIds: world.groups,
    initiatorKind: world.isService ? 'service' : 'person',
    ...(world.isFirst === null ? {} : { isFirstPayment: world.isFirst }),
    token: { id: 't', code: 'T' },
    amount: String(world.amount),
    ...(world.rate === null ? {} : { usdRate: `${world.rate}.000` }),
    available: String(world.available),
    routeVariants: [{ route: 'purpose', variant: world.variant }],
    counterparty:
      counterparty === null
        ? null
        : {
            id: counterparty.id,
            kind: counterparty.kind,
            groupIds: counterparty.groups,
            createdAt: hoursAgo(counterparty.ageHours),
          },
    ...(counterparty === null
      ? { destinationAddedAt: null }
      : counterparty.addedHours === null
        ? {}
        : { destinationAddedAt: hoursAgo(counterparty.addedHours) }),
    velocity: [
      {
        per: 'vault',
        windowSeconds: 60,
        count: world.sums.count,
        amount: String(world.sums.amount),
        usd: world.sums.usd === null ? null : String(world.sums.usd),
      },
    ],
  }
}

const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000).toISOString()

/**
 * The same rules in their simplest form: both results are tried for every unknown condition, and the result that is against
 * the transfer counts.
 */
function naively(policies: PolicySnapshot[], world: World) {
  const judged = policies.map((policy) => ({ ...policy, answers: possibleAnswers(policy, world) }))
  const matching = judged.filter(({ effect, approvalThreshold, answers }) => {
    const isAgainst = effect === 'block' || approvalThreshold > 0
    return isAgainst ? answers.includes(true) : !answers.includes(false)
  })
  const first = (some: PolicySnapshot[]) => some.map(({ id }) => id).sort()[0] ?? null
  const blocks = matching.filter(({ effect }) => effect === 'block')
  if (blocks.length > 0) return { effect: 'block', policy: first(blocks), waived: [] }
  // These policies match whatever the unknown results are.
  const sure = matching.filter(({ answers }) => !answers.includes(false))
  const demands = matching.filter(({ effect }) => effect === 'requireApproval')
  if (sure.length === 0 && demands.length === 0) return { effect: 'deny', policy: null, waived: [] }
  const asking = matching.filter(({ approvalThreshold }) => approvalThreshold > 0)
  if (asking.length === 0) return { effect: 'allow', policy: first(matching), waived: [] }
  const highest = Math.max(...asking.map(({ approvalThreshold }) => approvalThreshold))
  const top = asking.filter(({ approvalThreshold }) => approvalThreshold === highest)
  const firm = top.filter(({ adminBypass }) => !adminBypass)
  const mayWaive = world.isAdmin && sure.length > 0
  const waived = asking.filter(({ adminBypass }) => adminBypass && mayWaive).map(({ id }) => id)
  const effect = waived.length === asking.length ? 'allow' : 'approval'
  return { effect, policy: first(firm.length > 0 ? firm : top), waived: waived.sort() }
}

/** Returns the possible results of a policy: one for each combination of results of its uncertain selectors. */
function possibleAnswers({ rules }: PolicySnapshot, world: World): boolean[] {
  const perRule = rules.map(({ conditionType, selectors }) => {
    let ways: boolean[][] = [[]]
    for (const { selectorType, value } of selectors) {
      const answer = truthOf(selectorType, value, world)
      const options = answer === null ? [true, false] : [answer]
      ways = ways.flatMap((way) => options.map((option) => [...way, option]))
    }
    return ways.map((way) => {
      if (conditionType === 'require') return way.every((matched) => matched)
      if (conditionType === 'any') return way.some((matched) => matched)
      return !way.some((matched) => matched)
    })
  })
  // Rules are independent here: the same doubt in two of them may turn out differently, which only widens the doubt.
  const canHold = perRule.every((answers) => answers.includes(true))
  const canFail = perRule.some((answers) => answers.includes(false))
  return [...(canHold ? [true] : []), ...(canFail ? [false] : [])]
}

type Numbers = { op: string; value?: string; min?: string; max?: string; per?: string }

function truthOf(selectorType: string, value: unknown, world: World): boolean | null {
  const { amount, rate, available, counterparty, sums } = world
  const within = (numbers: Numbers, observed: number) => {
    if (numbers.op === 'between') return observed >= Number(numbers.min) && observed <= Number(numbers.max)
    const bound = Number(numbers.value)
    return { gt: observed > bound, gte: observed >= bound, lt: observed < bound, lte: observed <= bound }[numbers.op]!
  }
  const isIn = (observed: string[]) =>
    (Array.isArray(value) ? value : [value]).some((expected) => observed.includes(expected))
  const bounds = value as Numbers
  const isKnown = bounds.per !== 'initiator'
  switch (selectorType) {
    case 'amount':
      return within(bounds, amount)
    case 'amountUsd':
      return rate === null ? null : within(bounds, amount * rate)
    case 'percentOfBalance': {
      if (available === 0) return null
      const scaled = (text?: string) => (text === undefined ? {} : { value: String(Number(text) * available) })
      if (bounds.op !== 'between') return within({ op: bounds.op, ...scaled(bounds.value) }, amount * 100)
      return amount * 100 >= Number(bounds.min) * available && amount * 100 <= Number(bounds.max) * available
    }
    case 'velocityAmount':
      return isKnown ? within(bounds, sums.amount + amount) : null
    case 'velocityUsd':
      return isKnown && sums.usd !== null && rate !== null ? within(bounds, sums.usd + amount * rate) : null
    case 'velocityCount':
      return isKnown ? within(bounds, sums.count + 1) : null
    case 'initiator':
      return isIn([world.initiator])
    case 'initiatorGroup':
      return isIn(world.groups)
    case 'counterparty':
      return counterparty !== null && isIn([counterparty.id])
    case 'counterpartyGroup':
      return counterparty !== null && isIn(counterparty.groups)
    case 'counterpartyKind':
      return counterparty !== null && isIn([counterparty.kind])
    case 'counterpartyAgeHours':
      return counterparty === null ? null : within(bounds, counterparty.ageHours)
    case 'destinationAgeHours':
      return counterparty === null || counterparty.addedHours === null ? null : within(bounds, counterparty.addedHours)
    case 'firstPaymentToDestination':
      return world.isFirst === null ? null : world.isFirst === value
    case 'initiatorKind':
      return isIn([world.isService ? 'service' : 'person'])
    case 'routeVariant':
      return (value as { variant: string }).variant === world.variant
    default:
      return null
  }
}
