import { type Static, Type } from 'typebox'
import { Closed, Color, Emoji, Id, Name, Nullable, Uri } from '../../../http/schema.ts'

const Username = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{1,31}$',
  description: 'Unique, whatever the case of its letters.',
  examples: ['treasurer'],
})

const profileFields = {
  id: Id,
  name: Nullable(Name),
  email: Nullable(Type.String({ description: 'null: a service.', examples: ['treasurer@example.org'] })),
  username: Nullable(Username),
  image: Nullable(Uri),
  color: Nullable(Color),
  emoji: Nullable(Emoji),
}

/** What others see of a person or service: the shape of initiators, approvers and owners. */
export const Profile = Closed(profileFields, { $id: 'Profile' })
export type Profile = Static<typeof Profile>

/** What a person sees of themselves: which mails they want is nobody else's business. */
export const OwnProfile = Closed(
  {
    ...profileFields,
    notifications: Closed({
      approvals: Type.Boolean({ description: 'A mail when something waits for your vote.' }),
      decisions: Type.Boolean({ description: 'A mail when something you asked for was decided.' }),
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
