import { type Static, Type } from 'typebox'
import {
  Closed,
  Color,
  described,
  Email,
  Emoji,
  MemberProfile,
  Name,
  Nullable,
  Profile,
  pageQuery,
  Timestamp,
  Uri,
  Username,
  VaultCode,
} from '../../../http/schema.ts'
import { nameLengthMax, preferencesBytesMax } from '../../../lib/limits.ts'

/** The own profile of a person; only they see which mails they receive. */
export const OwnProfile = Closed(
  {
    ...Profile.properties,
    notifications: described(
      Closed({
        approvals: Type.Boolean({ description: 'Whether to send a mail when a request waits for your vote.' }),
        decisions: Type.Boolean({ description: 'Whether to send a mail when a request of yours was decided.' }),
      }),
      'Which mails the person receives.',
    ),
  },
  { $id: 'OwnProfile' },
)
export type OwnProfile = Static<typeof OwnProfile>

export const UpdateProfile = Closed({
  name: Type.Optional(Nullable(Name)),
  username: Type.Optional(Nullable(Username)),
  image: Type.Optional(Nullable(Uri)),
  color: Type.Optional(Nullable(Color)),
  emoji: Type.Optional(Nullable(Emoji)),
  notifications: Type.Optional(
    described(
      Closed({
        approvals: Type.Optional(
          described(Type.Boolean(), 'Whether to send a mail when a request waits for your vote.'),
        ),
        decisions: Type.Optional(
          described(Type.Boolean(), 'Whether to send a mail when a request of yours was decided.'),
        ),
      }),
      'Which mails to receive; what is left out stays.',
    ),
  ),
})
export type UpdateProfile = Static<typeof UpdateProfile>

export const Preferences = Type.Unsafe<Record<string, unknown>>({
  $id: 'Preferences',
  type: 'object',
  additionalProperties: true,
  description: `What a user interface remembers for the caller; at most ${preferencesBytesMax} bytes of JSON.`,
  examples: [{ historyColumns: ['createdAt', 'amount'], theme: 'dark' }],
})

const { userId, kind, name } = MemberProfile.properties

export const PlatformUser = Closed(
  {
    userId,
    kind,
    name,
    email: described(Nullable(Email), 'E-mail address; null for a service.'),
    createdAt: Timestamp,
    lastSeenAt: described(
      Nullable(Timestamp),
      'When they last used a session, to within an hour; null for a service and for who has no session.',
    ),
    vaults: Type.Array(Closed({ code: VaultCode, name: Name }), {
      description: 'The vaults in which they are in a group, by code.',
    }),
    isPlatformAdmin: Type.Boolean({ description: 'Whether they administer the platform.', examples: [false] }),
  },
  { $id: 'PlatformUser', description: 'A person or service that can use this service.' },
)
export type PlatformUser = Static<typeof PlatformUser>

export const PlatformUserQuery = Closed({
  ...pageQuery,
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: nameLengthMax,
      description: 'A part of the name, the username or the e-mail address, regardless of case.',
      examples: ['ann'],
    }),
  ),
})

export const userComponents = [Profile, MemberProfile, OwnProfile, Preferences, PlatformUser]
