import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, ProfileBeside, pageQuery, Timestamp } from '../../../http/schema.ts'
import { Slug } from '../networks/schema.ts'
import { TokenCode } from '../tokens/schema.ts'

const UsdRate = Type.String({
  pattern: '^(0|[1-9][0-9]{0,19})(\\.[0-9]{1,18})?$',
  description: 'USD per one unit of the token; at most 18 fraction digits.',
  examples: ['1.0002'],
})
const Source = Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,62}$', examples: ['manual'] })

export const RateBody = Closed({
  usdRate: described(UsdRate, 'USD per one unit of the token; at most 18 fraction digits.'),
  asOf: described(Timestamp, 'Instant for which the rate holds, in UTC.'),
  source: described(Source, 'Source of the rate.'),
})

export const TokenRate = Closed(
  {
    tokenId: Id,
    usdRate: UsdRate,
    asOf: described(Timestamp, 'Instant for which the rate holds, in UTC.'),
    source: described(Source, 'Source of the rate.'),
    createdAt: Timestamp,
  },
  { $id: 'TokenRate', description: 'A USD rate of a token.' },
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
        description: 'The earlier rate from which it differs too much; null if the token had no rate.',
        examples: ['0.4'],
      }),
    ),
    asOf: described(Timestamp, 'Instant for which the rate holds, in UTC.'),
    source: described(Source, 'Source of the rate.'),
    status: described(HeldRateStatus, '`held` until a platform administrator confirms or rejects the rate.'),
    createdById: Nullable(Id),
    createdBy: ProfileBeside,
    createdAt: Timestamp,
    decidedById: described(Nullable(Id), 'Identifier of the platform administrator who decided; null before.'),
    decidedBy: ProfileBeside,
    decidedAt: described(Nullable(Timestamp), 'Instant of the decision, in UTC; null before.'),
  },
  {
    $id: 'HeldRate',
    description:
      'A rate that is held back. `createdById` is null for a rate of the provider. `superseded`: the provider reported ' +
      'another rate before the decision.',
  },
)

const Bound = Type.Optional(
  Type.String({ maxLength: 40, description: 'Inclusive; ISO 8601 timestamp or date (UTC).', examples: ['2026-01-31'] }),
)

export const TokenRateQuery = Closed({ from: Bound, to: Bound, ...pageQuery })

export const HeldRateQuery = Closed({
  tokenId: Type.Optional(described(Id, 'Restricts the list to rates of this token.')),
  status: Type.Optional(described(HeldRateStatus, 'Restricts the list to rates of this status.')),
  ...pageQuery,
})

export const rateComponents = [TokenRate, HeldRate]
