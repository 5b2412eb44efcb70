import type { PolicyListItem } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { changeSetQuery, groupsOfDraft } from '../governance/queries.ts'
import type { Into } from './into-search.ts'
import type { Vocabulary } from './queries.ts'
import { type Draft, draftOf, type PolicyParts } from './terms.ts'

/** Reads the draft of the URL. `set` is null without a draft, and undefined while it loads. */
export function useDraftOfRules(code: string, { draft }: Into) {
  const isSaved = draft !== undefined && draft !== 'new'
  const query = useQuery({ ...changeSetQuery(code, draft ?? ''), enabled: isSaved })
  return { query, set: isSaved ? query.data : null }
}

export type RulesDraft = Exclude<ReturnType<typeof useDraftOfRules>['set'], undefined>

const defaults = {
  ...{ code: '', name: '', actionType: 'transfer', effect: 'requireApproval', blockReason: null, approvalThreshold: 0 },
  ...{ adminBypass: false, allowInitiatorApproval: false, enabled: true, rules: [], approvers: [] },
}

/** Returns the policy as a change of a draft makes it, or undefined if the change is about another object. */
export function draftedPolicy(set: RulesDraft, at: number | undefined, policy?: PolicyListItem): Draft | undefined {
  const change = at === undefined ? undefined : set?.changes[at]
  if (change?.action !== (policy === undefined ? 'policy_create' : 'policy_update')) return undefined
  if (policy !== undefined && change.targetId !== policy.id) return undefined
  const groupId = policy?.groupId ?? change.targetId ?? ''
  return draftOf({ ...(policy ?? defaults), ...change.payload, groupId } as PolicyParts)
}

/** Adds the groups that the draft creates, which its policies may belong to and take approvers from. */
export function withGroupsOf(vocabulary: Vocabulary, set: RulesDraft, at: number | undefined): Vocabulary {
  const made = set === null ? [] : groupsOfDraft(set, at)
  if (made.length === 0) return vocabulary
  const { choices, names, memberIds } = vocabulary
  return {
    ...vocabulary,
    choices: { ...choices, policy_group: [...choices.policy_group, ...made] },
    names: (kind, id) => made.find((group) => kind === 'policy_group' && group.id === id)?.name ?? names(kind, id),
    memberIds: new Map([...memberIds, ...made.map(({ id }) => [id, []] as const)]),
  }
}

/**
 * Returns true if a policy refers to an object that its draft creates. The service can try such a policy only together
 * with its whole draft.
 */
export function needsItsDraft(draft: Draft): boolean {
  return JSON.stringify(draft).includes('"$change:')
}
