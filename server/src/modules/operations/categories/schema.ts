import { Type } from 'typebox'
import { subjectKinds } from '../../../access/subjects.ts'
import {
  Closed,
  Color,
  Description,
  Emoji,
  Enum,
  Id,
  Name,
  Nullable,
  pageQuery,
  Ref,
  Timestamp,
  VaultAndIdParams,
} from '../../../http/schema.ts'
import * as limits from '../../../lib/limits.ts'
import { operationTypes } from '../../../lib/operations.ts'

const PathId = Type.String({ minLength: 1, maxLength: 128, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })
/** Members are named by any string, because services without a user can be members too. */
const SubjectUserId = Type.String({
  minLength: 1,
  maxLength: limits.membershipUserIdLengthMax,
  examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
})

const appliesTo = [...operationTypes, 'both'] as const
export type AppliesTo = (typeof appliesTo)[number]
const scopes = ['owner_only', 'vault_members', 'restricted'] as const
export type CategoryScope = (typeof scopes)[number]
const approvalScopes = ['none', 'edit', 'assign_and_edit'] as const
export type ApprovalScope = (typeof approvalScopes)[number]
const fieldTypes = ['text', 'number', 'select', 'date', 'datetime', 'boolean', 'url', 'currency'] as const
export type FieldType = (typeof fieldTypes)[number]

const AppliesTo = Enum(appliesTo)
const Scope = Enum(scopes)
const ApprovalScope = Enum(approvalScopes)
const FieldType = Enum(fieldTypes)
const Subject = Enum(subjectKinds)

const Key = Type.String({
  minLength: 1,
  maxLength: limits.fieldKeyLengthMax,
  pattern: '^[a-z][a-z0-9_]*$',
  examples: ['cost_center'],
})
const ApprovalThreshold = Type.Integer({
  minimum: 0,
  maximum: limits.approvalThresholdMax,
  description: 'Number of approvals that a change of values needs; at least 1 unless approvalScope is none.',
  examples: [1],
})
const Label = Type.String({ minLength: 1, maxLength: limits.labelLengthMax, pattern: '\\S', examples: ['Cost center'] })
const Options = Type.Array(
  Closed({
    value: Type.String({ minLength: 1, maxLength: limits.fieldOptionLengthMax, pattern: '\\S', examples: ['cc_100'] }),
    label: Type.String({ minLength: 1, maxLength: limits.labelLengthMax, pattern: '\\S', examples: ['Marketing'] }),
  }),
  { minItems: 1, maxItems: limits.optionsPerFieldMax, description: 'For type `select`, which requires at least one.' },
)
const Scale = Type.Integer({
  minimum: 0,
  maximum: limits.fieldScaleMax,
  description: 'Fraction digits of a number or currency; 2 for a currency when it is left out.',
  examples: [2],
})
const Unit = Type.String({
  minLength: 1,
  maxLength: limits.fieldUnitLengthMax,
  description: 'For types `number` and `currency`.',
  examples: ['kg'],
})
const Default = Type.Unknown({
  description: 'The default value for new assignments, as it would be sent; null for none.',
  examples: ['cc_100'],
})
const HelpText = Type.String({ maxLength: limits.fieldHelpTextLengthMax, examples: ['As in the chart of accounts'] })
const OrderIndex = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Fields are sorted by this number, then by creation.',
  examples: [10],
})
const CurrencyFieldKey = Type.String({
  minLength: 1,
  maxLength: limits.fieldKeyLengthMax,
  description: 'For type `currency`: key of the select or text field of the same category that holds the currency.',
  examples: ['invoice_currency'],
})

