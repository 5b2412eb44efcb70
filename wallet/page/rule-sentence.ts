import { fromRaw } from '../../sdk/src/signing/signing.ts'
import type { FullAuthority, Rule } from './authority.ts'

interface Paid {
  network: string
  contractAddress: string | null
  raw: string
  /** Membership of all recipients in the signed address list. */
  isListed: boolean
}

/** Says in a sentence what the authority asks for to pay this. Returns null when no rule names the token: it never leaves. */
export function sentenceOf({ rules }: FullAuthority, { network, contractAddress, raw, isListed }: Paid): string | null {
  const rule = rules.find((candidate) => candidate.network === network && candidate.contractAddress === contractAddress)
  if (rule === undefined) return null
  // Two floors of one group are met by the same votes.
  const most = new Map<string, number>()
  for (const { above, to, group, votes } of rule.floors)
    if (BigInt(raw) > BigInt(above) && !(to === 'unlisted' && isListed))
      most.set(group, Math.max(votes, most.get(group) ?? 0))
  const requirements = [...most].map(([group, votes]) => `${votes} of ${group}`)
  const needed = requirements.length === 0 ? 'no approvals' : `approvals by ${requirements.join(' and ')}`
  const limit = rule.perDay === null ? '' : ` Within 24 hours at most ${amountOf(rule.perDay, rule)}.`
  return `It needs the order of one of ${rule.initiators}, and ${needed}.${limit}`
}

/** An amount of the token of a rule, whole and exact. */
export function amountOf(raw: string, { symbol, decimals }: Pick<Rule, 'symbol' | 'decimals'>): string {
  if (symbol === undefined || decimals === undefined) return `${raw} in the smallest unit`
  return `${fromRaw(raw, decimals)} ${symbol}`
}
