import { type Static, Type } from 'typebox'
import {
  Closed,
  Color,
  described,
  Emoji,
  MemberProfile,
  Name,
  Nullable,
  Profile,
  Uri,
  Username,
} from '../../../http/schema.ts'
import { preferencesBytesMax } from '../../../lib/limits.ts'

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

export const userComponents = [Profile, MemberProfile, OwnProfile, Preferences]
