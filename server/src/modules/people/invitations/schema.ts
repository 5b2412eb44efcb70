import { type Static, Type } from 'typebox'
import { Closed, Code, described, Email, Enum, Id, Name, Nullable, Timestamp } from '../../../http/schema.ts'
import { groupsPerInvitationMax } from '../../../lib/limits.ts'

const InvitationStatus = Enum(['pending', 'accepted', 'revoked'])
export type InvitationStatus = Static<typeof InvitationStatus>
const Person = Closed({ id: Id, name: Nullable(Name), email: Nullable(Email) })

export const Invitation = Closed(
  {
    id: Id,
    vaultId: Id,
    email: described(Email, 'E-mail address that was invited.'),
    status: described(InvitationStatus, '`pending` until the invitation is accepted or revoked.'),
    createdById: Id,
    acceptedAt: described(Nullable(Timestamp), 'Instant at which it was accepted, in UTC; null before.'),
    acceptedUserId: described(Nullable(Id), 'Identifier of the person who accepted it; null before.'),
    revokedAt: described(Nullable(Timestamp), 'Instant at which it was revoked, in UTC; null if it was not.'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    groupMemberships: described(
      Type.Array(
        Closed({
          id: Id,
          invitationId: described(Id, 'Identifier of the invitation.'),
          groupId: described(Id, 'Identifier of the policy group.'),
          createdAt: Timestamp,
          group: described(Closed({ id: Id, code: Code, name: Name }), 'The policy group.'),
        }),
      ),
      'The policy groups that the invited person joins.',
    ),
    createdBy: described(Person, 'The person who sent the invitation.'),
    acceptedUser: described(Nullable(Person), 'The person who accepted it; null before.'),
    token: Type.Optional(
      Type.String({
        description:
          'The token of the mailed link. Omitted from lists, from the answer to a revocation, and from replayed answers.',
        examples: ['q0Vn2mXkq1u7b9S3cT8yLw4Zr6HfJdPaE5gKoNiRtYs'],
      }),
    ),
  },
  { $id: 'Invitation', description: 'An invitation to policy groups of a vault.' },
)
export type Invitation = Static<typeof Invitation>

export const CreateInvitation = Closed({
  email: described(Email, 'E-mail address to invite; the link is mailed there.'),
  groupIds: Type.Array(Id, {
    minItems: 1,
    maxItems: groupsPerInvitationMax,
    uniqueItems: true,
    description: 'Policy groups of one vault, which the invited person joins.',
  }),
})
export type CreateInvitation = Static<typeof CreateInvitation>

export const InvitationQuery = Closed({
  status: Type.Optional(described(InvitationStatus, 'Restricts the list to invitations of this status.')),
})

export const invitationComponents = [Invitation]
