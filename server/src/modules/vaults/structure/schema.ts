import { type Static, Type } from 'typebox'
import { protections } from '../../../access/caller.ts'
import {
  Closed,
  Description,
  described,
  Enum,
  GivenId,
  Id,
  Name,
  Nullable,
  Ref,
  Timestamp,
  Uri,
  VaultCode,
} from '../../../http/schema.ts'
import {
  pathIndexMax,
  questionsPerSecondDefault,
  questionsPerSecondMax,
  uriLengthMax,
  variantsPerRouteMax,
  walletSecretLengthMax,
  walletSecretLengthMin,
  webhookSecretBytesMin,
  webhookSecretsLengthMax,
} from '../../../lib/limits.ts'
import { addressChecks } from '../../registry/networks/queries.ts'
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
const WalletQuestionsPerSecond = Type.Integer({
  minimum: 1,
  maximum: questionsPerSecondMax,
  description:
    'Number of requests about single transfers that each node may send to the wallet service per second; ' +
    `${questionsPerSecondDefault} by default. A wallet service that reports changes gets few such requests.`,
  examples: [questionsPerSecondDefault],
})
const WalletServiceSecret = Type.String({
  minLength: walletSecretLengthMin,
  maxLength: walletSecretLengthMax,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'Bearer secret of the wallet service; write-only. It is sent to the origin (scheme, host and port) of ' +
    '`walletServiceUrl` that it was given for and to no other.',
  examples: ['w_5f0c9b2e7d4a4c1f'],
})

const WalletWebhookSecret = Type.String({
  minLength: webhookSecretBytesMin,
  maxLength: webhookSecretsLengthMax,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'Secret by which the wallet service signs its webhooks, several separated by commas during a rotation; write-only. ' +
    'With such a secret, only events that it signed credit this vault; with null, events that the secret of the ' +
    'installation signed.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
})

export const Variant = Closed(
  {
    id: Id,
    routeId: described(Id, 'Identifier of the route that the variant belongs to.'),
    pathId: PathId,
    code: VariantCode,
    name: Name,
    description: Nullable(Description),
    enabled: described(Type.Boolean({ examples: [true] }), 'True if new addresses may use the variant.'),
    tokenId: described(
      Nullable(Id),
      'Identifier of the token that new addresses of the variant have as their primary token; null for none.',
    ),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'Variant', description: 'A value that a segment of the derivation paths can have.' },
)

export const Route = Closed(
  {
    id: Id,
    vaultId: Id,
    order: described(Type.Integer({ minimum: 0, examples: [0] }), 'Position of the segment in the derivation path.'),
    code: RouteCode,
    name: Name,
    description: Nullable(Description),
    dynamic: Type.Boolean({
      description: 'true if the value of the segment is the index of the address.',
      examples: [false],
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    variants: described(Type.Array(Ref(Variant)), 'The values that the segment can have; empty for a dynamic route.'),
  },
  { $id: 'Route', description: 'A segment of the derivation paths of a vault.' },
)

const Protection = described(
  Enum(protections),
  '`votes`: nothing is ordered, approved or handed over that people did not sign (docs/signed-orders.md). `off`: sessions ' +
    'and tokens suffice.',
)

const NetworkOfVault = Closed(
  {
    ...Network.properties,
    addressCheck: described(
      Enum(addressChecks),
      '`derived`: each new address of the vault on the network must follow from a key to which the wallet service is ' +
        'bound. `none`: the wallet service shows no keys of the network, or existing addresses do not follow from them.',
    ),
  },
  { $id: 'NetworkOfVault', description: 'A network with what the vault checks on it.' },
)

export const Vault = Closed(
  {
    id: Id,
    code: VaultCode,
    name: Name,
    description: Nullable(Description),
    logoUri: Nullable(Uri),
    lockedAt: described(
      Nullable(Timestamp),
      'Instant at which the structure was locked, in UTC; null for a draft, which has no addresses yet.',
    ),
    walletServiceUrl: WalletServiceUrl,
    walletQuestionsPerSecond: WalletQuestionsPerSecond,
    protection: Protection,
    authority: described(
      Nullable(
        Closed({
          version: described(
            Type.Integer({ minimum: 0, examples: [1] }),
            'Number of its version; 0 if the wallet service no longer has an authority.',
          ),
          hash: described(
            Nullable(Type.String({ examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] })),
            'Fingerprint of the authority.',
          ),
          alarmSince: described(
            Nullable(Timestamp),
            'Time since which it has been older than an authority that was seen before, or another authority of the same ' +
              'number, so that nothing is handed over; null if it is not.',
          ),
        }),
      ),
      'The authority that the wallet service showed last; null if it never showed an authority.',
    ),
    halt: described(
      Nullable(
        Closed({
          since: described(Timestamp, 'Start of the halt.'),
          reason: described(
            Enum(['books_behind', 'wallet_behind']),
            '`books_behind`: the wallet service has accepted entries that the books do not have. `wallet_behind`: it ' +
              'no longer has entries that it accepted before.',
          ),
        }),
      ),
      'Set while the books and the wallet service differ, as after a restore: nothing is handed over and no address is made.',
    ),
    addressCheck: described(
      Enum(addressChecks),
      '`derived`: the wallet service is bound to keys; `networks` shows for which networks. `none`: it shows no keys.',
    ),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    networks: described(Type.Array(Ref(NetworkOfVault)), 'The networks on which the vault can have addresses.'),
    routes: described(Type.Array(Ref(Route)), 'The segments of the derivation paths, in their order.'),
  },
  { $id: 'Vault', description: 'A vault with its networks and the structure of its derivation paths.' },
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
  enabled: Type.Optional(
    described(Type.Boolean({ examples: [true] }), 'True (the default) if new addresses may use the variant.'),
  ),
  token: Type.Optional(
    described(
      Nullable(TokenCode),
      'Code of the token that new addresses of the variant have as their primary token; null or left out for none.',
    ),
  ),
})

