import type { Static } from 'typebox'
import { conditionTypes, policyEffects } from '../decisions/decision.ts'
import { inUtc } from '../policy-groups/present.ts'
import { actionTypes } from '../selectors/facts.ts'
import { describeSelectors } from '../selectors/selectors.ts'
import type { PolicySelectors } from './form-schema.ts'
import { settingsOf } from './policy-draft.ts'
import type { PolicyRow } from './queries.ts'
import type { Policy, PolicyListItem } from './schema.ts'

export function toPolicy(row: PolicyRow): Static<typeof Policy> {
  const group = { id: row.groupId, code: row.groupCode, name: row.groupName, vaultId: row.vaultId }
  return { ...policyFields(row), group }
}

export function toPolicyListItem(row: PolicyRow): Static<typeof PolicyListItem> {
  const group = { id: row.groupId, code: row.groupCode, name: row.groupName }
  return { ...policyFields(row), group, _count: { rules: row.rules.length } }
}

/** Returns the descriptions of selectors, which are equal for all vaults. Only the objects that values name differ. */
export function toPolicySelectors(): Static<typeof PolicySelectors> {
  return {
    conditionTypes: [...conditionTypes],
    effects: [...policyEffects],
    actionTypes: actionTypes.map((actionType) => ({ actionType, selectors: describeSelectors(actionType) })),
  }
}

function policyFields(row: PolicyRow) {
  return {
    id: row.id,
    groupId: row.groupId,
    ...settingsOf(row),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    rules: row.rules.map((rule) => ({
      id: rule.id,
      policyId: row.id,
      conditionType: rule.conditionType,
      createdAt: rule.createdAt,
      selectors: rule.selectors.map(({ id, selectorType, value }) => ({ id, ruleId: rule.id, selectorType, value })),
    })),
    approvers: row.approvers.map(inUtc),
  }
}
