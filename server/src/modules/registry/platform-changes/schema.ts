import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, ProfileBeside, pageQuery, Timestamp } from '../../../http/schema.ts'

export const platformActions = [
  'token_update',
  'user_enable',
  'identity_provider_activate',
  'directory_activate',
  'identity_provider_enforce',
  'break_glass_name',
  'break_glass_remove',
] as const
export type PlatformAction = (typeof platformActions)[number]

const Status = Enum(['held', 'confirmed', 'rejected'])
export type PlatformChangeStatus = Static<typeof Status>

export const PlatformChange = Closed(
  {
    id: Id,
    action: described(
      Enum(platformActions),
      'Requested action: another name of a token, that a user is enabled, that an identity provider or a directory is activated, ' +
        'that an identity provider is the only way in for its people, or who the break-glass people are.',
    ),
    targetId: described(Id, 'Identifier of the token, user, identity provider or directory.'),
    payload: described(
      Type.Record(Type.String(), Type.Unknown(), { examples: [{ symbol: 'USDT' }] }),
      'The body of the request that asked for it.',
    ),
    status: described(Status, '`held` until another platform administrator confirms or rejects it.'),
    createdById: described(Id, 'Identifier of the platform administrator who asked for it.'),
    createdBy: ProfileBeside,
    createdAt: Timestamp,
    decidedById: described(Nullable(Id), 'Identifier of the platform administrator who decided; null before.'),
    decidedBy: ProfileBeside,
    decidedAt: described(Nullable(Timestamp), 'Instant of the decision, in UTC; null before.'),
  },
  {
    $id: 'PlatformChange',
    description:
      'A change by a platform administrator that waits for another administrator, because a vault with governance depends ' +
      'on it, or ' +
      'because it decides who somebody is.',
  },
)

export const PlatformChangeQuery = Closed({
  status: Type.Optional(described(Status, 'Restricts the list to changes of this status.')),
  ...pageQuery,
})

export const platformChangeComponents = [PlatformChange]
