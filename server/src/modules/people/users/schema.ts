import { type Static, Type } from 'typebox'
import {
  Closed,
  Color,
  described,
  Email,
  Emoji,
  Enum,
  Id,
  MemberProfile,
  Name,
  Nullable,
  Profile,
  pageQuery,
  Ref,
  Timestamp,
  Uri,
  Username,
  VaultCode,
} from '../../../http/schema.ts'
import { nameLengthMax, noteLengthMax, preferencesBytesMax } from '../../../lib/limits.ts'

const mails = {
  approvals: Type.Boolean({ description: 'True to get a mail when a request waits for your vote.' }),
  decisions: Type.Boolean({ description: 'True to get a mail when one of your requests was decided.' }),
}

/** The profile of the caller. Only they see which mails they receive. */
export const OwnProfile = Closed(
  {
    ...Profile.properties,
    notifications: described(Closed(mails), 'Mails that the person receives.'),
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
      Closed(Type.Partial(Type.Object(mails)).properties),
      'Mails to receive; a setting that is left out stays.',
    ),
  ),
})
export type UpdateProfile = Static<typeof UpdateProfile>

export const Preferences = Type.Unsafe<Record<string, unknown>>({
  $id: 'Preferences',
  type: 'object',
  additionalProperties: true,
  description: `Preferences that a user interface stores for the caller; at most ${preferencesBytesMax} bytes of JSON.`,
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
      'Last use of a session, to within an hour; null for a service and for a user without a session.',
    ),
    vaults: Type.Array(Closed({ code: VaultCode, name: Name }), {
      description: 'The vaults of which the user is a member, by code.',
    }),
    isPlatformAdmin: Type.Boolean({ description: 'True if the user administers the platform.', examples: [false] }),
    disabledAt: described(Nullable(Timestamp), 'Time at which the user was disabled; null for an active user.'),
  },
  { $id: 'PlatformUser', description: 'A person or service of the platform.' },
)
export type PlatformUser = Static<typeof PlatformUser>

/** The search text of lists of people. */
export const Search = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: nameLengthMax,
    description: 'A part of the name, the username or the e-mail address, regardless of case.',
    examples: ['ann'],
  }),
)

/** The status filter of a list of users. */
const userStatuses = ['active', 'disabled'] as const
export type UserStatus = (typeof userStatuses)[number]

export const PlatformUserQuery = Closed({
  ...pageQuery,
  search: Search,
  status: Type.Optional(
    described(
      Enum(userStatuses),
      '`active` lists users who can use the service, `disabled` lists disabled users; `active` by default.',
    ),
  ),
})

/** The reason for which a user is disabled or enabled. */
export const DisableUser = Closed({
  reason: described(
    Type.String({ minLength: 1, maxLength: noteLengthMax, pattern: '\\S', examples: ['Left the company'] }),
    'Reason, which the audit log keeps and administrators of the vaults of the user read.',
  ),
})

const VaultName = Closed({ code: VaultCode, name: Name })
const ofVault = { vault: described(VaultName, 'The vault to which it belongs.'), id: Id }

export const Offboarding = Closed(
  {
    user: Ref(PlatformUser),
    onlyAdministratorOf: Type.Array(VaultName, {
      description: 'The vaults in which no other administrator can sign in.',
    }),
    serviceTokens: Type.Array(
      Closed({ ...ofVault, userId: described(Id, 'The service that acts with it.'), name: Name, createdAt: Timestamp }),
      { description: 'Service tokens that the user created and that still work, the newest first; at most a hundred.' },
    ),
    invitations: Type.Array(Closed({ ...ofVault, email: Email, createdAt: Timestamp }), {
      description:
        'Pending invitations that the user created, whose links still work, the newest first; at most a hundred.',
    }),
    withoutQuorum: Type.Integer({
      minimum: 0,
      description:
        'Number of transfers, payouts and approval requests that wait for votes of this user and can no longer get enough votes.',
      examples: [1],
    }),
  },
  {
    $id: 'Offboarding',
    description:
      'Service tokens, invitations and duties of a disabled user, which administrators of the vaults must take over or revoke.',
  },
)
export type Offboarding = Static<typeof Offboarding>

export const userComponents = [Profile, MemberProfile, OwnProfile, Preferences, PlatformUser, Offboarding]
