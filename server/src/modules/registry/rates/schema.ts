import { type Static, Type } from 'typebox'
import { Closed, Enum, Id, Nullable, pageQuery, Timestamp } from '../../../http/schema.ts'
import { Slug } from '../networks/schema.ts'
import { TokenCode } from '../tokens/schema.ts'

const UsdRate = Type.String({
  pattern: '^(0|[1-9][0-9]{0,19})(\\.[0-9]{1,18})?$',
  description: 'USD per one unit of the token; at most 18 fraction digits.',
  examples: ['1.0002'],
})
const Source = Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,62}$', examples: ['manual'] })

export const RateBody = Closed({ usdRate: UsdRate, asOf: Timestamp, source: Source })

export const TokenRate = Closed(
  { tokenId: Id, usdRate: UsdRate, asOf: Timestamp, source: Source, createdAt: Timestamp },
  { $id: 'TokenRate' },
)

const HeldRateStatus = Enum(['held', 'confirmed', 'rejected', 'superseded'])
export type HeldRateStatus = Static<typeof HeldRateStatus>

export const HeldRate = Closed(
  {
    id: Id,
    tokenId: Id,
    token: TokenCode,
    network: Slug,
    usdRate: UsdRate,
    comparedUsdRate: Nullable(
      Type.String({
        description: 'The earlier rate from which it differs too much; null: the token had none.',
        examples: ['0.4'],
      }),
    ),
    asOf: Timestamp,
    source: Source,
    status: HeldRateStatus,
    createdById: Nullable(Id),
    createdAt: Timestamp,
    decidedById: Nullable(Id),
    decidedAt: Nullable(Timestamp),
  },
  {
    $id: 'HeldRate',
    description:
      'A rate that is held back. `createdById` is null for a rate of the provider. `superseded`: the provider reported ' +
      'another rate before the decision.',
  },
)

export const HeldRateQuery = Closed({
  tokenId: Type.Optional(Id),
  status: Type.Optional(HeldRateStatus),
  ...pageQuery,
})

export const rateComponents = [TokenRate, HeldRate]
