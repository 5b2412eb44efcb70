import { Type } from 'typebox'
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
  Timestamp,
} from '../../../http/schema.ts'
import { grantFields } from '../grants/schema.ts'

const Key = Type.String({ minLength: 1, maxLength: 128, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })

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
    createdAt: Timestamp,
    updatedAt: Timestamp,
    memberCount: Type.Integer({ minimum: 0, description: 'Addresses in the folder.', examples: [4] }),
    access: Type.Unsafe<FolderAccess>({
      ...Enum(folderAccesses),
      description: 'How the caller has access: as manager, by a grant, or as administrator, in this order.',
    }),
    sharing: Closed({
      isShared: Type.Boolean({ examples: [true] }),
      participantCount: Type.Integer({
        minimum: 0,
        description: 'Number of people with a grant, directly or through a group, without the manager.',
        examples: [3],
      }),
    }),
  },
  { $id: 'AddressGroup' },
)

export const AddressGroupMember = Closed(
  {
    groupId: Id,
    addressId: Id,
    createdAt: Timestamp,
    address: Closed({
      id: Id,
      address: Type.String({ examples: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'] }),
      label: Nullable(Type.String({ examples: ['Payroll, EU'] })),
    }),
  },
  { $id: 'AddressGroupMember' },
)

export const AddressGroupGrant = Closed({ ...grantFields, groupId: Id }, { $id: 'AddressGroupGrant' })

export const addressGroupComponents = [AddressGroup, AddressGroupMember, AddressGroupGrant]

const looks = {
  description: Type.Optional(Nullable(Description)),
  color: Type.Optional(Nullable(Color)),
  emoji: Type.Optional(Nullable(Emoji)),
}

export const AddressGroupCreation = Closed({ name: Name, ...looks })

export const AddressGroupUpdate = Closed({ name: Type.Optional(Name), ...looks })

export const AddressGroupMemberCreation = Closed({ addressId: Key })

export const AddressGroupQuery = Closed(pageQuery)

export const AddressGroupMemberParams = Closed({
  code: Type.String({ minLength: 1, maxLength: 63, examples: ['main-vault'] }),
  id: Key,
  addressId: Key,
})
