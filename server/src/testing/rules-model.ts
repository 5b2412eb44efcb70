import { decideFrom } from '../modules/rules/decisions/decide.ts'
import type { Decision, PolicySnapshot } from '../modules/rules/decisions/decision.ts'
import type { RulesDocument } from '../modules/rules/rules-versions/document-schema.ts'
import type { Facts } from '../modules/rules/selectors/facts.ts'
import { createRandom } from './random.ts'

/** Random rules, and their decisions by the pure evaluator. */

export type Pick = ReturnType<typeof picker>

export function picker(seed: number) {
  const random = createRandom(seed)
  return <Item>(items: readonly Item[]): Item => items[random.below(items.length)]!
}

export function randomPolicy(pick: Pick, groupIds: string[]) {
  const effect = pick(['allow', 'block', 'requireApproval'] as const)
  const approvalThreshold = effect === 'block' ? 0 : effect === 'requireApproval' ? pick([1, 2]) : pick([0, 0, 1])
  const selectors = [
    { selectorType: 'amount', value: { op: pick(['lte', 'gt']), value: pick(['1', '10', '100']) } },
    { selectorType: 'token', value: pick([['ETH'], ['ETH', 'USDT']]) },
    { selectorType: 'initiatorGroup', value: [pick(groupIds)] },
  ]
  const rule = { conditionType: pick(['require', 'any', 'exclude'] as const), selectors: [pick(selectors)] }
  return {
    actionType: pick(['transfer', 'transfer', 'create_address'] as const),
    effect,
    approvalThreshold,
    adminBypass: pick([true, false]),
    enabled: pick([true, true, false]),
    rules: pick([
      [],
      [{ ...rule, selectors: [selectors[2]!] }],
      [{ ...rule, selectors: [pick(selectors.slice(0, 2))] }],
    ]),
  }
}

const amounts = ['0.5', '5', '50', '500']
const actionTypes = ['transfer', 'create_address'] as const

/** Returns the decisions of the rules for every member about some orders. */
export function outcomesOf(rules: RulesDocument): Map<string, Decision> {
  const everyone = rules.groups.find(({ code }) => code === 'everyone')!.id
  const outcomes = new Map<string, Decision>()
  const members = new Set(rules.groups.flatMap((group) => group.members))
  for (const userId of members) {
    const groups = rules.groups.filter((group) => group.members.includes(userId))
    const initiatorGroupIds = [...groups.map(({ id }) => id), everyone]
    const isAdmin = groups.some(({ code }) => code === 'administrators')
    for (const actionType of actionTypes) {
      const candidates = rules.policies
        .filter(
          (policy) => policy.enabled && policy.actionType === actionType && initiatorGroupIds.includes(policy.groupId),
        )
        .map((policy): PolicySnapshot => {
          const approvers = policy.approvers.map(({ threshold, ...who }) =>
            threshold === null ? who : { ...who, threshold },
          )
          return {
            ...policy,
            approvers,
            rules: policy.rules.map((rule) => ({
              ...rule,
              id: '',
              createdAt: '',
              selectors: rule.selectors.map((selector) => ({ ...selector, id: '' })),
            })),
          }
        })
      for (const code of ['ETH', 'USDT', null]) {
        for (const amount of amounts) {
          const token = code === null ? {} : { token: { id: code, code }, amount }
          const facts: Facts = { now: new Date(0), initiatorId: userId, initiatorGroupIds, ...token }
          outcomes.set(`${userId} ${actionType} ${code} ${amount}`, decideFrom(candidates, facts, { isAdmin }))
        }
      }
    }
  }
  return outcomes
}

/** Returns the strictness: block, deny, approval by more votes, approval, allow. Higher is stricter. */
export function strictness(decision: Decision | undefined): number {
  if (decision === undefined) return 2_000
  if (decision.effect === 'block') return 3_000
  if (decision.effect === 'deny') return 2_000
  const thresholds = decision.requirements.filter(({ bypassed }) => !bypassed).map(({ threshold }) => threshold)
  return decision.effect === 'allow' ? 0 : Math.max(0, ...thresholds)
}
