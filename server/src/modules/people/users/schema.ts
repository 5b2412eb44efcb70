import { type Static, Type } from 'typebox'
import { Closed, Color, Emoji, Name, Nullable, Profile, Uri, Username } from '../../../http/schema.ts'

/** The own profile of a person; only they see which mails they receive. */
export const OwnProfile = Closed(
  {
    ...Profile.properties,
    notifications: Closed({
      approvals: Type.Boolean({ description: 'Whether to send a mail when a request waits for your vote.' }),
      decisions: Type.Boolean({ description: 'Whether to send a mail when a request of yours was decided.' }),
    }),
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
    Closed({ approvals: Type.Optional(Type.Boolean()), decisions: Type.Optional(Type.Boolean()) }),
  ),
})
export type UpdateProfile = Static<typeof UpdateProfile>

export const userComponents = [Profile, OwnProfile]
