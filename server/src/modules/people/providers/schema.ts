import { type Static, Type } from 'typebox'
import {
  Closed,
  described,
  Email,
  Enum,
  Id,
  Name,
  Nullable,
  ProfileBeside,
  Ref,
  Timestamp,
} from '../../../http/schema.ts'
import {
  clientIdLengthMax,
  clientSecretLengthMax,
  domainLengthMax,
  domainsPerProviderMax,
  issuerLengthMax,
  providerSessionHours,
  providerSessionHoursMax,
} from '../../../lib/limits.ts'

const linkings = ['mail', 'email_verified'] as const
export type Linking = (typeof linkings)[number]
const providerStatuses = ['draft', 'active', 'off'] as const
export type ProviderStatus = (typeof providerStatuses)[number]

const Domain = Type.String({
  maxLength: domainLengthMax,
  pattern: '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$',
  examples: ['example.org'],
})

const settings = {
  name: Name,
  issuer: Type.String({
    maxLength: issuerLengthMax,
    pattern: '^https?://[\\x21\\x24-\\x3e\\x40-\\x7e]+$',
    description:
      'The issuer exactly as the provider writes it in its tokens. Its metadata are read below ' +
      '`/.well-known/openid-configuration`.',
    examples: ['https://id.example.org'],
  }),
  clientId: Type.String({
    minLength: 1,
    maxLength: clientIdLengthMax,
    pattern: '^[\\x20-\\x7e]+$',
    description: 'The name of this service at the provider.',
    examples: ['strongroom'],
  }),
  domains: Type.Array(Domain, {
    minItems: 1,
    maxItems: domainsPerProviderMax,
    uniqueItems: true,
    description:
      'The domains of e-mail addresses for which the provider answers, in lower case. A domain belongs to one active provider.',
  }),
  linking: described(
    Enum(linkings),
    'Requirement of the first sign-in of a person: `mail`, a link to their address, or `email_verified`, a statement of ' +
      'the provider.',
  ),
  sessionHours: Type.Integer({
    minimum: 1,
    maximum: providerSessionHoursMax,
    description: 'Longest life in hours of a session that the provider opened.',
    examples: [providerSessionHours],
  }),
}

export const IdentityProvider = Closed(
  {
    id: Id,
    ...settings,
    status: described(
      Enum(providerStatuses),
      '`draft` and `off`: nobody signs in through it. `active`: people of its domains do.',
    ),
    enforce: Type.Boolean({
      description: 'True if people of its domains sign in through it alone, except break-glass people.',
      examples: [false],
    }),
    hasClientSecret: Type.Boolean({ description: 'True if a client secret is kept.', examples: [true] }),
    redirectUri: Type.String({
      description: 'The redirect URI to register at the provider.',
      examples: ['https://vault.example.org/auth/oidc/cmi8h2k1p0a1b2c3d4e5f6g7h/callback'],
    }),
    logoutUri: Type.String({
      description: 'The URI for back-channel logout to register at the provider.',
      examples: ['https://vault.example.org/auth/oidc/cmi8h2k1p0a1b2c3d4e5f6g7h/backchannel-logout'],
    }),
    triedAt: described(
      Nullable(Timestamp),
      'Instant at which its author signed in through it, in UTC; null after a change of its settings.',
    ),
    triedEmail: described(Nullable(Email), 'The address that the provider named in that sign-in.'),
    createdById: Id,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'IdentityProvider', description: 'A service of a company that says who its people are (OpenID Connect).' },
)
export type IdentityProvider = Static<typeof IdentityProvider>

const ClientSecret = Type.String({
  minLength: 1,
  maxLength: clientSecretLengthMax,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'Secret of this service at the provider; write-only; null for a client without a secret.',
  examples: ['b3f0c7e1a94d4d0f8b6d2e6c51f7a902'],
})

