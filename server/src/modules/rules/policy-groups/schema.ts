import { Type } from 'typebox'
import {
  Closed,
  Code,
  Color,
  Description,
  described,
  Emoji,
  GivenId,
  Id,
  Name,
  Nullable,
  ProfileBeside,
  Timestamp,
  Uri,
} from '../../../http/schema.ts'
import * as limits from '../../../lib/limits.ts'
import { ActionType, PolicyEffect } from '../decisions/schema.ts'

export const MemberUserId = Type.String({
  minLength: 1,
  maxLength: limits.membershipUserIdLengthMax,
  description: 'Any string: external services without a user can be members, too.',
  examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
})

export const looks = {
  description: Nullable(Description),
  logoUri: Nullable(Uri),
  color: Nullable(Color),
  emoji: Nullable(Emoji),
}

export const optionalLooks = Type.Partial(Type.Object(looks)).properties
export const PolicyGroupMembership = Closed(
  {
    id: Id,
    groupId: described(Id, 'Identifier of the policy group.'),
    userId: MemberUserId,
    user: ProfileBeside,
    createdAt: Timestamp,
  },
  { $id: 'PolicyGroupMembership' },
)

export const groupFields = {
  id: Id,
  vaultId: Id,
  code: Code,
  name: Name,
  ...looks,
  isSystem: Type.Boolean({
    description: 'True if it was created with the vault: such a group cannot be deleted and keeps its code.',
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const PolicyGroup = Closed(
  {
    ...groupFields,
    policies: described(
      Type.Array(
        Closed({
          id: Id,
          code: Code,
          name: Name,
          actionType: ActionType,
          effect: described(PolicyEffect, 'Effect of the policy when its rules match.'),
          enabled: described(Type.Boolean(), 'True if the policy takes part in decisions.'),
          createdAt: Timestamp,
        }),
      ),
      'The policies of the group.',
    ),
    memberships: Type.Array(Closed({ id: Id, userId: MemberUserId, user: ProfileBeside, createdAt: Timestamp })),
  },
  {
    $id: 'PolicyGroup',
    description: 'The built-in group `everyone` contains every member of the vault; its memberships are not listed.',
  },
)

export const PolicyGroupListItem = Closed(
  {
    ...groupFields,
    _count: Closed({
      policies: described(Type.Integer(), 'Number of policies of the group.'),
      memberships: described(Type.Integer(), 'Number of members of the group.'),
    }),
  },
  { $id: 'PolicyGroupListItem' },
)

export const CreatePolicyGroup = Closed({ code: Code, name: Name, ...optionalLooks })
export const UpdatePolicyGroup = Closed({ code: Type.Optional(Code), name: Type.Optional(Name), ...optionalLooks })
export const AddMember = Closed({ userId: MemberUserId })
export const memberParams = {
  id: described(GivenId, 'Identifier of the policy group.'),
  userId: MemberUserId,
}

export const GroupName = Closed({ id: Id, code: Code, name: Name })

export const policyGroupComponents = [PolicyGroupMembership, PolicyGroup, PolicyGroupListItem]
