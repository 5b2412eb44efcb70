import { Type } from 'typebox'
import { Closed, Id, Timestamp } from '../../http/schema.ts'

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

export const rateComponents = [TokenRate]
