import { Type } from 'typebox'
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
  Timestamp,
} from '../../../http/schema.ts'
import { grantFields } from '../grants/schema.ts'

const folderAccesses = ['manager', 'granted', 'admin'] as const
export type FolderAccess = (typeof folderAccesses)[number]

export const AddressGroup = Closed(
  {
    id: Id,
    vaultId: Id,
    name: Name,
    description: Nullable(Description),
    color: Nullable(Color),
    emoji: Nullable(Emoji),
    createdById: Id,
    createdBy: ProfileBeside,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    memberCount: Type.Integer({ minimum: 0, description: 'Number of addresses in the folder.', examples: [4] }),
    access: Type.Unsafe<FolderAccess>({
      ...Enum(folderAccesses),
      description: "Source of the caller's access, the first that applies: manager, grant or administrator.",
    }),
    sharing: described(
      Closed({
        isShared: described(Type.Boolean({ examples: [true] }), 'True if anybody besides the manager has a grant.'),
        participantCount: Type.Integer({
          minimum: 0,
          description: 'Number of people with a grant, directly or through a group, without the manager.',
          examples: [3],
        }),
      }),
      'Sharing of the folder.',
    ),
  },
  { $id: 'AddressGroup', description: 'A folder of addresses.' },
)

export const AddressGroupMember = Closed(
  {
    groupId: described(Id, 'Identifier of the folder.'),
    addressId: Id,
    createdAt: Timestamp,
    address: described(
      Closed({
        id: Id,
        address: Type.String({ examples: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'] }),
        label: Nullable(Type.String({ examples: ['Payroll, EU'] })),
      }),
      'The address that is in the folder.',
    ),
  },
  { $id: 'AddressGroupMember' },
)

export const AddressGroupGrant = Closed(
  { ...grantFields, groupId: described(Id, 'Identifier of the folder.') },
  { $id: 'AddressGroupGrant', description: 'A right of a user or group on all addresses of a folder.' },
)

export const addressGroupComponents = [AddressGroup, AddressGroupMember, AddressGroupGrant]

const looks = {
  description: Type.Optional(Nullable(Description)),
  color: Type.Optional(Nullable(Color)),
  emoji: Type.Optional(Nullable(Emoji)),
}

export const AddressGroupCreation = Closed({ name: Name, ...looks })

export const AddressGroupUpdate = Closed({ name: Type.Optional(Name), ...looks })

export const AddressGroupMemberCreation = Closed({ addressId: GivenId })

export const addressGroupMemberParams = {
  id: described(GivenId, 'Identifier of the folder.'),
  addressId: GivenId,
}
