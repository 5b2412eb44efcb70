import { type Static, Type } from 'typebox'
import { Closed, Color, Emoji, Id, Name, Nullable, Uri } from '../../http/schema.ts'

const Username = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{1,31}$',
  description: 'Unique, whatever the case of its letters.',
  examples: ['treasurer'],
})

/** What others see of a person or service: the shape of initiators, approvers and owners. */
export const Profile = Closed(
  {
    id: Id,
    name: Nullable(Name),
    email: Nullable(Type.String({ description: 'null: a service.', examples: ['treasurer@example.org'] })),
    username: Nullable(Username),
    image: Nullable(Uri),
    color: Nullable(Color),
    emoji: Nullable(Emoji),
  },
  { $id: 'Profile' },
)
export type Profile = Static<typeof Profile>

export const UpdateProfile = Closed({
  name: Type.Optional(Nullable(Name)),
  username: Type.Optional(Nullable(Username)),
  image: Type.Optional(Nullable(Uri)),
  color: Type.Optional(Nullable(Color)),
  emoji: Type.Optional(Nullable(Emoji)),
})
export type UpdateProfile = Static<typeof UpdateProfile>

export const userComponents = [Profile]
