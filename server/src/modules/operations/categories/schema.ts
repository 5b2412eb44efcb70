import { Type } from 'typebox'
import { subjectKinds } from '../../../access/memberships.ts'
import {
  Closed,
  Color,
  Description,
  described,
  Emoji,
  Enum,
  GivenId,
  Id,
  Name,
  Nullable,
  ProfileBeside,
  pageQuery,
  Ref,
  Timestamp,
} from '../../../http/schema.ts'
import * as limits from '../../../lib/limits.ts'
import { operationTypes } from '../../../lib/operations.ts'

/** The id of a user. Any string can name a member, because services without a user can be members too. */
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
const Subject = described(
  Enum(subjectKinds),
  '`user` for a member of the vault, `group` for the members of a policy group.',
)

const Key = Type.String({
  minLength: 1,
  maxLength: limits.fieldKeyLengthMax,
  pattern: '^[a-z][a-z0-9_]*$',
  examples: ['cost_center'],
})
const ApprovalThreshold = Type.Integer({
  minimum: 0,
  maximum: limits.approvalThresholdMax,
  description:
    'Number of approvals that a change of values needs: at least 1 (the default) unless `approvalScope` is `none`.',
  examples: [1],
})
const Label = Type.String({ minLength: 1, maxLength: limits.labelLengthMax, pattern: '\\S', examples: ['Cost center'] })
const Options = Type.Array(
  Closed({
    value: described(
      Type.String({ minLength: 1, maxLength: limits.fieldOptionLengthMax, pattern: '\\S', examples: ['cc_100'] }),
      'The value as it is stored.',
    ),
    label: described(
      Type.String({ minLength: 1, maxLength: limits.labelLengthMax, pattern: '\\S', examples: ['Marketing'] }),
      'The value for people to read.',
    ),
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
  description: 'Unit of the values, for people to read.',
  examples: ['kg'],
})
const Default = Type.Unknown({
  description: 'Default value of new assignments, in the form in which values are sent; null without one.',
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

const fieldSettings = {
  required: Type.Boolean({ examples: [false] }),
  optionsJson: Nullable(Options),
  scale: Nullable(Scale),
  currencyFieldKey: Nullable(CurrencyFieldKey),
  unit: Nullable(Unit),
  defaultJson: Default,
  helpText: Nullable(HelpText),
  sensitive: Type.Boolean({ examples: [false] }),
  orderIndex: OrderIndex,
}

export const CategoryField = Closed(
  {
    id: Id,
    categoryId: Id,
    key: described(Key, 'Name of the field in values and conditions; it never changes.'),
    label: described(Label, 'Label of the field for people to read.'),
    type: described(FieldType, 'Type of the values; it never changes.'),
    ...fieldSettings,
    sensitive: Type.Boolean({
      description: 'True if the values are null for viewers who may not edit them.',
      examples: [false],
    }),
    archived: Type.Boolean({ examples: [false] }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'CategoryField', description: 'A field of a category.' },
)

const CategoryGrant = Closed({
  id: Id,
  vaultId: Id,
  categoryId: Id,
  subjectType: Subject,
  subjectUserId: described(Nullable(SubjectUserId), 'Identifier of the member; null for a group.'),
  subjectGroupId: described(Nullable(Id), 'Identifier of the policy group; null for a user.'),
  canView: described(Type.Boolean({ examples: [true] }), 'True if the subject may see the values.'),
  canAssign: described(Type.Boolean({ examples: [true] }), 'True if the subject may assign and unassign the category.'),
  canEdit: described(Type.Boolean({ examples: [false] }), 'True if the subject may edit the values.'),
  user: ProfileBeside,
  grantorId: SubjectUserId,
  grantor: ProfileBeside,
  status: described(Enum(['active']), 'Always `active`: a grant that ends is not listed.'),
  createdAt: Timestamp,
})

const CategoryApprover = Closed({
  id: Id,
  categoryId: Id,
  kind: Subject,
  userId: described(Nullable(SubjectUserId), 'Identifier of the member; null for a group.'),
  groupId: described(Nullable(Id), 'Identifier of the policy group; null for a user.'),
  user: ProfileBeside,
  createdAt: Timestamp,
})

const settings = {
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
}

export const OperationCategory = Closed(
  {
    id: Id,
    vaultId: Id,
    key: described(Key, 'Name of the category in requests; it never changes.'),
    name: Name,
    ...settings,
    isSystem: Type.Boolean({ examples: [false] }),
    archived: Type.Boolean({ examples: [false] }),
    version: Type.Integer({
      minimum: 1,
      description: 'Increased by one with every change, including changes of fields, grants and approvers.',
      examples: [1],
    }),
    createdById: SubjectUserId,
    createdBy: ProfileBeside,
    updatedById: described(SubjectUserId, 'Identifier of the user or service that changed it last.'),
    updatedBy: ProfileBeside,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    fields: described(Type.Array(Ref(CategoryField)), 'The fields whose values an assignment has.'),
    grants: Type.Array(CategoryGrant, {
      description: 'All grants if the caller may edit the definition; else the grants to the caller and its groups.',
    }),
    approvers: described(
      Type.Array(CategoryApprover),
      'Approvers of changes of values; an empty list means the administrators.',
    ),
  },
  { $id: 'OperationCategory', description: 'A category of operations, with its fields and rights.' },
)

export const operationCategoryComponents = [CategoryField, OperationCategory]

const optionalSettings = Type.Partial(Type.Object(settings)).properties
export const CategoryCreation = Closed({
  key: described(Key, 'Name of the category in requests; it never changes.'),
  name: Name,
  ...optionalSettings,
})
export const CategoryUpdate = Closed({
  name: Type.Optional(Name),
  ...optionalSettings,
  archived: Type.Optional(Type.Boolean({ examples: [false] })),
})

const optionalFieldSettings = Type.Partial(Type.Object(fieldSettings)).properties
export const FieldCreation = Closed({
  key: described(Key, 'Name of the field in values and conditions; it never changes.'),
  label: described(Label, 'Label of the field for people to read.'),
  type: described(FieldType, 'Type of the values; it never changes.'),
  ...optionalFieldSettings,
})
export const FieldUpdate = Closed({
  label: Type.Optional(described(Label, 'Label of the field for people to read.')),
  ...optionalFieldSettings,
  archived: Type.Optional(Type.Boolean({ examples: [false] })),
})

const fieldId = described(GivenId, 'Identifier of the field.')
/** The bodies of changes of a field. The target of the change is the category. */
export const NamedField = Closed({ fieldId })
export const NamedFieldUpdate = Closed({ fieldId, ...FieldUpdate.properties })

export const CategoryGrants = Closed({
  grants: Type.Array(
    Closed({
      subjectType: Subject,
      subjectUserId: Type.Optional(
        described(Nullable(SubjectUserId), 'Identifier of the member, if `subjectType` is `user`.'),
      ),
      subjectGroupId: Type.Optional(
        described(Nullable(GivenId), 'Identifier of the policy group, if `subjectType` is `group`.'),
      ),
      canView: Type.Optional(Type.Boolean({ examples: [true] })),
      canAssign: Type.Optional(
        described(
          Type.Boolean({ examples: [true] }),
          'True if the subject may assign and unassign the category; defaults to false.',
        ),
      ),
      canEdit: Type.Optional(
        described(Type.Boolean({ examples: [false] }), 'True if the subject may edit the values; defaults to false.'),
      ),
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
      userId: Type.Optional(described(Nullable(SubjectUserId), 'Identifier of the member, if `kind` is `user`.')),
      groupId: Type.Optional(described(Nullable(GivenId), 'Identifier of the policy group, if `kind` is `group`.')),
    }),
    {
      maxItems: limits.approversPerCategoryMax,
      description: 'Replaces the list.',
      examples: [[{ kind: 'user', userId: 'cmi8h2k1p0a1b2c3d4e5f6g7h' }]],
    },
  ),
})

export const CategoryQuery = Closed({
  archived: Type.Optional(
    Type.Boolean({ description: 'true: archived only; false: active only; both by default.', examples: [false] }),
  ),
  appliesTo: Type.Optional(AppliesTo),
  ...pageQuery,
})

export const categoryFieldParams = {
  fieldId: described(GivenId, 'Identifier of the field.'),
}
