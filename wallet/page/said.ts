import type { Order } from './asked.ts'

/** What the wallet service says of an order by the authority in force. */
export interface Description {
  version: number
  /** Its hash, which votes name. */
  authority: string
  isListed: boolean
  rule: Rule | null
  token: { symbol: string | null; decimals: number } | null
  coinDecimals: number
}

interface Rule {
  initiators: string
  perDay: string | null
  floors: { above: string; to: 'any' | 'unlisted'; group: string; votes: number }[]
}

/** null: the wallet service did not say. */
export async function askDescription(order: Order): Promise<Description | null> {
  try {
    const body = JSON.stringify(order)
    const answer = await fetch('/sign/order', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    return answer.ok ? await answer.json() : null
  } catch {
    return null
  }
}

/** The votes that a rule asks for, in a sentence. */
export function sentenceOf({ initiators, floors, perDay }: Rule): string {
  // Two floors of one group are met by the same votes.
  const most = new Map<string, number>()
  for (const { group, votes } of floors) most.set(group, Math.max(votes, most.get(group) ?? 0))
  const asked = [...most].map(([group, votes]) => `${votes} of ${group}`)
  const needed = asked.length === 0 ? 'no approvals' : `approvals by ${asked.join(' and ')}`
  const limit = perDay === null ? '' : ` Within 24 hours at most ${perDay} in the smallest unit.`
  return `It needs the order of one of ${initiators}, and ${needed}.${limit}`
}