export const CategoryField = Closed(
  {
    id: Id,
    categoryId: Id,
    key: Key,
    label: Label,
    type: FieldType,
    required: Type.Boolean({ examples: [false] }),
    optionsJson: Nullable(Options),
    scale: Nullable(Scale),
    currencyFieldKey: Nullable(CurrencyFieldKey),
    unit: Nullable(Unit),
    defaultJson: Default,
    helpText: Nullable(HelpText),
    sensitive: Type.Boolean({
      description: 'Its values read as null for those who may not edit them.',
      examples: [false],
    }),
    orderIndex: OrderIndex,
    archived: Type.Boolean({ examples: [false] }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'CategoryField' },
)

const CategoryGrant = Closed({
  id: Id,
  vaultId: Id,
  categoryId: Id,
  subjectType: Subject,
  subjectUserId: Nullable(SubjectUserId),
  subjectGroupId: Nullable(Id),
  canView: Type.Boolean({ examples: [true] }),
  canAssign: Type.Boolean({ examples: [true] }),
  canEdit: Type.Boolean({ examples: [false] }),
  grantorId: SubjectUserId,
  status: Enum(['active']),
  createdAt: Timestamp,
})

const CategoryApprover = Closed({
  id: Id,
  categoryId: Id,
  kind: Subject,
  userId: Nullable(SubjectUserId),
  groupId: Nullable(Id),
  createdAt: Timestamp,
})

export const OperationCategory = Closed(
  {
    id: Id,
    vaultId: Id,
    key: Key,
    name: Name,
    description: Nullable(Description),
    emoji: Nullable(Emoji),
    color: Nullable(Color),
    appliesTo: AppliesTo,
    viewScope: Scope,
    assignScope: Scope,
    editScope: Scope,
    approvalScope: ApprovalScope,
    approvalThreshold: ApprovalThreshold,
    allowInitiatorApproval: Type.Boolean({ examples: [false] }),
    isSystem: Type.Boolean({ examples: [false] }),
    archived: Type.Boolean({ examples: [false] }),
    version: Type.Integer({
      minimum: 1,
      description: 'Increased by one with every change, including changes of fields, grants and approvers.',
      examples: [1],
    }),
    createdById: SubjectUserId,
    updatedById: SubjectUserId,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    fields: Type.Array(Ref(CategoryField)),
    grants: Type.Array(CategoryGrant, {
      description: 'Those who may not edit the definition see the grants of themselves and their groups only.',
    }),
    approvers: Type.Array(CategoryApprover),
  },
  { $id: 'OperationCategory' },
)

export const operationCategoryComponents = [CategoryField, OperationCategory]

const settings = {
  description: Type.Optional(Nullable(Description)),
  emoji: Type.Optional(Nullable(Emoji)),
  color: Type.Optional(Nullable(Color)),
  appliesTo: Type.Optional(AppliesTo),
  viewScope: Type.Optional(Scope),
  assignScope: Type.Optional(Scope),
  editScope: Type.Optional(Scope),
  approvalScope: Type.Optional(ApprovalScope),
  approvalThreshold: Type.Optional(ApprovalThreshold),
  allowInitiatorApproval: Type.Optional(Type.Boolean({ examples: [false] })),
}
export const CategoryCreation = Closed({ key: Key, name: Name, ...settings })
export const CategoryUpdate = Closed({
  name: Type.Optional(Name),
  ...settings,
  archived: Type.Optional(Type.Boolean({ examples: [false] })),
})

const fieldSettings = {
  required: Type.Optional(Type.Boolean({ examples: [false] })),
  optionsJson: Type.Optional(Nullable(Options)),
  scale: Type.Optional(Nullable(Scale)),
  currencyFieldKey: Type.Optional(Nullable(CurrencyFieldKey)),
  unit: Type.Optional(Nullable(Unit)),
  defaultJson: Type.Optional(Default),
  helpText: Type.Optional(Nullable(HelpText)),
  sensitive: Type.Optional(Type.Boolean({ examples: [false] })),
  orderIndex: Type.Optional(OrderIndex),
}
export const FieldCreation = Closed({ key: Key, label: Label, type: FieldType, ...fieldSettings })
export const FieldUpdate = Closed({
  label: Type.Optional(Label),
  ...fieldSettings,
  archived: Type.Optional(Type.Boolean({ examples: [false] })),
})

export const CategoryGrants = Closed({
  grants: Type.Array(
    Closed({
      subjectType: Subject,
      subjectUserId: Type.Optional(Nullable(SubjectUserId)),
      subjectGroupId: Type.Optional(Nullable(PathId)),
      canView: Type.Optional(Type.Boolean({ examples: [true] })),
      canAssign: Type.Optional(Type.Boolean({ examples: [true] })),
      canEdit: Type.Optional(Type.Boolean({ examples: [false] })),
    }),
    {
      maxItems: limits.grantsPerCategoryMax,
      description: 'Replaces the list. `canView` defaults to true, the other rights to false.',
      examples: [[{ subjectType: 'user', subjectUserId: 'cmi8h2k1p0a1b2c3d4e5f6g7h', canAssign: true }]],
    },
  ),
})

export const CategoryApprovers = Closed({
  approvers: Type.Array(
    Closed({
      kind: Subject,
      userId: Type.Optional(Nullable(SubjectUserId)),
      groupId: Type.Optional(Nullable(PathId)),
    }),
    {
      maxItems: limits.approversPerCategoryMax,
      description: 'Replaces the list.',
      examples: [[{ kind: 'user', userId: 'cmi8h2k1p0a1b2c3d4e5f6g7h' }]],
    },
  ),
})

export const CategoryQuery = Closed({
  archived: Type.Optional(Type.Boolean({ description: 'Archived and active ones by default.', examples: [false] })),
  appliesTo: Type.Optional(AppliesTo),
  ...pageQuery,
})

export const CategoryFieldParams = Closed({ ...VaultAndIdParams.properties, fieldId: PathId })
