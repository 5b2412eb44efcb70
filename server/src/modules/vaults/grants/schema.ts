import { Type } from 'typebox'
import { subjectKinds } from '../../../access/memberships.ts'
import {
  Closed,
  Code,
  Color,
  described,
  Emoji,
  Enum,
  GivenId,
  Id,
  Name,
  Nullable,
  ProfileBeside,
  Ref,
  Timestamp,
  Uri,
} from '../../../http/schema.ts'
import { membershipUserIdLengthMax } from '../../../lib/limits.ts'

const UserId = Type.String({
  minLength: 1,
  maxLength: membershipUserIdLengthMax,
  examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
})
const SubjectType = Enum(subjectKinds)

const GrantedUser = Closed(
  {
    id: UserId,
    name: Nullable(Name),
    username: Nullable(Type.String({ examples: ['treasurer'] })),
    image: Nullable(Uri),
    color: Nullable(Color),
    emoji: Nullable(Emoji),
  },
  { $id: 'GrantedUser' },
)

const GrantedGroup = Closed({ id: Id, code: Code, name: Name }, { $id: 'GrantedGroup' })

/** The fields of every grant. */
export const grantFields = {
  id: Id,
  vaultId: Id,
  subjectType: described(SubjectType, '`user` for a member of the vault, `group` for the members of a policy group.'),
  subjectId: described(UserId, 'Identifier of the member or of the policy group.'),
  subject: described(Type.Union([Ref(GrantedUser), Ref(GrantedGroup)]), 'The user or group that the grant is for.'),
  canView: Type.Boolean({ examples: [true] }),
  canTransfer: Type.Boolean({ description: 'True if the grant includes the right to transfer.', examples: [false] }),
  grantorId: UserId,
  grantor: ProfileBeside,
  createdAt: Timestamp,
}

export const AddressGrant = Closed(
  { ...grantFields, addressId: Id },
  { $id: 'AddressGrant', description: 'A right of a user or group on an address.' },
)

export const addressGrantComponents = [GrantedUser, GrantedGroup, AddressGrant]

/** A new grant replaces the existing grant of its subject. Rights that the new grant does not name end. */
export const GrantCreation = Closed({
  subjectType: described(SubjectType, '`user` for a member of the vault, `group` for the members of a policy group.'),
  subjectId: Type.String({
    minLength: 1,
    maxLength: membershipUserIdLengthMax,
    description: 'A member of the vault, or one of its policy groups, `everyone` included.',
    examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
  }),
  canView: Type.Optional(
    Type.Literal(true, { description: 'Always true: every grant includes the right to view.', examples: [true] }),
  ),
  canTransfer: Type.Optional(Type.Boolean({ description: 'Defaults to false.', examples: [false] })),
})

export const grantParams = {
  id: GivenId,
  grantId: described(GivenId, 'Identifier of the grant.'),
}
