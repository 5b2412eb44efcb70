import { Type } from 'typebox'
import {
  Closed,
  DecimalAmount,
  described,
  Enum,
  FolderFilter,
  Id,
  IncludeShared,
  Nullable,
  RawAmount,
  Timestamp,
} from '../../../http/schema.ts'
import { timelinePointsMax } from '../../../lib/limits.ts'
import { timelineSteps } from './points.ts'

const Text = (example: string) => Type.String({ examples: [example] })
const at = described(Timestamp, 'End of the bucket: the figures hold what was posted before it.')
const usdValue = Nullable(Text('1.50'))

export const BalanceTimeline = Closed(
  {
    from: described(Timestamp, 'Start of the first bucket.'),
    to: described(Timestamp, 'End of the last bucket; never in the future.'),
    timezone: described(Text('Europe/Berlin'), 'IANA time zone whose midnights bound the buckets.'),
    tokens: described(
      Type.Array(
        Closed({
          token: described(
            Closed({ id: Id, code: Text('USDT'), symbol: Text('₮'), decimals: Type.Integer({ examples: [6] }) }),
            'The token of the series.',
          ),
          points: described(
            Type.Array(
              Closed({
                at,
                total: described(RawAmount, 'Available and reserved, in the smallest unit of the token.'),
                totalDecimal: DecimalAmount,
                usdValue: described(
                  usdValue,
                  'At the newest rate that was at most 15 minutes old then; null without one.',
                ),
              }),
            ),
            'One point for each bucket.',
          ),
        }),
      ),
      'Every token of which an address in scope has a ledger account.',
    ),
    usd: described(
      Type.Array(Closed({ at, usdValue: described(usdValue, 'null where a token with a balance has no rate.') })),
      'All tokens together, one point for each bucket.',
    ),
  },
  { $id: 'BalanceTimeline', description: 'Balances at the end of each hour, day, week or month.' },
)

const Key = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 128, description, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] }))
const Bound = (description: string, example: string) =>
  Type.Optional(Type.String({ maxLength: 40, description, examples: [example] }))

export const BalanceTimelineQuery = Closed({
  from: Bound(
    'Start, included: an ISO 8601 timestamp, or a day of `timezone`. 30 days before `to` by default.',
    '2026-01-01',
  ),
  to: Bound('End, excluded; now by default, and never later than now.', '2026-01-15'),
  groupBy: Type.Optional(
    described(Enum(timelineSteps), `Length of a bucket, \`day\` by default; at most ${timelinePointsMax} buckets.`),
  ),
  timezone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'IANA time zone whose midnights bound days, weeks and months. Default `UTC`.',
      examples: ['Europe/Berlin'],
    }),
  ),
  addressId: Key('One address of the vault.'),
  tokenId: Key('One token.'),
  folderId: FolderFilter,
  includeShared: IncludeShared,
})

export const balanceTimelineComponents = [BalanceTimeline]
