import { type Static, Type } from 'typebox'
import { Closed, Code, Email, Enum, Id, Name, Nullable, Timestamp } from '../../../http/schema.ts'
import { groupsPerInvitationMax } from '../../../lib/limits.ts'

const InvitationStatus = Enum(['pending', 'accepted', 'revoked'])
export type InvitationStatus = Static<typeof InvitationStatus>
const Person = Closed({ id: Id, name: Nullable(Name), email: Nullable(Email) })

export const Invitation = Closed(
  {
    id: Id,
    vaultId: Id,
    email: Email,
    status: InvitationStatus,
    createdById: Id,
    acceptedAt: Nullable(Timestamp),
    acceptedUserId: Nullable(Id),
    revokedAt: Nullable(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    groupMemberships: Type.Array(
      Closed({
        id: Id,
        invitationId: Id,
        groupId: Id,
        createdAt: Timestamp,
        group: Closed({ id: Id, code: Code, name: Name }),
      }),
    ),
    createdBy: Person,
    acceptedUser: Nullable(Person),
    token: Type.Optional(
      Type.String({
        description:
          'The token of the mailed link. Omitted from lists, from the answer to a revocation, and from replayed answers.',
        examples: ['q0Vn2mXkq1u7b9S3cT8yLw4Zr6HfJdPaE5gKoNiRtYs'],
      }),
    ),
  },
  { $id: 'Invitation' },
)
export type Invitation = Static<typeof Invitation>

export const CreateInvitation = Closed({
  email: Email,
  groupIds: Type.Array(Id, {
    minItems: 1,
    maxItems: groupsPerInvitationMax,
    uniqueItems: true,
    description: 'Policy groups of one vault, which the invited person joins.',
  }),
})
export type CreateInvitation = Static<typeof CreateInvitation>

export const InvitationQuery = Closed({ status: Type.Optional(InvitationStatus) })

export const invitationComponents = [Invitation]
