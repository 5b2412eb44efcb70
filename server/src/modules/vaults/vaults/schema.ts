import { type Static, Type } from 'typebox'
import { Closed, Description, Id, Name, Nullable, pageQuery, Ref, Timestamp, VaultCode } from '../../../http/schema.ts'
import {
  pathIndexMax,
  uriLengthMax,
  variantsPerRouteMax,
  walletSecretLengthMax,
  walletSecretLengthMin,
  webhookSecretBytesMin,
  webhookSecretsLengthMax,
} from '../../../lib/limits.ts'
import { Network } from '../../registry/networks/schema.ts'
import { TokenCode } from '../../registry/tokens/schema.ts'

const PathId = Type.Integer({
  minimum: 0,
  maximum: pathIndexMax,
  description: 'Value of the segment in a derivation path.',
  examples: [1],
})
const VariantCode = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$', examples: ['payroll'] })
const RouteCode = Type.String({ examples: ['purpose'] })
const WalletServiceUrl = Type.String({
  minLength: 1,
  maxLength: uriLengthMax,
  description: 'Base URL of the service that holds the keys: http or https, without credentials, query or fragment.',
  examples: ['https://wallet.example.org'],
})
const WalletServiceSecret = Type.String({
  minLength: walletSecretLengthMin,
  maxLength: walletSecretLengthMax,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'Bearer secret of the wallet service; written, never read. It is sent to the origin (scheme, host and port) of ' +
    '`walletServiceUrl` that it was given for and to no other.',
  examples: ['w_5f0c9b2e7d4a4c1f'],
})

const WalletWebhookSecret = Type.String({
  minLength: webhookSecretBytesMin,
  maxLength: webhookSecretsLengthMax,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'Secret by which the wallet service signs its webhooks, several separated by commas during a rotation; written, ' +
    'never read. With one, only events that it signed credit this vault; null: those signed by the secret of the ' +
    'installation.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
})

export const Variant = Closed(
  {
    id: Id,
    routeId: Id,
    pathId: PathId,
    code: VariantCode,
    name: Name,
    description: Nullable(Description),
    enabled: Type.Boolean({ examples: [true] }),
    tokenId: Nullable(Id),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'Variant' },
)

export const Route = Closed(
  {
    id: Id,
    vaultId: Id,
    order: Type.Integer({ minimum: 0, examples: [0] }),
    code: RouteCode,
    name: Name,
    description: Nullable(Description),
    dynamic: Type.Boolean({
      description: 'true if the value of the segment is the index of the address.',
      examples: [false],
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    variants: Type.Array(Ref(Variant)),
  },
  { $id: 'Route' },
)

export const Vault = Closed(
  {
    id: Id,
    code: VaultCode,
    name: Name,
    description: Nullable(Description),
    lockedAt: Nullable(Timestamp),
    walletServiceUrl: WalletServiceUrl,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    networks: Type.Array(Ref(Network)),
    routes: Type.Array(Ref(Route)),
  },
  { $id: 'Vault' },
)

export const VariantInput = Closed({
  id: Type.Integer({
    minimum: 0,
    maximum: pathIndexMax,
    description: 'Path value of the variant; in the route `network` the SLIP-0044 coin type.',
    examples: [1],
  }),
  code: VariantCode,
  name: Name,
  description: Type.Optional(Nullable(Description)),
  enabled: Type.Optional(Type.Boolean({ examples: [true] })),
  token: Type.Optional(Nullable(TokenCode)),
})

export type VariantInput = Static<typeof VariantInput>

const RouteInput = Closed({
  order: Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647, examples: [1] }),
  name: Name,
  dynamic: Type.Optional(Type.Boolean({ examples: [false] })),
  description: Type.Optional(Nullable(Description)),
  variants: Type.Optional(Type.Array(VariantInput, { maxItems: variantsPerRouteMax })),
})

export type RouteInput = Static<typeof RouteInput>

/** structure.ts checks the keys, because it can name the wrong one. */
const RoutesInput = Type.Record(Type.String(), RouteInput, {
  description:
    'Route code to definition. `network` is required; its variants are the networks of the vault, known by their coin ' +
    'type. One that the registry has is connected as it is and never renamed; one that it does not have is added when a ' +
    'platform administrator asks.',
  examples: [
    {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      purpose: { order: 1, name: 'Purpose', variants: [{ id: 1, code: 'operations', name: 'Operations' }] },
      index: { order: 2, name: 'Index', dynamic: true },
    },
  ],
})

export const VaultCreation = Closed({
  vault: Closed({
    code: VaultCode,
    name: Name,
    description: Type.Optional(Nullable(Description)),
    walletServiceUrl: WalletServiceUrl,
    walletServiceSecret: Type.Optional(Nullable(WalletServiceSecret)),
    walletWebhookSecret: Type.Optional(Nullable(WalletWebhookSecret)),
  }),
  routes: RoutesInput,
})

export const VaultUpdate = Closed({
  name: Type.Optional(Name),
  description: Type.Optional(Nullable(Description)),
  walletServiceUrl: Type.Optional(WalletServiceUrl),
  walletServiceSecret: Type.Optional(Nullable(WalletServiceSecret)),
  walletWebhookSecret: Type.Optional(Nullable(WalletWebhookSecret)),
})

export const RoutesReplacement = Closed({ routes: RoutesInput })

export const VariantUpdate = Closed({
  name: Type.Optional(Name),
  description: Type.Optional(Nullable(Description)),
  enabled: Type.Optional(Type.Boolean({ examples: [true] })),
  token: Type.Optional(Nullable(TokenCode)),
})

export const RouteParams = Closed({
  code: Type.String({ minLength: 1, maxLength: 63, examples: ['main-vault'] }),
  routeId: Type.String({ minLength: 1, maxLength: 128, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] }),
})

export const VaultQuery = Closed({ ...pageQuery })

export const DerivationPathInput = Closed({
  path: Type.String({ minLength: 1, maxLength: 512, examples: ['m/44/60/1/7'] }),
})

export const ParsedDerivationPath = Closed(
  {
    network: Ref(Network),
    segments: Type.Array(
      Closed({
        route: Ref(Route),
        pathId: PathId,
        variant: Nullable(Ref(Variant)),
      }),
    ),
  },
  { $id: 'ParsedDerivationPath' },
)

export const vaultsComponents = [Variant, Route, Vault, ParsedDerivationPath]
