import { canonicalJson } from '../lib/canonical-json.ts'
import { conditionTypes } from '../modules/rules/decisions/decision.ts'
import { findPolicyFaults } from '../modules/rules/policies/policy-draft.ts'
import type {
  RulesCategory,
  RulesDocument,
  RulesGroup,
  RulesPolicy,
  RulesVariant,
} from '../modules/rules/rules-versions/document-schema.ts'
import type {
  FileCategory,
  FileGroup,
  FilePolicy,
  FileVariant,
  Known,
  MemberReference,
  RulesFile,
  TokenReference,
} from './rules-file.ts'
import { plain } from './words.ts'

/** The faults of a file: paths within it, and the problem at each. */
export class FileFaults extends Error {
  constructor(faults: { field: string; message: string }[]) {
    super(plain(faults.map(({ field, message }) => `${field}: ${message}`).join('; ')))
    this.name = 'FileFaults'
  }
}

/**
 * Returns the rules of a file: the present rules with the sections that the file replaces. New objects have ids that only this
 * document knows.
 * @throws FileFaults
 */
export function toDocument(file: RulesFile, present: RulesDocument, known: Known): RulesDocument {
  const reader = new Reader(present, known)
  const groups = reader.groups(file.groups)
  const policies = reader.policies(file.policies)
  const governance = reader.governance(file.governance)
  const categories = reader.categories(file.categories)
  const variants = reader.variants(file.variants)
  if (reader.faults.length > 0) throw new FileFaults(reader.faults)
  return { ...present, governance, groups, policies, categories, variants }
}

class Reader {
  readonly faults: { field: string; message: string }[] = []
  readonly #present: RulesDocument
  readonly #known: Known
  /** The ids of the groups after the change, by code. */
  readonly #groupIds = new Map<string, string>()

  constructor(present: RulesDocument, known: Known) {
    this.#present = present
    this.#known = known
  }

