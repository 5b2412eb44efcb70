import type { Static } from 'typebox'
import type { FieldFault } from '../../../lib/errors.ts'
import type { CreatePolicy, UpdatePolicy } from './schema.ts'
import { spellingKey } from './selectors/address-keys.ts'
import type { RouteVariant } from './selectors/route-variant.ts'
import { findSelectorFault, type SelectorType } from './selectors.ts'

type Creation = Static<typeof CreatePolicy>
export type PolicyChange = Static<typeof UpdatePolicy>
export type RuleDraft = NonNullable<Creation['rules']>[number]
/** Exactly one of userId and groupId is set once `findPolicyFaults` found nothing. */
export type ApproverDraft = NonNullable<Creation['approvers']>[number]

/** A complete policy before it is stored: that of a creation, or an existing policy with the change applied. */
export type PolicyDraft = Required<Creation>

export function draftOf(creation: Creation): PolicyDraft {
  return { ...defaults, ...creation }
}

const defaults = {
  description: null,
  logoUri: null,
  color: null,
  emoji: null,
  blockReason: null,
  approvalThreshold: 0,
  adminBypass: false,
  allowInitiatorApproval: false,
  enabled: true,
  rules: [],
  approvers: [],
}

/** Every fault of a policy that its schema cannot express. References to other objects are checked elsewhere. */
export function findPolicyFaults(draft: PolicyDraft): FieldFault[] {
  return [
    ...findEffectFaults(draft),
    ...draft.approvers.flatMap((approver, i) => findApproverFaults(approver, i, draft.approvers)),
    ...draft.rules.flatMap((rule, i) => findRuleFaults(rule, i, draft.actionType)),
  ]
}

function findEffectFaults({ effect, approvalThreshold, approvers, blockReason }: PolicyDraft): FieldFault[] {
  const faults: FieldFault[] = []
  if (effect !== 'block' && blockReason !== null) {
    faults.push({ field: 'blockReason', message: 'is allowed only with the effect block' })
  }
  if (effect === 'block' && approvalThreshold > 0) {
    faults.push({ field: 'approvalThreshold', message: 'must be 0 for a policy that blocks' })
  }
  if (effect === 'requireApproval' && approvalThreshold < 1) {
    faults.push({ field: 'approvalThreshold', message: 'must be at least 1 for requireApproval' })
  }
  if (approvalThreshold === 0 && effect !== 'requireApproval' && approvers.length > 0) {
    faults.push({ field: 'approvers', message: 'require an approvalThreshold of at least 1' })
  }
  // A group can grow, so only a list of named users limits the number of votes.
  const onlyUsers = approvers.length > 0 && approvers.every(({ kind }) => kind === 'user')
  if (effect !== 'block' && onlyUsers && approvers.length < approvalThreshold) {
    const message = `must not be above the number of approvers, ${approvers.length}`
    faults.push({ field: 'approvalThreshold', message })
  }
  return faults
}

function findApproverFaults(approver: ApproverDraft, i: number, all: ApproverDraft[]): FieldFault[] {
  const { kind, userId, groupId } = approver
  const [wanted, stray] = kind === 'user' ? (['userId', 'groupId'] as const) : (['groupId', 'userId'] as const)
  if (approver[wanted] === undefined) return [{ field: `approvers.${i}.${wanted}`, message: 'is required' }]
  if (approver[stray] !== undefined) {
    return [{ field: `approvers.${i}.${stray}`, message: `does not belong to an approver of kind ${kind}` }]
  }
  const first = all.findIndex((other) => other.kind === kind && other.userId === userId && other.groupId === groupId)
  return first === i ? [] : [{ field: `approvers.${i}`, message: `is the same as approvers.${first}` }]
}

function findRuleFaults({ selectors }: RuleDraft, i: number, actionType: string): FieldFault[] {
  if (selectors.length === 0) return [{ field: `rules.${i}.selectors`, message: 'must name at least one selector' }]
  return selectors.flatMap(({ selectorType, value }, j) => {
    const fault = findSelectorFault(actionType, selectorType, value)
    return fault === null ? [] : [{ field: `rules.${i}.selectors.${j}.${fault.field}`, message: fault.message }]
  })
}

export type Reference = { field: string; id: string }

/** The values of selectors of this type with their paths; their form has been checked. */
export function selectorReferences({ rules = [] }: PolicyChange, wanted: SelectorType): Reference[] {
  return rules.flatMap(({ selectors }, i) =>
    selectors.flatMap(({ selectorType, value }, j) => {
      if (selectorType !== wanted) return []
      const field = `rules.${i}.selectors.${j}.value`
      if (!Array.isArray(value)) return [{ field, id: nameOf(wanted, value) }]
      return value.map((one, k) => ({ field: `${field}.${k}`, id: nameOf(wanted, one) }))
    }),
  )
}

/** A variant is named by two codes, which contain no `/`; an address may be in any spelling. */
function nameOf(selectorType: SelectorType, value: unknown): string {
  if (selectorType === 'routeVariant') {
    const { route, variant } = value as RouteVariant
    return `${route}/${variant}`
  }
  return selectorType === 'sourceAddress' ? spellingKey(String(value)) : String(value)
}

/** The groups or users that approvers refer to, with their paths. */
export function approverReferences({ approvers = [] }: PolicyChange, key: 'groupId' | 'userId'): Reference[] {
  return approvers.flatMap(({ [key]: id }, i) => (id === undefined ? [] : [{ field: `approvers.${i}.${key}`, id }]))
}
