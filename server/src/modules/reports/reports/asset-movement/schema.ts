import { Type } from 'typebox'
import { Closed, described, Ref } from '../../../../http/schema.ts'
import { activityBlocks } from '../activity/schema.ts'
import { Amount, asset } from '../schema.ts'

export const AssetBalance = Closed(
  {
    ...asset,
    openingBalance: Amount,
    incoming: Amount,
    outgoing: Amount,
    fees: Amount,
    adjustments: Amount,
    closingBalance: Amount,
  },
  { $id: 'AssetBalance' },
)

export const AssetMovementReport = Closed(
  {
    ...activityBlocks,
    balances: described(
      Type.Array(Ref(AssetBalance)),
      'Opening and closing balance and what lies between them, per token.',
    ),
  },
  { $id: 'AssetMovementReport' },
)