  #fault(field: string, message: string): void {
    this.faults.push({ field, message })
  }

  groups(wanted: FileGroup[] | undefined): RulesGroup[] {
    const { groups: present } = this.#present
    const listed = (wanted ?? []).map((group, i) => this.#group(group, `groups.${i}`))
    this.#refuseTwice(listed, 'groups', codeOf)
    const codes = new Set(listed.map(({ code }) => code))
    // Built-in groups are never removed.
    const kept = present.filter(({ code, isSystem }) => !codes.has(code) && (isSystem || wanted === undefined))
    const groups = inOrder([...listed, ...kept])
    for (const { id, code } of groups) this.#groupIds.set(code, id)
    return groups
  }

  #group({ code, name, description = null, members }: FileGroup, path: string): RulesGroup {
    const present = this.#present.groups.find((group) => group.code === code)
    const ids = members?.map((member, i) => this.#member(member, `${path}.members.${i}`)) ?? present?.members ?? []
    const { id, isSystem } = present ?? { id: `new group ${code}`, isSystem: false }
    return { ...{ id, code, name, description, isSystem }, members: [...new Set(ids)].toSorted(byText) }
  }

  policies(wanted: FilePolicy[] | undefined): RulesPolicy[] {
    if (wanted === undefined) return this.#remaining()
    const policies = wanted.map((policy, i) => this.#policy(policy, `policies.${i}`))
    this.#refuseTwice(policies, 'policies', codeOf)
    return inOrder(policies)
  }

  /** Returns the policies that the file does not list, unless it removes their group. */
  #remaining(): RulesPolicy[] {
    const ids = new Set(this.#groupIds.values())
    return this.#present.policies.filter(({ groupId }) => ids.has(groupId))
  }

  #policy(wanted: FilePolicy, path: string): RulesPolicy {
    const { code, name, description = null, actionType, effect, blockReason = null, approvalThreshold = 0 } = wanted
    const { adminBypass = false, allowInitiatorApproval = false, enabled = true } = wanted
    const groupId = this.#groupId(wanted.group, `${path}.group`)
    const present = this.#present.policies.find((policy) => policy.code === code && policy.groupId === groupId)
    const approvers = (wanted.approvers ?? []).map((approver, i) => this.#approver(approver, `${path}.approvers.${i}`))
    const policy = {
      ...{ id: present?.id ?? `new policy ${code}`, groupId, code, name, description, actionType, effect, blockReason },
      ...{ approvalThreshold, adminBypass, allowInitiatorApproval, enabled },
      rules: (wanted.rules ?? []).map((rule, i) => this.#rule(rule, `${path}.rules.${i}`)),
      approvers: approvers.toSorted((approver, other) =>
        byText(`${approver.kind} ${approver.id}`, `${other.kind} ${other.id}`),
      ),
    }
    // A present rule was checked when it was saved, perhaps by an earlier release.
    if (present === undefined || canonicalJson(present) !== canonicalJson(policy)) this.#check(policy, path)
    return policy
  }

  /** Checks the rules that depend on nothing in the vault. The service checks the others. */
  #check({ approvers, ...policy }: RulesPolicy, path: string): void {
    const draft = {
      ...{ ...policy, logoUri: null, color: null, emoji: null },
      approvers: approvers.map(({ kind, id, threshold }) => ({
        kind,
        ...(kind === 'user' ? { userId: id } : { groupId: id }),
        ...(threshold === null ? {} : { threshold }),
      })),
    }
    for (const { field, message } of findPolicyFaults(draft)) this.#fault(`${path}.${field}`, message)
  }

  #approver(approver: NonNullable<FilePolicy['approvers']>[number], path: string): RulesPolicy['approvers'][number] {
    if ('user' in approver) return { kind: 'user', id: this.#member(approver.user, `${path}.user`), threshold: null }
    const { group, threshold = null } = approver
    return { kind: 'group', id: this.#groupId(group, `${path}.group`), threshold }
  }

  #rule(rule: NonNullable<FilePolicy['rules']>[number], path: string): RulesPolicy['rules'][number] {
    const listed = conditionTypes.filter((type) => rule[type] !== undefined)
    if (listed.length !== 1) this.#fault(path, `must have one of ${conditionTypes.join(', ')}`)
    const conditionType = listed[0] ?? 'require'
    const selectors = (rule[conditionType] ?? []).map((selector, i) => {
      const [selectorType, value] = Object.entries(selector)[0]!
      return { selectorType, value: this.#value(selectorType, value, `${path}.${conditionType}.${i}.${selectorType}`) }
    })
    return { conditionType, selectors }
  }

  #value(selectorType: string, value: unknown, path: string): unknown {
    const read = (item: unknown, at: string): unknown => {
      const isId = typeof item === 'object' && item !== null && 'id' in item
      if (typeof item !== 'string' && !isId) return item
      if (selectorType === 'initiator') return this.#member(item as MemberReference, at)
      return isId ? String(item.id) : this.#groupId(item as string, at)
    }
    if (selectorType !== 'initiatorGroup' && selectorType !== 'initiator') return value
    return Array.isArray(value) ? value.map((item, i) => read(item, `${path}.${i}`)) : read(value, path)
  }

  #member(member: MemberReference, path: string): string {
    if (typeof member !== 'string') return member.id
    const person = this.#known.people.find(({ email }) => email !== null && email === member.toLowerCase())
    if (person !== undefined) return person.userId
    this.#fault(path, `${JSON.stringify(member)} is not the e-mail address of a member who can use the vault`)
    return member
  }

  #groupId(code: string, path: string): string {
    const id = this.#groupIds.get(code)
    if (id !== undefined) return id
    this.#fault(path, `there is no group ${JSON.stringify(code)}`)
    return code
  }

  governance(wanted: RulesFile['governance']): RulesDocument['governance'] {
    if (wanted === undefined) return this.#present.governance
    const { threshold, approverGroup = null, looseningDelayHours = 0, tighteningDelayHours = 0 } = wanted
    const approverGroupId = approverGroup === null ? null : this.#groupId(approverGroup, 'governance.approverGroup')
    return { threshold, approverGroupId, looseningDelayHours, tighteningDelayHours }
  }

  /** Returns the categories. Categories that are not listed need no votes. */
  categories(wanted: FileCategory[] | undefined): RulesCategory[] {
    if (wanted === undefined) return this.#present.categories
    const categories = wanted.map((category, i) => this.#category(category, `categories.${i}`))
    this.#refuseTwice(categories, 'categories', keyOf, 'key')
    return categories.toSorted((category, other) => byText(category.key, other.key))
  }

  #category({ key, approvalScope, approvalThreshold, ...wanted }: FileCategory, path: string): RulesCategory {
    const { allowInitiatorApproval = false } = wanted
    const id = this.#known.categories.find((category) => category.key === key)?.id
    if (id === undefined)
      this.#fault(`${path}.key`, `there is no category ${JSON.stringify(key)}; it is made in the console`)
    const approvers = (wanted.approvers ?? []).map((approver, i) => {
      const { kind, id: of } = this.#approver(approver, `${path}.approvers.${i}`)
      return { kind, id: of }
    })
    return {
      ...{ id: id ?? key, key, approvalScope, approvalThreshold, allowInitiatorApproval },
      approvers: approvers.toSorted((approver, other) =>
        byText(`${approver.kind} ${approver.id}`, `${other.kind} ${other.id}`),
      ),
    }
  }

  /** Returns the variants. A variant is never removed: unlisted variants are disabled. */
  variants(wanted: FileVariant[] | undefined): RulesVariant[] {
    if (wanted === undefined) return this.#present.variants
    const listed = wanted.map((variant, i) => this.#variant(variant, `variants.${i}`))
    this.#refuseTwice(listed, 'variants', nameOfVariant)
    const names = new Set(listed.map(nameOfVariant))
    const others = this.#present.variants.filter((variant) => !names.has(nameOfVariant(variant)))
    return [...listed, ...others.map((variant) => ({ ...variant, enabled: false }))].toSorted(
      (variant, other) => byText(variant.route, other.route) || variant.pathId - other.pathId,
    )
  }

  #variant({ route, code, pathId, name, enabled = true, token = null }: FileVariant, path: string): RulesVariant {
    const present = this.#present.variants.find((variant) => nameOfVariant(variant) === nameOfVariant({ route, code }))
    if (present === undefined) this.#checkRoute(route, `${path}.route`)
    else if (present.pathId !== pathId)
      this.#fault(`${path}.pathId`, `a variant keeps its number, which is ${present.pathId}`)
    const tokenId = token === null ? null : this.#token(token, present?.tokenId, `${path}.token`)
    return { ...{ id: present?.id ?? `new variant ${route} ${code}`, route, code, pathId, name, enabled }, tokenId }
  }

  #checkRoute(code: string, path: string): void {
    const route = this.#known.routes.find((known) => known.code === code)
    if (route === undefined) this.#fault(path, `there is no route ${JSON.stringify(code)}`)
    else if (route.dynamic) this.#fault(path, `${JSON.stringify(code)} is dynamic and has no variants`)
  }

  /** Returns the code of a token. The service takes only a code, so a token that only its id identifies can only stay as it is. */
  #token(token: TokenReference, present: string | null | undefined, path: string): string {
    if (typeof token !== 'string') {
      if (token.id !== present) this.#fault(path, 'must be the code of a token, unless it stays as it is')
      return token.id
    }
    const [found, ...others] = this.#present.tokens.filter(({ code }) => code === token)
    if (found === undefined) this.#fault(path, `there is no token ${JSON.stringify(token)}`)
    if (others.length > 0) this.#fault(path, `${JSON.stringify(token)} is a token of several networks`)
    return found?.id ?? token
  }

  #refuseTwice<Item>(items: Item[], path: string, nameOf: (item: Item) => string, field = 'code'): void {
    const names = items.map(nameOf)
    for (const [i, name] of names.entries()) {
      if (names.indexOf(name) !== i)
        this.#fault(`${path}.${i}.${field}`, `${JSON.stringify(name)} stands in the file twice`)
    }
  }
}

const codeOf = ({ code }: { code: string }) => code
const keyOf = ({ key }: { key: string }) => key
const nameOfVariant = ({ route, code }: Pick<RulesVariant, 'route' | 'code'>) => `${route} ${code}`

/** Compares texts byte by byte, like the database. */
const byText = (text: string, other: string) => (text < other ? -1 : text > other ? 1 : 0)
const inOrder = <Item extends { code: string }>(items: Item[]) =>
  items.toSorted((item, other) => byText(item.code, other.code))
