import { Type } from 'typebox'
import { addressAccesses } from '../../../access/address-scope.ts'
import {
  Closed,
  Color,
  Description,
  described,
  Emoji,
  Enum,
  FolderFilter,
  Id,
  Nullable,
  pageQuery,
  RawAmount,
  Ref,
  Tags,
  Timestamp,
  Uri,
} from '../../../http/schema.ts'
import { labelLengthMax, membershipUserIdLengthMax, pathIndexMax } from '../../../lib/limits.ts'
import { Slug } from '../../registry/networks/schema.ts'
import { TokenCode } from '../../registry/tokens/schema.ts'

const Label = Type.String({ maxLength: labelLengthMax, examples: ['Payroll, EU'] })
const OutDecimal = Type.String({
  pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$',
  description: 'In token units, without trailing zeros.',
  examples: ['1.5'],
})

const AddressBalance = Closed(
  {
    tokenId: Id,
    asset: Type.String({ description: 'Token code.', examples: ['USDT'] }),
    symbol: Type.String({ examples: ['USDT'] }),
    decimals: Type.Integer({ examples: [6] }),
    available: RawAmount,
    availableDecimal: OutDecimal,
    reserved: RawAmount,
    reservedDecimal: OutDecimal,
    exposure: described(
      RawAmount,
      'Exposure: the spent part of deposits that the chain took back, as far as it is not covered. The address sends nothing meanwhile.',
    ),
    exposureDecimal: OutDecimal,
  },
  { $id: 'AddressBalance' },
)

const AddressOwner = Closed(
  {
    id: Id,
    name: Nullable(Type.String({ examples: ['Treasurer'] })),
    username: Nullable(Type.String({ examples: ['treasurer'] })),
    image: Nullable(Type.String({ examples: ['https://example.org/face.png'] })),
    color: Nullable(Type.String({ examples: ['#1d4ed8'] })),
    emoji: Nullable(Type.String({ examples: ['🏦'] })),
  },
  { $id: 'AddressOwner', description: 'The user or service that owns the address.' },
)

export const Address = Closed(
  {
    id: Id,
    address: Type.String({ examples: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'] }),
    derivationPath: Type.String({ examples: ['m/44/60/1/7'] }),
    network: Slug,
    pathIndex: described(
      Type.Integer({ minimum: 0, maximum: pathIndexMax, examples: [7] }),
      'Value of the dynamic segment, which counts the addresses with the same other segments.',
    ),
    segmentsJson: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description: 'Path value of each segment by its code, without network and index.',
      examples: [{ purpose: 1 }],
    }),
    label: Nullable(Label),
    description: Nullable(Description),
    tagsJson: described(Tags, 'Free words for grouping.'),
    logoUri: Nullable(Uri),
    color: Nullable(Color),
    emoji: Nullable(Emoji),
    balance: Type.String({
      pattern: '^[0-9]+$',
      description: 'Sum of the available and the reserved balance of the primary token, in its smallest unit.',
      examples: ['1500000'],
    }),
    balances: described(Type.Array(Ref(AddressBalance)), 'Balances of the address, per token.'),
    tokenId: described(Nullable(Id), 'Identifier of the primary token; null for none.'),
    asset: Nullable(Type.String({ description: 'Code of the primary token.', examples: ['USDT'] })),
    assetName: described(
      Nullable(Type.String({ examples: ['Tether USD'] })),
      'Name of the primary token; null for none.',
    ),
    assetSymbol: described(
      Nullable(Type.String({ examples: ['USDT'] })),
      'Symbol of the primary token; null for none.',
    ),
    balanceDecimal: described(OutDecimal, '`balance` in token units.'),
    createdAt: Timestamp,
    owner: Ref(AddressOwner),
    access: described(
      Closed({
        isOwner: described(Type.Boolean({ examples: [true] }), 'True if the caller owns the address.'),
        isAdmin: described(Type.Boolean({ examples: [false] }), 'True if the caller administers the vault.'),
        canView: described(Type.Boolean({ examples: [true] }), 'True if the caller sees the address; always true.'),
        canTransfer: described(
          Type.Boolean({ examples: [true] }),
          'True if the caller may order transfers from the address; policies decide on each transfer.',
        ),
      }),
      'Rights of the caller on the address.',
    ),
  },
  { $id: 'Address', description: 'An address of a vault, with its balances and what the caller may do with it.' },
)

const appearance = {
  label: Type.Optional(Nullable(Label)),
  description: Type.Optional(Nullable(Description)),
  tags: Type.Optional(Tags),
  logoUri: Type.Optional(Nullable(Uri)),
  color: Type.Optional(Nullable(Color)),
  emoji: Type.Optional(Nullable(Emoji)),
}

export const AddressCreation = Closed({
  network: Slug,
  segments: Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 63 }), {
    description: 'Code of the chosen variant of each static route, by the code of the route.',
    examples: [{ purpose: 'operations' }],
  }),
  token: Type.Optional(described(TokenCode, 'Code of the primary token; by default the token of the variants.')),
  ...appearance,
})

export const AddressUpdate = Closed(appearance)

export const AddressQuery = Closed({
  token: Type.Optional(described(TokenCode, 'Restricts the list to addresses with this primary token, by its code.')),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Part of the on-chain address or the label.',
      examples: ['payroll'],
    }),
  ),
  folderId: FolderFilter,
  access: Type.Optional(
    Type.Unsafe<(typeof addressAccesses)[number]>({
      ...Enum(addressAccesses),
      description:
        '`own` (default), `shared` (shared with the caller), or `all` (default with `folderId`). Ignored for administrators.',
    }),
  ),
  userId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: membershipUserIdLengthMax,
      description:
        'Restricts the list to addresses of this owner. Only administrators and auditors may name another owner.',
      examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
    }),
  ),
  ...pageQuery,
})

export const addressComponents = [AddressBalance, AddressOwner, Address]