export const CreateIdentityProvider = Closed({
  name: settings.name,
  issuer: settings.issuer,
  clientId: settings.clientId,
  clientSecret: Type.Optional(Nullable(ClientSecret)),
  domains: settings.domains,
  linking: Type.Optional(settings.linking),
  sessionHours: Type.Optional(settings.sessionHours),
})
export type CreateIdentityProvider = Static<typeof CreateIdentityProvider>

export const UpdateIdentityProvider = Closed({
  name: Type.Optional(settings.name),
  issuer: Type.Optional(settings.issuer),
  clientId: Type.Optional(settings.clientId),
  clientSecret: Type.Optional(Nullable(ClientSecret)),
  domains: Type.Optional(settings.domains),
  linking: Type.Optional(settings.linking),
  sessionHours: Type.Optional(settings.sessionHours),
})
export type UpdateIdentityProvider = Static<typeof UpdateIdentityProvider>

export const ProvidersOfAddress = Closed({
  providers: described(
    Type.Array(
      Closed({
        name: Name,
        startUri: Type.String({
          description: 'The path that begins the sign-in in a browser.',
          examples: ['/auth/oidc/cmi8h2k1p0a1b2c3d4e5f6g7h/start'],
        }),
        enforce: Type.Boolean({
          description: 'True if people of the domain sign in through it alone, so that no link is mailed to them.',
          examples: [false],
        }),
      }),
    ),
    'The provider of the domain of the address; empty for a domain without a provider. It says nothing about the person.',
  ),
})
export const ProvidersQuery = Closed({ email: described(Email, 'An e-mail address; only its domain counts.') })

export const EnforceIdentityProvider = Closed({
  enforce: Type.Boolean({
    description: 'True to make this provider the only way to sign in for people of its domains, false to end that.',
    examples: [true],
  }),
})

export const BreakGlassPerson = Closed(
  {
    userId: described(Id, 'Identifier of the person.'),
    user: ProfileBeside,
    hasPasskey: Type.Boolean({
      description: 'True if the person has a passkey, which is required for such a sign-in.',
      examples: [true],
    }),
    namedAt: described(Timestamp, 'Instant at which they were named, in UTC.'),
  },
  {
    $id: 'BreakGlassPerson',
    description:
      'A person who may sign in without their enforced provider, by passkey and mailed link together, for an hour.',
  },
)
export type BreakGlassPerson = Static<typeof BreakGlassPerson>

export const AddBreakGlassPerson = Closed({ userId: described(Id, 'Identifier of a person with a passkey.') })

export const IdentityId = described(
  Type.String({ minLength: 1, maxLength: 64, examples: ['0f3c5b7d9e1a2b4c6d8e0f1a3b5c7d9e'] }),
  'Identifier of the account.',
)

export const Identity = Closed(
  {
    id: described(
      Type.String({ pattern: '^[0-9a-f]{32}$', examples: ['0f3c5b7d9e1a2b4c6d8e0f1a3b5c7d9e'] }),
      'Identifier of the link.',
    ),
    issuer: Type.String({ description: 'Issuer of the account.', examples: ['https://id.example.org'] }),
    subject: Type.String({ description: 'Name of the account at the issuer (`sub`).', examples: ['00u1a2b3c4'] }),
    providerName: described(Nullable(Name), 'Name of the active identity provider with this issuer; null without one.'),
    linkedVia: described(
      Enum(linkings),
      'Proof on which it was linked: a mailed link, or a statement of the provider.',
    ),
    linkedAt: described(Timestamp, 'Instant at which it was linked, in UTC.'),
    lastUsedAt: described(Timestamp, 'Instant of its last sign-in, in UTC.'),
  },
  { $id: 'Identity', description: 'An account of a person at an identity provider, which signs them in.' },
)
export type Identity = Static<typeof Identity>

export const Identities = Closed({
  items: described(Type.Array(Ref(Identity)), 'Accounts, at most one for each issuer.'),
})

export const providerComponents = [IdentityProvider, BreakGlassPerson, Identity]
