import { type Static, type TSchema, Type } from 'typebox'
import { Closed, Code, Description, Enum, Name, Nullable, VaultCode } from '../http/schema.ts'
import {
  approvalThresholdMax,
  fieldKeyLengthMax,
  governanceDelayHoursMax,
  membershipUserIdLengthMax,
  noteLengthMax,
  pathIndexMax,
} from '../lib/limits.ts'
import { type ConditionType, policyEffects } from '../modules/rules/decisions/decision.ts'
import { categoryApprovalScopes } from '../modules/rules/rules-versions/document-schema.ts'
import { actionTypes } from '../modules/rules/selectors/facts.ts'

/**
 * The file of rules, for people: a code names a group and an e-mail address names a person, because these never change.
 * Everything else is named by its id. Other names can be changed, and a change would alter the meaning of a rule.
 */

/** A member: an e-mail address, or an id with a name that only serves the reader. */
const Member = Type.Union([
  Type.String(),
  Closed({
    id: Type.String({ minLength: 1, maxLength: membershipUserIdLengthMax }),
    name: Type.Optional(Type.String()),
  }),
])
export type MemberReference = Static<typeof Member>

/** A selector: its type and its value. */
const Selector = Type.Record(Type.String(), Type.Unknown(), { minProperties: 1, maxProperties: 1 })
const Selectors = Type.Optional(Type.Array(Selector, { minItems: 1 }))
/** A rule: its condition and the selectors. */
const Rule = Closed({ require: Selectors, any: Selectors, exclude: Selectors } satisfies Record<ConditionType, TSchema>)

const Threshold = Type.Integer({ minimum: 0, maximum: approvalThresholdMax })
const Hours = Type.Integer({ minimum: 0, maximum: governanceDelayHoursMax })

const Policy = Closed({
  code: Code,
  group: Code,
  name: Name,
  description: Type.Optional(Nullable(Description)),
  actionType: Enum(actionTypes),
  effect: Enum(policyEffects),
  blockReason: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: noteLengthMax }))),
  approvalThreshold: Type.Optional(Threshold),
  approvers: Type.Optional(
    Type.Array(
      Type.Union([
        Closed({ group: Code, threshold: Type.Optional(Type.Integer({ minimum: 1, maximum: approvalThresholdMax })) }),
        Closed({ user: Member }),
      ]),
    ),
  ),
  adminBypass: Type.Optional(Type.Boolean()),
  allowInitiatorApproval: Type.Optional(Type.Boolean()),
  enabled: Type.Optional(Type.Boolean()),
  rules: Type.Optional(Type.Array(Rule)),
})
export type FilePolicy = Static<typeof Policy>

const Group = Closed({
  code: Code,
  name: Name,
  description: Type.Optional(Nullable(Description)),
  /** If it is left out, the members stay as they are. */
  members: Type.Optional(Type.Array(Member)),
})
export type FileGroup = Static<typeof Group>

/** A category whose values need approval. A category that is not listed needs no votes. */
const Category = Closed({
  key: Type.String({ minLength: 1, maxLength: fieldKeyLengthMax }),
  approvalScope: Enum(categoryApprovalScopes),
  approvalThreshold: Type.Integer({ minimum: 1, maximum: approvalThresholdMax }),
  allowInitiatorApproval: Type.Optional(Type.Boolean()),
  approvers: Type.Optional(Type.Array(Type.Union([Closed({ group: Code }), Closed({ user: Member })]))),
})
export type FileCategory = Static<typeof Category>

/** A token: its code, or its id if several tokens of the vault have the code, with a name that only serves the reader. */
const Token = Type.Union([
  Type.String(),
  Closed({ id: Type.String({ minLength: 1 }), name: Type.Optional(Type.String()) }),
])
export type TokenReference = Static<typeof Token>

/** A value of a route. Its number and its code never change, and a variant is never removed: an unlisted variant is disabled. */
const Variant = Closed({
  route: Type.String({ minLength: 1 }),
  code: Type.String({ minLength: 1 }),
  pathId: Type.Integer({ minimum: 0, maximum: pathIndexMax }),
  name: Name,
  enabled: Type.Optional(Type.Boolean()),
  token: Type.Optional(Nullable(Token)),
})
export type FileVariant = Static<typeof Variant>

/** The sections of the file. A section that is left out stays as it is. */
export const RulesFile = Closed({
  vault: VaultCode,
  governance: Type.Optional(
    Closed({
      threshold: Threshold,
      approverGroup: Type.Optional(Nullable(Code)),
      looseningDelayHours: Type.Optional(Hours),
      tighteningDelayHours: Type.Optional(Hours),
    }),
  ),
  groups: Type.Optional(Type.Array(Group)),
  policies: Type.Optional(Type.Array(Policy)),
  categories: Type.Optional(Type.Array(Category)),
  variants: Type.Optional(Type.Array(Variant)),
})
export type RulesFile = Static<typeof RulesFile>

/** A person or service in the vault. Services have no e-mail address. */
export type Person = { userId: string; name: string; email: string | null }

/** The objects of a vault that a file names, besides its rules. */
export type Known = {
  people: Person[]
  categories: { id: string; key: string }[]
  routes: { id: string; code: string; dynamic: boolean }[]
}
