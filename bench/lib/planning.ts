import { planChanges } from '../../server/src/modules/rules/change-sets/plan-changes.ts'
import { differencesOf } from '../../server/src/modules/rules/rules-versions/difference.ts'
import { directionOf } from '../../server/src/modules/rules/rules-versions/direction.ts'
import type { RulesDocument, RulesPolicy } from '../../server/src/modules/rules/rules-versions/document-schema.ts'

/** Returns the seconds to plan a change of every policy and every group, with its differences and its direction. */
export function planningSeconds(policies: number, groups: number): number {
  const present = rulesOf(policies, groups, 2)
  const wanted = rulesOf(policies, groups, 3)
  const startedAt = performance.now()
  const changes = planChanges(present, wanted)
  const differences = differencesOf(present, wanted)
  directionOf(present, wanted)
  const seconds = (performance.now() - startedAt) / 1_000
  if (changes.length < policies + groups || differences.length !== policies + groups) throw new Error('Not all changed')
  return seconds
}

function rulesOf(policies: number, groups: number, approvalThreshold: number): RulesDocument {
  return {
    schemaVersion: 1,
    governance: { threshold: 1, approverGroupId: null, looseningDelayHours: 0, tighteningDelayHours: 0 },
    groups: Array.from({ length: groups }, (_, i) => ({
      ...{ id: `g${i}`, code: `g${i}`, name: `Group ${i}`, description: null, isSystem: false },
      members: Array.from({ length: 20 }, (_, j) => `u${(i + 1) * approvalThreshold + j}`),
    })),
    policies: Array.from({ length: policies }, (_, i): RulesPolicy => {
      const groupId = `g${i % groups}`
      return {
        ...{ id: `p${i}`, groupId, code: `p${i}`, name: `Policy ${i}`, description: null, actionType: 'transfer' },
        ...{ effect: 'requireApproval', blockReason: null, approvalThreshold, adminBypass: false },
        ...{ allowInitiatorApproval: false, enabled: true },
        rules: [{ conditionType: 'require', selectors: [{ selectorType: 'initiatorGroup', value: [groupId] }] }],
        approvers: [{ kind: 'group', id: `g${(i + 1) % groups}`, threshold: null }],
      }
    }),
    ...{ invitations: [], categories: [], tokens: [], variants: [] },
    wallet: { url: 'https://wallet.example.org', secretFingerprint: null, webhookSecretFingerprint: null },
  }
}
