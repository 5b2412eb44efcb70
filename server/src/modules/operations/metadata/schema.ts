import { Type } from 'typebox'
import { Closed, Nullable, Tags } from '../../../http/schema.ts'
import { noteLengthMax } from '../../../lib/limits.ts'

const Text = (example: string) => Type.String({ examples: [example] })

export const OperationMetadata = Closed(
  {
    category: Nullable(
      Type.String({
        description: 'Key of the first of the assigned categories that the caller may see.',
        examples: ['payroll'],
      }),
    ),
    tags: Type.Array(Text('march')),
    paymentPurpose: Nullable(Text('Invoice 4711')),
    note: Nullable(Text('Agreed with the supplier')),
  },
  {
    $id: 'OperationMetadata',
    description: 'Category, tags, purpose and note of an operation, as far as the caller may see them.',
  },
)

export const MetadataUpdate = Closed(
  {
    category: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description:
            'Key of a category that needs neither values nor approval: it is assigned in place of the first one. null ' +
            'unassigns the first one.',
          examples: ['payroll'],
        }),
      ),
    ),
    tags: Type.Optional(Nullable(Tags)),
    paymentPurpose: Type.Optional(Nullable(Type.String({ maxLength: noteLengthMax, examples: ['Invoice 4711'] }))),
    note: Type.Optional(Nullable(Type.String({ maxLength: noteLengthMax, examples: ['Agreed with the supplier'] }))),
  },
  { $id: 'MetadataUpdate' },
)

export const operationMetadataComponents = [OperationMetadata, MetadataUpdate]
