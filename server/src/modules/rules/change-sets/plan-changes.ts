import { isSameJson } from '../../../lib/canonical-json.ts'
import type {
  RulesCategoryRights,
  RulesDocument,
  RulesGroup,
  RulesPolicy,
  RulesVariant,
} from '../rules-versions/document-schema.ts'
import type { Change, GovernedActionName } from './governed-actions.ts'
import { inOrderOfCodes, pairsOf } from './pairs.ts'

/**
 * Returns the changes from the present rules to the wanted rules, an empty list when they are equal; pure. Policies, policy
 * groups, memberships, approvals and rights of categories, folders that rules name, variants and governance follow the wanted
 * document. The wallet service, invitations and tokens do not follow it, because they need secrets, mails and other people.
 * Deleted objects are created again with their code and a new id.
 *
 * @param routeIds the ids of the routes by their codes, for new variants; empty if `wanted` is an earlier version of the rules
 */
export function planChanges(
  present: RulesDocument,
  wanted: RulesDocument,
  routeIds: ReadonlyMap<string, string> = new Map(),
): Change[] {
  const plan = new Plan(present, wanted)
  plan.groups()
  plan.members('add')
  plan.policies()
  plan.categories()
  plan.categoryRights()
  plan.folders()
  plan.variants()
  plan.newVariants(routeIds)
  plan.members('remove')
  plan.governance()
  plan.obsoleteGroups()
  return plan.changes
}

/** The fields of `after` that differ from those of `before`. */
function changed<Item extends object>(before: Item, after: Item): Partial<Item> {
  const entries = Object.entries(after).filter(([name, value]) => !isSameJson(value, before[name as keyof Item]))
  return Object.fromEntries(entries) as Partial<Item>
}

class Plan {
  readonly changes: Change[] = []
  /** The present id of each wanted group, or `$change:N` of its creation, by its wanted id. */
  readonly #ids = new Map<string, string>()
  /** The present group of each wanted group that exists. */
  readonly #groups: ReadonlyMap<RulesGroup, RulesGroup>
  readonly #present: RulesDocument
  readonly #wanted: RulesDocument

  constructor(present: RulesDocument, wanted: RulesDocument) {
    this.#present = present
    this.#wanted = wanted
    this.#groups = pairsOf(present.groups, wanted.groups)
  }

