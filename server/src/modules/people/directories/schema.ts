import { type Static, Type } from 'typebox'
import { Closed, described, Email, Enum, Id, Name, Nullable, pageQuery, Timestamp } from '../../../http/schema.ts'
import {
  directoryOverlapHours,
  directoryOverlapHoursMax,
  directoryTokenDays,
  directoryTokenDaysMax,
  domainLengthMax,
  domainsPerDirectoryMax,
  scimTextLengthMax,
} from '../../../lib/limits.ts'

const directoryStatuses = ['draft', 'active', 'off'] as const
export type DirectoryStatus = (typeof directoryStatuses)[number]

const Domains = Type.Array(
  Type.String({
    maxLength: domainLengthMax,
    pattern: '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$',
    examples: ['example.org'],
  }),
  {
    minItems: 1,
    maxItems: domainsPerDirectoryMax,
    uniqueItems: true,
    description:
      'The domains of e-mail addresses whose people the directory names, in lower case. A domain belongs to one active directory.',
  },
)
const TokenDays = Type.Integer({
  minimum: 1,
  maximum: directoryTokenDaysMax,
  description: `Life of the token in days; ${directoryTokenDays} by default.`,
  examples: [directoryTokenDays],
})

export const Directory = Closed(
  {
    id: Id,
    name: Name,
    domains: Domains,
    status: described(
      Enum(directoryStatuses),
      '`draft` and `off`: its token is refused. `active`: its requests count.',
    ),
    baseUri: Type.String({
      description: 'The address to set in the directory of the company (SCIM 2.0).',
      examples: ['https://vault.example.org/scim/v2'],
    }),
    tokenExpiresAt: described(Timestamp, 'Instant from which the token is refused, in UTC.'),
    previousTokenExpiresAt: described(
      Nullable(Timestamp),
      'Instant from which the token before the last rotation is refused, in UTC; null if there was no rotation.',
    ),
    lastSeenAt: described(Nullable(Timestamp), 'Time of its last request, to within a minute; null before the first.'),
    peopleCount: Type.Integer({ minimum: 0, description: 'Number of people in the directory.', examples: [240] }),
    activeCount: Type.Integer({
      minimum: 0,
      description: 'Number of these people who are active in the directory.',
      examples: [231],
    }),
    heldCount: Type.Integer({
      minimum: 0,
      description:
        'Number of stops that wait for a platform administrator, because the directory stopped many people ' +
        'within an hour.',
      examples: [0],
    }),
    createdById: Id,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    token: Type.Optional(
      Type.String({
        description: 'Shown once, in the answer that makes it; the answer to a repetition leaves it out.',
        examples: ['srd_q0Vn2mXkq1u7b9S3cT8yLw4Zr6HfJdPaE5gKoNiRtYs'],
      }),
    ),
  },
  {
    $id: 'Directory',
    description:
      'A service of a company that says who works there (SCIM 2.0). It stops people and gives nobody a right.',
  },
)
export type Directory = Static<typeof Directory>

export const CreateDirectory = Closed({ name: Name, domains: Domains, tokenDays: Type.Optional(TokenDays) })
export type CreateDirectory = Static<typeof CreateDirectory>

export const UpdateDirectory = Closed({ name: Type.Optional(Name), domains: Type.Optional(Domains) })
export type UpdateDirectory = Static<typeof UpdateDirectory>

export const RotateDirectoryToken = Closed({
  tokenDays: Type.Optional(TokenDays),
  overlapHours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: directoryOverlapHoursMax,
      description: `Time in hours for which the present token still works; ${directoryOverlapHours} by default.`,
      examples: [directoryOverlapHours],
    }),
  ),
})
export type RotateDirectoryToken = Static<typeof RotateDirectoryToken>

export const DirectoryPerson = Closed(
  {
    userId: described(Id, 'Identifier of the account.'),
    name: described(Nullable(Name), 'Name of the account; null while it has none.'),
    email: described(Email, 'Address with which the person signs in. The directory does not change it.'),
    userName: Type.String({
      maxLength: scimTextLengthMax,
      description: 'Name of the person in the directory.',
      examples: ['treasurer@example.org'],
    }),
    externalId: described(
      Nullable(Type.String({ maxLength: scimTextLengthMax, examples: ['00u1a2b3'] })),
      'Identifier of the person in the directory; null if it names none.',
    ),
    active: Type.Boolean({ description: 'True if the person is active in the directory.', examples: [true] }),
    disabledAt: described(Nullable(Timestamp), 'Time at which the account was disabled; null for an active one.'),
    heldSince: described(
      Nullable(Timestamp),
      'Time since which the stop of the person waits for a platform administrator; null if none waits.',
    ),
  },
  { $id: 'DirectoryPerson', description: 'A person as a directory names them.' },
)
export type DirectoryPerson = Static<typeof DirectoryPerson>

export const DirectoryPeopleQuery = Closed({
  held: Type.Optional(Type.Boolean({ description: 'True to list only people whose stop waits.', examples: [true] })),
  ...pageQuery,
})

const stopDecisions = ['stop', 'keep'] as const
export const DecideStops = Closed({
  decision: described(Enum(stopDecisions), '`stop` disables these people; `keep` leaves them as they are.'),
  userIds: Type.Array(Id, {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'People whose stops wait.',
  }),
})
export type DecideStops = Static<typeof DecideStops>

export const directoryComponents = [Directory, DirectoryPerson]
