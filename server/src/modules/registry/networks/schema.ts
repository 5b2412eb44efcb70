import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Id, Name, Nullable, Timestamp, Uri } from '../../../http/schema.ts'
import { pathIndexMax, uriLengthMax } from '../../../lib/limits.ts'
import { networkTypes } from '../../../lib/onchain-address.ts'

export const Slug = Type.String({ minLength: 1, maxLength: 63, examples: ['ethereum'] })
export const CoinType = Type.Integer({
  minimum: 0,
  maximum: pathIndexMax,
  description: 'SLIP-0044 coin type; 60 for Ethereum.',
  examples: [60],
})

const ExplorerTxUrl = Type.String({ maxLength: uriLengthMax, examples: ['https://etherscan.io/tx/{hash}'] })
const ExplorerAddressUrl = Type.String({
  maxLength: uriLengthMax,
  examples: ['https://etherscan.io/address/{address}'],
})

export const Network = Closed(
  {
    id: Id,
    coinType: CoinType,
    code: Type.String({ examples: ['ethereum'] }),
    slug: described(Slug, 'Name of the network in requests and derivation paths; the same for all vaults.'),
    name: Name,
    description: Nullable(Type.String({ examples: ['Ethereum mainnet'] })),
    logoUri: Nullable(Uri),
    explorerTxUrl: described(
      Nullable(ExplorerTxUrl),
      'Link to a transaction in a block explorer; `{hash}` is its hash.',
    ),
    explorerAddressUrl: described(
      Nullable(ExplorerAddressUrl),
      'Link to an address in a block explorer; `{address}` is the address.',
    ),
    type: described(Enum(networkTypes), 'Technology of the network, which determines the form of its addresses.'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'Network', description: 'A network of the global registry, which is keyed by coin type.' },
)

export const NetworkUpdate = Closed({
  logoUri: Type.Optional(Nullable(Uri)),
  explorerTxUrl: Type.Optional(
    described(
      Nullable(ExplorerTxUrl),
      'HTTPS URL that contains `{hash}` once, after the host; null for no links. In demo mode also an http URL of this machine.',
    ),
  ),
  explorerAddressUrl: Type.Optional(
    described(
      Nullable(ExplorerAddressUrl),
      'HTTPS URL that contains `{address}` once, after the host; null for no links.',
    ),
  ),
})
export type NetworkUpdate = Static<typeof NetworkUpdate>

export const networkComponents = [Network]