  #add(action: GovernedActionName, targetId: string | null, payload: object): string {
    this.changes.push({ action, targetId, payload: payload as Record<string, unknown> })
    return `$change:${this.changes.length - 1}`
  }

  /** Adds the updates of paired objects. They come before creations, because they free codes. */
  #update<Item extends RulesGroup | RulesPolicy>(
    action: GovernedActionName,
    updates: ReturnType<typeof inOrderOfCodes<Item>>,
    patchOf: (present: Item, wanted: Item) => object,
  ): void {
    for (const { present, ...update } of updates) {
      const patch = 'spareCode' in update ? { code: update.spareCode } : patchOf(present, update.wanted)
      if (Object.keys(patch).length > 0) this.#add(action, present.id, patch)
    }
  }

  groups(): void {
    const { groups } = this.#wanted
    for (const [wanted, present] of this.#groups) this.#ids.set(wanted.id, present.id)
    const updates = inOrderOfCodes(this.#present.groups, groups, this.#groups)
    this.#update('policy_group_update', updates, (present, wanted) =>
      changed(settingsOfGroup(present), settingsOfGroup(wanted)),
    )
    for (const group of groups) {
      if (!this.#groups.has(group))
        this.#ids.set(group.id, this.#add('policy_group_create', null, settingsOfGroup(group)))
    }
  }

  members(verb: 'add' | 'remove'): void {
    for (const group of this.#wanted.groups) {
      const present = this.#groups.get(group)?.members ?? []
      const [some, others] = verb === 'add' ? [group.members, present] : [present, group.members]
      for (const userId of some.filter((memberId) => !others.includes(memberId))) {
        this.#add(`policy_group_member_${verb}`, this.#ids.get(group.id)!, { userId })
      }
    }
  }

  /** Deletions come first, then updates, because both free codes. */
  policies(): void {
    const wanted = this.#wanted.policies.map((policy) => ({ ...policy, groupId: this.#ids.get(policy.groupId)! }))
    // A policy does not move to another group: it is deleted and created there.
    const pairs = pairsOf(this.#present.policies, wanted, ({ groupId }) => groupId)
    const kept = new Set(pairs.values())
    for (const policy of this.#present.policies) if (!kept.has(policy)) this.#add('policy_delete', policy.id, {})
    this.#update('policy_update', inOrderOfCodes([...kept], wanted, pairs), (before, after) =>
      changed(draftOf(before), this.#settingsOfPolicy(after)),
    )
    for (const policy of wanted) {
      if (!pairs.has(policy)) this.#add('policy_create', policy.groupId, this.#settingsOfPolicy(policy))
    }
  }

  #settingsOfPolicy(policy: RulesPolicy): ReturnType<typeof draftOf> {
    const draft = draftOf(policy)
    const idNow = (id: string) => this.#ids.get(id) ?? id
    return {
      ...draft,
      rules: draft.rules.map((rule) => ({
        ...rule,
        selectors: rule.selectors.map((selector) => {
          if (selector.selectorType !== 'initiatorGroup') return selector
          const { value } = selector
          return {
            ...selector,
            value: Array.isArray(value) ? value.map((id) => idNow(String(id))) : idNow(String(value)),
          }
        }),
      })),
      approvers: draft.approvers.map((approver) =>
        approver.groupId === undefined ? approver : { ...approver, groupId: idNow(approver.groupId) },
      ),
    }
  }

  categories(): void {
    const none = { approvalScope: 'none', approvalThreshold: 0, allowInitiatorApproval: false, approvers: [] }
    const ids = new Set([...this.#present.categories, ...this.#wanted.categories].map(({ id }) => id))
    for (const id of ids) {
      const present = this.#present.categories.find((category) => category.id === id) ?? none
      const wanted = this.#wanted.categories.find((category) => category.id === id) ?? none
      // The approvers of a category without approval are not part of the rules.
      if (wanted !== none && (present === none || !isSameJson(present.approvers, wanted.approvers))) {
        const approvers = wanted.approvers.map((approver) => this.#approver(approver))
        this.#add('category_approvers_replace', id, { approvers })
      }
      const patch = changed(settingsOfCategory(present), settingsOfCategory(wanted))
      if (Object.keys(patch).length > 0) this.#add('category_update', id, settingsOfCategory(wanted))
    }
  }

  #approver({ kind, id }: Pick<RulesPolicy['approvers'][number], 'kind' | 'id'>) {
    return kind === 'user' ? { kind, userId: id } : { kind, groupId: this.#ids.get(id) ?? id }
  }

  /** Restores the rights of categories. Fields, and categories that were added since, do not change. */
  categoryRights(): void {
    for (const present of this.#present.categoryRights ?? []) {
      const wanted = this.#wanted.categoryRights?.find(({ id }) => id === present.id)
      if (wanted === undefined) continue
      const { archived, ...scopes } = changed(settingsOfRights(present), settingsOfRights(wanted))
      // An archived category accepts only its restoration.
      if (archived === false) this.#add('category_update', present.id, { archived })
      if (Object.keys(scopes).length > 0) this.#add('category_update', present.id, scopes)
      if (!isSameJson(present.grants, wanted.grants)) {
        const grants = wanted.grants.map((grant) => this.#grant(grant))
        this.#add('category_grants_replace', present.id, { grants })
      }
      if (archived === true) this.#add('category_update', present.id, { archived })
    }
  }

  #grant({ subject, ...rights }: RulesCategoryRights['grants'][number]) {
    const [subjectType, id] = [subject.slice(0, subject.indexOf(':')), subject.slice(subject.indexOf(':') + 1)]
    const named = subjectType === 'user' ? { subjectUserId: id } : { subjectGroupId: this.#ids.get(id) ?? id }
    return { subjectType, ...named, ...rights }
  }

  /** Restores the folders that the rules name in both documents. */
  folders(): void {
    for (const { id, name, addressIds } of this.#wanted.folders ?? []) {
      const present = this.#present.folders?.find((folder) => folder.id === id)
      if (present === undefined) continue
      if (present.name !== name) this.#add('address_group_update', id, { name })
      const isMissing = (addresses: string[]) => (addressId: string) => !addresses.includes(addressId)
      for (const addressId of addressIds.filter(isMissing(present.addressIds)))
        this.#add('address_group_member_add', id, { addressId })
      for (const addressId of present.addressIds.filter(isMissing(addressIds)))
        this.#add('address_group_member_remove', id, { addressId })
    }
  }

  /** Restores the variants. Variants are never removed, so a variant that was added since is disabled. */
  variants(): void {
    for (const present of this.#present.variants) {
      const wanted = this.#wanted.variants.find(({ id }) => id === present.id)
      const settings = { name: present.name, enabled: present.enabled, tokenId: present.tokenId }
      const { name, enabled, tokenId } = wanted ?? { ...settings, enabled: false }
      const { tokenId: moved, ...patch } = changed(settings, { name, enabled, tokenId })
      const token = moved === undefined ? {} : this.#tokenOf(moved)
      if (Object.keys({ ...patch, ...token }).length > 0)
        this.#add('variant_update', present.id, { ...patch, ...token })
    }
  }

  newVariants(routeIds: ReadonlyMap<string, string>): void {
    for (const { id, route, code, name, pathId, enabled, tokenId } of this.#wanted.variants) {
      const routeId = routeIds.get(route)
      if (routeId === undefined || this.#present.variants.some((variant) => variant.id === id)) continue
      const token = tokenId === null ? {} : this.#tokenOf(tokenId)
      this.#add('variant_add', routeId, { id: pathId, code, name, enabled, ...token })
    }
  }

  /** Returns a token as the endpoints take it: by its code if the code is unique in the vault. A deleted token is left as it is. */
  #tokenOf(tokenId: RulesVariant['tokenId']): { token?: string | null } {
    if (tokenId === null) return { token: null }
    const { tokens } = this.#present
    const code = tokens.find(({ id }) => id === tokenId)?.code
    return code !== undefined && tokens.filter((token) => token.code === code).length === 1 ? { token: code } : {}
  }

  obsoleteGroups(): void {
    const kept = new Set(this.#ids.values())
    for (const { id, isSystem } of this.#present.groups) {
      if (!kept.has(id) && !isSystem) this.#add('policy_group_delete', id, {})
    }
  }

  governance(): void {
    const { approverGroupId: wantedGroup, ...rest } = this.#wanted.governance
    const approverGroupId = wantedGroup === null ? null : (this.#ids.get(wantedGroup) ?? wantedGroup)
    const wanted = { ...rest, approverGroupId }
    if (!isSameJson(wanted, this.#present.governance)) this.#add('governance_update', null, wanted)
  }
}

const settingsOfGroup = ({ code, name, description }: RulesGroup) => ({ code, name, description })

function settingsOfRights({ appliesTo, viewScope, assignScope, editScope, archived }: RulesCategoryRights) {
  return { appliesTo, viewScope, assignScope, editScope, archived }
}

type CategoryApproval = { approvalScope: string; approvalThreshold: number; allowInitiatorApproval: boolean }
function settingsOfCategory({
  approvalScope,
  approvalThreshold,
  allowInitiatorApproval,
}: CategoryApproval): CategoryApproval {
  return { approvalScope, approvalThreshold, allowInitiatorApproval }
}

type DraftApprover = { kind: 'user' | 'group'; userId?: string; groupId?: string; threshold?: number }

/** Returns a policy as its endpoints take it. */
function draftOf({ id: _, groupId: __, approvers, ...policy }: RulesPolicy) {
  return {
    ...policy,
    approvers: approvers.map(({ kind, id, threshold }): DraftApprover => {
      const votes = threshold === null ? {} : { threshold }
      return kind === 'user' ? { kind, userId: id, ...votes } : { kind, groupId: id, ...votes }
    }),
  }
}
