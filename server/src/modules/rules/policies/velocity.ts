import { sha256 } from '../../../lib/secrets.ts'
import type { PolicySnapshot } from './decision.ts'
import type { Facts, VelocityScope } from './facts.ts'
import { readVelocityWindow, velocityTypes } from './selectors/velocity.ts'

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

/** The advisory locks of the scopes of these windows, sorted: transactions that take them in this order cannot deadlock. */
export function velocityLocksOf(windows: VelocityWindow[], vaultId: string, facts: Facts): bigint[] {
  const scopes = new Set(windows.map(({ per }) => per))
  const locks = [...scopes].flatMap((per) => {
    const key = velocityKeyOf(per, vaultId, facts)
    return key === null ? [] : [sha256(`velocity ${vaultId} ${per} ${key}`).readBigInt64BE()]
  })
  return locks.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}
