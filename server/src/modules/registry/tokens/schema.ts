import { Type } from 'typebox'
import { Closed, described, Id, Name, Nullable, pageQuery, Timestamp, Uri } from '../../../http/schema.ts'
import { addressLengthMax, tokenDecimalsMax } from '../../../lib/limits.ts'
import { decimalPattern } from '../../../lib/money.ts'
import { Slug } from '../networks/schema.ts'

export const TokenCode = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$', examples: ['USDT'] })
const ContractAddress = Nullable(
  Type.String({
    minLength: 1,
    maxLength: addressLengthMax,
    description: 'null for the coin of the network. On EVM networks in EIP-55 form.',
    examples: ['0xdAC17F958D2ee523a2206206994597C13D831ec7'],
  }),
)
const Decimals = Type.Integer({ minimum: 0, maximum: tokenDecimalsMax, examples: [6] })
const TokenSymbol = Type.String({ minLength: 1, maxLength: 32, pattern: '\\S', examples: ['USDT'] })
const Enabled = Type.Boolean({
  description: 'false disables the token: its deposits are ignored and its transfers refused.',
  examples: [true],
})

const DustLimit = Nullable(
  Type.String({
    pattern: decimalPattern,
    description: 'In token units, above 0: smaller deposits are marked as dust. With null no deposit is dust.',
    examples: ['0.01'],
  }),
)

export const Token = Closed(
  {
    id: Id,
    code: TokenCode,
    symbol: TokenSymbol,
    name: Name,
    networkId: Id,
    network: Slug,
    contractAddress: ContractAddress,
    decimals: Decimals,
    logoUri: Nullable(Uri),
    enabled: Enabled,
    dustLimit: DustLimit,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'Token', description: 'A token of the global registry.' },
)

export const TokenQuery = Closed({
  network: Type.Optional(described(Slug, 'Restricts the list to tokens of this network, by its slug.')),
  enabled: Type.Optional(
    described(Type.Boolean({ examples: [true] }), 'Restricts the list to enabled or to disabled tokens.'),
  ),
  search: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Part of code, symbol or name.', examples: ['usd'] }),
  ),
  ...pageQuery,
})

export const TokenCreation = Closed(
  {
    networkId: Type.Optional(Id),
    network: Type.Optional(Slug),
    code: TokenCode,
    symbol: TokenSymbol,
    name: Name,
    contractAddress: ContractAddress,
    decimals: Decimals,
    logoUri: Type.Optional(Nullable(Uri)),
    enabled: Type.Optional(Enabled),
    dustLimit: Type.Optional(DustLimit),
  },
  {
    examples: [
      {
        network: 'ethereum',
        code: 'USDT',
        symbol: 'USDT',
        name: 'Tether USD',
        contractAddress: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
        decimals: 6,
      },
    ],
  },
)

export const TokenUpdate = Closed({
  symbol: Type.Optional(TokenSymbol),
  name: Type.Optional(Name),
  logoUri: Type.Optional(Nullable(Uri)),
  enabled: Type.Optional(Enabled),
  dustLimit: Type.Optional(DustLimit),
})

export const tokenComponents = [Token]
