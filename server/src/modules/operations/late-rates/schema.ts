import { Type } from 'typebox'
import { Closed, Enum, Id, Nullable, Timestamp } from '../../../http/schema.ts'
import { operationTypes } from '../../../lib/operations.ts'

export const OperationRate = Closed(
  {
    id: Id,
    operationType: Enum(operationTypes),
    usdRate: Type.String({ examples: ['1.0002'] }),
    usdRateAsOf: Nullable(Timestamp),
    usdRateSource: Nullable(
      Type.String({
        description: 'Begins with `later:` if the rate was added after the operation was created.',
        examples: ['later:provider'],
      }),
    ),
    usdValue: Type.String({ examples: ['1.50'] }),
  },
  { $id: 'OperationRate', description: 'The USD rate of an operation.' },
)

export const operationRateComponents = [OperationRate]
