import type { Static } from 'typebox'
import { groupThresholdsOf } from '../votes/places.ts'
import {
  actionTypes,
  conditionTypes,
  type Decision,
  type KeptDecision,
  type PolicyTrace,
  policyEffects,
  type SelectorTrace,
} from './decision.ts'
import type { PolicySelectors } from './form-schema.ts'
import { settingsOf } from './policy-draft.ts'
import type { GroupListRow, GroupRow, MembershipRow, PolicyRow } from './queries.ts'
import type {
  Policy,
  PolicyDecision,
  PolicyGroup,
  PolicyGroupListItem,
  PolicyGroupMembership,
  PolicyListItem,
  PolicySimulation,
} from './schema.ts'
import { readVelocityWindow } from './selectors/velocity.ts'
import { describeSelectors, velocityTypes } from './selectors.ts'

export function toPolicyGroup(row: GroupRow): Static<typeof PolicyGroup> {
  return {
    ...groupFields(row),
    policies: row.policies.map(inUtc),
    memberships: row.memberships.map(inUtc),
  }
}

export function toPolicyGroupListItem(row: GroupListRow): Static<typeof PolicyGroupListItem> {
  return { ...groupFields(row), _count: { policies: row.policyCount, memberships: row.membershipCount } }
}

export function toMembership(row: MembershipRow): Static<typeof PolicyGroupMembership> {
  return { ...row, createdAt: row.createdAt.toISOString() }
}

export function toPolicy(row: PolicyRow): Static<typeof Policy> {
  const group = { id: row.groupId, code: row.groupCode, name: row.groupName, vaultId: row.vaultId }
  return { ...policyFields(row), group }
}

export function toPolicyListItem(row: PolicyRow): Static<typeof PolicyListItem> {
  const group = { id: row.groupId, code: row.groupCode, name: row.groupName }
  return { ...policyFields(row), group, _count: { rules: row.rules.length } }
}

/** The reader of a trace: who reads the whole vault, the initiator, or another viewer of the subject, such as an approver. */
type TraceReader = { readsAll: boolean; isInitiator: boolean }

/** A decision as it is stored with its subject. */
export function toPolicyDecision(
  { effect, decisionPolicy, trace }: KeptDecision,
  reader: TraceReader,
): Static<typeof PolicyDecision> {
  return { effect, decisionPolicy, trace: toTrace(trace, reader) }
}

export function toPolicySimulation(
  decision: Decision,
  reader: TraceReader,
): Omit<Static<typeof PolicySimulation>, 'funds'> {
  const { effect, blockReason, decisionPolicy, requirements, trace } = decision
  return {
    effect,
    blockReason,
    decisionPolicy,
    requirements: requirements.map(({ policyId, policyCode, threshold, bypassed, approvers }) => ({
      policyId,
      policyCode,
      threshold,
      bypassed,
      groups: groupThresholdsOf(approvers),
    })),
    trace: toTrace(trace, reader),
  }
}

/**
 * A trace without values that the reader may not see. Sums of other people's transfers are for administrators and auditors only, the
 * initiator's own sums and balances for the initiator as well. Whether a selector matched is visible to all readers.
 */
export function toTrace(trace: PolicyTrace[], { readsAll, isInitiator }: TraceReader): PolicyTrace[] {
  if (readsAll) return trace
  return trace.map((policy) => ({
    ...policy,
    rules: policy.rules.map((rule) => ({
      ...rule,
      selectors: rule.selectors.map((selector) =>
        isPrivate(selector, isInitiator) ? { ...selector, observed: null } : selector,
      ),
    })),
  }))
}

function isPrivate({ selectorType, expected }: SelectorTrace, isInitiator: boolean): boolean {
  // A category that did not match is shown only to readers who may see it.
  if (selectorType === 'percentOfBalance' || selectorType === 'category') return !isInitiator
  if (!velocityTypes.has(selectorType)) return false
  return !isInitiator || readVelocityWindow(expected)?.per !== 'initiator'
}

/** The same for every vault: only what a value names differs. */
export function toPolicySelectors(): Static<typeof PolicySelectors> {
  return {
    conditionTypes: [...conditionTypes],
    effects: [...policyEffects],
    actionTypes: actionTypes.map((actionType) => ({ actionType, selectors: describeSelectors(actionType) })),
  }
}

function groupFields(row: Omit<GroupRow, 'policies' | 'memberships'>) {
  return {
    id: row.id,
    vaultId: row.vaultId,
    code: row.code,
    name: row.name,
    description: row.description,
    logoUri: row.logoUri,
    color: row.color,
    emoji: row.emoji,
    isSystem: row.isSystem,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
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

/** JSON of PostgreSQL writes `+00:00` where the wire has `Z`. */
const inUtc = <Row extends { createdAt: string }>(row: Row): Row => ({
  ...row,
  createdAt: new Date(row.createdAt).toISOString(),
})
