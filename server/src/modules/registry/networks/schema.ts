import { Type } from 'typebox'
import { Closed, described, Enum, Id, Name, Nullable, pageQuery, Timestamp, Uri } from '../../../http/schema.ts'
import { pathIndexMax } from '../../../lib/limits.ts'
import { networkTypes } from '../../../lib/onchain-address.ts'

export const Slug = Type.String({ minLength: 1, maxLength: 63, examples: ['ethereum'] })
export const CoinType = Type.Integer({
  minimum: 0,
  maximum: pathIndexMax,
  description: 'SLIP-0044 coin type; 60 for Ethereum.',
  examples: [60],
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
    type: described(Enum(networkTypes), 'How the network works, which decides the form of its addresses.'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'Network', description: 'A network of the global registry, which is keyed by coin type.' },
)

export const NetworkQuery = Closed({ ...pageQuery })

export const networkComponents = [Network]
