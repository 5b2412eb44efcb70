import type { CreatePolicyBody, PolicyListItem, PolicySelector } from '@strongroom/sdk'

export type ActionType = PolicyListItem['actionType']
export type Effect = PolicyListItem['effect']
/** An approver. `threshold` is the number of votes that the group must give; without it, the group need not give any. */
type Approver = { kind: 'user' | 'group'; id: string; threshold?: number }

/** A property of an order and its required value. */
export type Clause = { selectorType: string; value: unknown }

/** A condition of the sentence: one of the clauses holds, or, when negated, none of them. */
export type Term = { negated: boolean; clauses: Clause[] }

/** A policy during editing, in the parts of its sentence. */
export type Draft = {
  code: string
  name: string
  groupId: string
  actionType: ActionType
  effect: Effect
  blockReason: string
  approvalThreshold: number
  approvers: Approver[]
  adminBypass: boolean
  allowInitiatorApproval: boolean
  enabled: boolean
  terms: Term[]
}

export type PolicyParts = Pick<
  PolicyListItem,
  | 'code'
  | 'name'
  | 'groupId'
  | 'actionType'
  | 'effect'
  | 'blockReason'
  | 'approvalThreshold'
  | 'adminBypass'
  | 'allowInitiatorApproval'
  | 'enabled'
> & {
  rules: { conditionType: 'require' | 'any' | 'exclude'; selectors: { selectorType: string; value?: unknown }[] }[]
  approvers: { kind: 'user' | 'group'; userId?: string | null; groupId?: string | null; threshold?: number | null }[]
}

export function emptyDraft(groupId: string): Draft {
  return {
    ...{ code: '', name: '', groupId, actionType: 'transfer', effect: 'requireApproval', blockReason: '' },
    ...{ approvalThreshold: 1, approvers: [], adminBypass: false, allowInitiatorApproval: false, enabled: true },
    terms: [],
  }
}

/** Splits a policy into the parts of its sentence. All rules must hold, so each selector becomes a separate condition. */
export function draftOf(policy: PolicyParts): Draft {
  const { code, name, groupId, actionType, effect, approvalThreshold, adminBypass } = policy
  return {
    ...{ code, name, groupId, actionType, effect, approvalThreshold, adminBypass },
    allowInitiatorApproval: policy.allowInitiatorApproval,
    enabled: policy.enabled,
    blockReason: policy.blockReason ?? '',
    approvers: policy.approvers.map(({ kind, userId, groupId: id, threshold }) => ({
      kind,
      id: (kind === 'user' ? userId : id)!,
      ...(threshold === null || threshold === undefined ? {} : { threshold }),
    })),
    terms: policy.rules.flatMap(({ conditionType, selectors }): Term[] => {
      const clauses = selectors.map(({ selectorType, value }) => ({ selectorType, value }))
      if (conditionType === 'any') return [{ negated: false, clauses }]
      return clauses.map((clause) => ({ negated: conditionType === 'exclude', clauses: [clause] }))
    }),
  }
}

/**
 * Builds the body for the API: one `require` with all required clauses, one `exclude` with all excluded clauses, and
 * one `any` for each choice.
 */
export function bodyOf(draft: Draft): CreatePolicyBody {
  const { code, name, actionType, effect, adminBypass, allowInitiatorApproval, enabled, terms } = draft
  const waits = effect === 'requireApproval'
  const required = terms.filter(({ negated, clauses }) => !negated && clauses.length === 1)
  const choices = terms.filter(({ negated, clauses }) => !negated && clauses.length > 1)
  const excluded = terms.filter(({ negated }) => negated)
  const rules = [
    { conditionType: 'require' as const, clauses: required.flatMap(({ clauses }) => clauses) },
    ...choices.map(({ clauses }) => ({ conditionType: 'any' as const, clauses })),
    { conditionType: 'exclude' as const, clauses: excluded.flatMap(({ clauses }) => clauses) },
  ]
  return {
    ...{ code, name: name.trim(), actionType, effect, enabled },
    adminBypass: waits && adminBypass,
    allowInitiatorApproval: waits && allowInitiatorApproval,
    blockReason: effect === 'block' && draft.blockReason.trim() !== '' ? draft.blockReason.trim() : null,
    // An `allow` may have a threshold, too. It then waits for votes like a `requireApproval`.
    approvalThreshold: effect === 'block' ? 0 : draft.approvalThreshold,
    approvers: effect === 'block' ? [] : draft.approvers.map(approverBody),
    rules: rules
      .filter(({ clauses }) => clauses.length > 0)
      .map(({ conditionType, clauses }) => ({ conditionType, selectors: clauses as PolicySelector[] })),
  }
}

function approverBody({ kind, id, threshold }: Approver) {
  if (kind === 'user') return { kind, userId: id }
  return { kind, groupId: id, ...(threshold === undefined ? {} : { threshold }) }
}

/** Turns the name into a code that no other policy has. */
export function codeOf(name: string, taken: readonly string[]): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 55)
    .replace(/-+$/, '')
  const base = plain === '' ? 'policy' : plain
  let code = base
  for (let n = 2; taken.includes(code); n += 1) code = `${base}-${n}`
  return code
}

/**
 * Maps the place of each clause to its place in the body that `bodyOf` makes, so that a fault can be shown at its
 * clause: "0.1" → "rules.2.selectors.0".
 */
export function clausePaths({ terms }: Pick<Draft, 'terms'>): Map<string, string> {
  const kinds = [
    terms.map((term, index) => ({ term, index })).filter(({ term }) => !term.negated && term.clauses.length === 1),
    ...terms.flatMap((term, index) => (!term.negated && term.clauses.length > 1 ? [[{ term, index }]] : [])),
    terms.map((term, index) => ({ term, index })).filter(({ term }) => term.negated),
  ].filter((rule) => rule.some(({ term }) => term.clauses.length > 0))
  const paths = new Map<string, string>()
  for (const [rule, members] of kinds.entries()) {
    const places = members.flatMap(({ term, index }) => term.clauses.map((_, clause) => `${index}.${clause}`))
    for (const [selector, place] of places.entries()) paths.set(place, `rules.${rule}.selectors.${selector}`)
  }
  return paths
}
