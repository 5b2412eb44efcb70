import { everyoneCode } from '../access/memberships.ts'
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
  MemberReference,
  Person,
  RulesFile,
  TokenReference,
} from './rules-file.ts'

/**
 * Returns the rules of a vault as a file, in a fixed order: equal rules give equal files. Settings with their usual value are
 * left out.
 */
export function toFile(vault: string, document: RulesDocument, people: Person[]): RulesFile {
  const { governance, groups, policies, categories, variants, tokens } = document
  const codes = new Map(groups.map(({ id, code }) => [id, code]))
  const memberOf = memberNames(people)
  const { approverGroupId, threshold, looseningDelayHours, tighteningDelayHours } = governance
  return {
    vault,
    governance: {
      threshold,
      approverGroup: approverGroupId === null ? null : codes.get(approverGroupId)!,
      looseningDelayHours,
      tighteningDelayHours,
    },
    groups: groups.map((group) => toFileGroup(group, memberOf)),
    policies: policies.map((policy) => toFilePolicy(policy, codes, memberOf)),
    categories: categories.map((category) => toFileCategory(category, codes, memberOf)),
    variants: variants.map((variant) => toFileVariant(variant, tokens)),
  }
}

type MemberOf = (userId: string) => MemberReference

function memberNames(people: Person[]): MemberOf {
  const byId = new Map(people.map((person) => [person.userId, person]))
  return (id) => {
    const person = byId.get(id)
    if (person === undefined) return { id }
    return person.email ?? { id, name: person.name }
  }
}

/** Sorts members: people first, by their address. */
function inOrder(members: MemberReference[]): MemberReference[] {
  const keyOf = (member: MemberReference) => (typeof member === 'string' ? `0${member}` : `1${member.id}`)
  return members.toSorted((member, other) => (keyOf(member) < keyOf(other) ? -1 : 1))
}

/** Returns a group of the file. Every member is in `everyone`, which stores no members of its own. */
function toFileGroup({ code, name, description, members, isSystem }: RulesGroup, memberOf: MemberOf): FileGroup {
  const listed = isSystem && code === everyoneCode ? {} : { members: inOrder(members.map(memberOf)) }
  return { code, name, ...unless(null, { description }), ...listed }
}

function toFilePolicy(policy: RulesPolicy, codes: ReadonlyMap<string, string>, memberOf: MemberOf): FilePolicy {
  const { code, name, actionType, effect, description, blockReason, approvalThreshold, approvers, rules } = policy
  const groupOf = (id: string) => codes.get(id) ?? { id }
  return {
    ...{ code, group: codes.get(policy.groupId)!, name },
    ...unless(null, { description }),
    ...{ actionType, effect },
    ...unless(null, { blockReason }),
    ...unless(0, { approvalThreshold }),
    ...(approvers.length === 0
      ? {}
      : {
          approvers: approvers.map(({ kind, id, threshold }) =>
            kind === 'user' ? { user: memberOf(id) } : { group: codes.get(id)!, ...unless(null, { threshold }) },
          ) as NonNullable<FilePolicy['approvers']>,
        }),
    ...unless(false, { adminBypass: policy.adminBypass }),
    ...unless(false, { allowInitiatorApproval: policy.allowInitiatorApproval }),
    ...unless(true, { enabled: policy.enabled }),
    ...(rules.length === 0
      ? {}
      : {
          rules: rules.map(({ conditionType, selectors }) => ({
            [conditionType]: selectors.map(({ selectorType, value }) => ({
              [selectorType]: named(selectorType, value, { initiatorGroup: groupOf, initiator: memberOf }),
            })),
          })),
        }),
  }
}

function toFileCategory(
  { key, approvalScope, approvalThreshold, allowInitiatorApproval, approvers }: RulesCategory,
  codes: ReadonlyMap<string, string>,
  memberOf: MemberOf,
): FileCategory {
  const named = approvers.map(({ kind, id }) => (kind === 'user' ? { user: memberOf(id) } : { group: codes.get(id)! }))
  return {
    ...{ key, approvalScope, approvalThreshold },
    ...unless(false, { allowInitiatorApproval }),
    ...(named.length === 0 ? {} : { approvers: named }),
  }
}

function toFileVariant(
  { route, code, pathId, name, enabled, tokenId }: RulesVariant,
  tokens: RulesDocument['tokens'],
): FileVariant {
  return {
    ...{ route, code, pathId, name },
    ...unless(true, { enabled }),
    ...(tokenId === null ? {} : { token: toFileToken(tokenId, tokens) }),
  }
}

/** Returns a token of the file. A code that several tokens of the vault's networks share does not identify a token. */
function toFileToken(id: string, tokens: RulesDocument['tokens']): TokenReference {
  const token = tokens.find((token) => token.id === id)
  if (token === undefined) return { id }
  const isOnlyOne = tokens.filter(({ code }) => code === token.code).length === 1
  return isOnlyOne ? token.code : { id, name: `${token.network} ${token.code}` }
}

type Names = { initiatorGroup(id: string): unknown; initiator(id: string): unknown }

function named(selectorType: string, value: unknown, names: Names): unknown {
  if (selectorType !== 'initiatorGroup' && selectorType !== 'initiator') return value
  const nameOf = (id: unknown) => names[selectorType](String(id))
  return Array.isArray(value) ? value.map(nameOf) : nameOf(value)
}

function unless<Fields extends object>(usual: unknown, fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== usual)) as Partial<Fields>
}
