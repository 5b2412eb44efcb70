import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, ProfileBeside, pageQuery, Timestamp } from '../../../http/schema.ts'

const platformActions = [
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
      'Requested action: update a token, enable a user, activate or enforce an identity provider, activate a directory, or ' +
        'name or remove a break-glass person.',
    ),
    targetId: described(Id, 'Identifier of the token, user, identity provider or directory.'),
    payload: described(
      Type.Record(Type.String(), Type.Unknown(), { examples: [{ symbol: 'USDT' }] }),
      'The values of the change: the body of the request, or the settings to activate.',
    ),
    status: described(Status, '`held` until another platform administrator confirms or rejects it.'),
    createdById: described(Id, 'Identifier of the platform administrator who requested the change.'),
    createdBy: ProfileBeside,
    createdAt: Timestamp,
    decidedById: described(Nullable(Id), 'Identifier of the platform administrator who decided; null before.'),
    decidedBy: ProfileBeside,
    decidedAt: described(Nullable(Timestamp), 'Instant of the decision, in UTC; null before.'),
  },
  {
    $id: 'PlatformChange',
    description:
      'A change by a platform administrator that another platform administrator must confirm, because a vault with ' +
      'governance depends on it, or because it decides how people prove who they are.',
  },
)

export const PlatformChangeQuery = Closed({
  status: Type.Optional(described(Status, 'Restricts the list to changes of this status.')),
  ...pageQuery,
})

export const platformChangeComponents = [PlatformChange]
