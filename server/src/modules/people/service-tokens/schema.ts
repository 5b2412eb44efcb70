import { type Static, Type } from 'typebox'
import { Closed, Id, Name, Nullable, Timestamp } from '../../../http/schema.ts'
import { groupsPerInvitationMax } from '../../../lib/limits.ts'

export const ServiceToken = Closed(
  {
    id: Id,
    userId: Id,
    name: Name,
    createdById: Id,
    createdAt: Timestamp,
    expiresAt: Nullable(Timestamp),
    revokedAt: Nullable(Timestamp),
    token: Type.Optional(
      Type.String({
        description:
          'Shown once, in the answer that creates it; the answer to a repetition with the same Idempotency-Key leaves it out.',
        examples: ['srk_q0Vn2mXkq1u7b9S3cT8yLw4Zr6HfJdPaE5gKoNiRtYs'],
      }),
    ),
  },
  { $id: 'ServiceToken' },
)
export type ServiceToken = Static<typeof ServiceToken>

export const CreateServiceToken = Closed({
  name: Name,
  groupIds: Type.Array(Id, {
    minItems: 1,
    maxItems: groupsPerInvitationMax,
    uniqueItems: true,
    description: 'Policy groups of the vault that the service becomes a member of.',
  }),
  expiresAt: Type.Optional(Nullable(Timestamp)),
})
export type CreateServiceToken = Static<typeof CreateServiceToken>

export const serviceTokenComponents = [ServiceToken]