export type VariantInput = Static<typeof VariantInput>

const RouteInput = Closed({
  order: described(
    Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647, examples: [1] }),
    'Position of the segment in the derivation path, relative to those of the others.',
  ),
  name: Name,
  dynamic: Type.Optional(
    described(
      Type.Boolean({ examples: [false] }),
      'True if the value of the segment is the index of the address; defaults to false.',
    ),
  ),
  description: Type.Optional(Nullable(Description)),
  variants: Type.Optional(
    described(
      Type.Array(VariantInput, { maxItems: variantsPerRouteMax }),
      'The values that the segment can have; a dynamic route has none.',
    ),
  ),
})

export type RouteInput = Static<typeof RouteInput>

/** The routes of a vault by their key. structure.ts checks the keys, because it can name the wrong key. */
const RoutesInput = Type.Record(Type.String(), RouteInput, {
  description:
    'Route code to definition. `network` is required; its variants are the networks of the vault, known by their coin ' +
    'type. A network of the registry is connected unchanged and never renamed; a network that the registry lacks is added ' +
    'when a platform administrator sends the request.',
  examples: [
    {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      purpose: { order: 1, name: 'Purpose', variants: [{ id: 1, code: 'operations', name: 'Operations' }] },
      index: { order: 2, name: 'Index', dynamic: true },
    },
  ],
})

export const VaultCreation = Closed({
  vault: described(
    Closed({
      code: VaultCode,
      name: Name,
      description: Type.Optional(Nullable(Description)),
      walletServiceUrl: WalletServiceUrl,
      walletServiceSecret: Type.Optional(Nullable(WalletServiceSecret)),
      walletWebhookSecret: Type.Optional(Nullable(WalletWebhookSecret)),
      walletQuestionsPerSecond: Type.Optional(WalletQuestionsPerSecond),
    }),
    'The vault itself and its wallet service.',
  ),
  routes: RoutesInput,
})

export const VaultUpdate = Closed({
  name: Type.Optional(Name),
  description: Type.Optional(Nullable(Description)),
  logoUri: Type.Optional(Nullable(Uri)),
  walletServiceUrl: Type.Optional(WalletServiceUrl),
  walletServiceSecret: Type.Optional(Nullable(WalletServiceSecret)),
  walletWebhookSecret: Type.Optional(Nullable(WalletWebhookSecret)),
  walletQuestionsPerSecond: Type.Optional(WalletQuestionsPerSecond),
})

export const RoutesReplacement = Closed({ routes: RoutesInput })

export const ProtectionUpdate = Closed({ protection: Protection })

export const VariantUpdate = Closed({
  name: Type.Optional(Name),
  description: Type.Optional(Nullable(Description)),
  enabled: Type.Optional(
    described(
      Type.Boolean({ examples: [true] }),
      'True if new addresses may use the variant. Existing addresses are not affected.',
    ),
  ),
  token: Type.Optional(described(Nullable(TokenCode), 'Code of the primary token of new addresses; null for none.')),
})

export const routeParams = {
  routeId: described(GivenId, 'Identifier of the route.'),
}

export const DerivationPathInput = Closed({
  path: described(
    Type.String({ minLength: 1, maxLength: 512, examples: ['m/44/60/1/7'] }),
    'Derivation path to read, beginning with `m/`.',
  ),
})

export const ParsedDerivationPath = Closed(
  {
    network: Ref(NetworkOfVault),
    segments: described(
      Type.Array(
        Closed({
          route: Ref(Route),
          pathId: PathId,
          variant: described(
            Nullable(Ref(Variant)),
            'The variant that the value stands for; null for a dynamic route.',
          ),
        }),
      ),
      'The segments of the path, in their order.',
    ),
  },
  { $id: 'ParsedDerivationPath' },
)

export const vaultsComponents = [Variant, Route, NetworkOfVault, Vault, ParsedDerivationPath]
