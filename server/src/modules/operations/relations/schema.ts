import { Type } from 'typebox'
import { Closed, Enum, Id, Nullable, pageQuery, RawAmount, Timestamp } from '../../../http/schema.ts'
import { noteLengthMax } from '../../../lib/limits.ts'
import { operationTypes } from '../../../lib/operations.ts'

const relationTypes = ['refund', 'reversal', 'correction', 'replacement'] as const

export type RelationType = (typeof relationTypes)[number]

const relationRoles = ['source', 'target'] as const

const relation = {
  id: Id,
  vaultId: Id,
  sourceOperationType: Enum(operationTypes),
  sourceOperationId: Id,
  targetOperationType: Enum(operationTypes),
  targetOperationId: Id,
  relationType: Enum(relationTypes),
  relatedAmountRaw: Nullable(RawAmount),
  tokenId: Nullable(Id),
  comment: Nullable(Type.String({ examples: ['The invoice was paid twice'] })),
  createdById: Id,
  createdAt: Timestamp,
}

export const OperationRelation = Closed(relation, { $id: 'OperationRelation' })

export const RelationOfOperation = Closed(
  { ...relation, role: Enum(relationRoles) },
  { $id: 'RelationOfOperation', description: 'A relation, with the role of the operation in it.' },
)

export const operationRelationComponents = [OperationRelation, RelationOfOperation]

const Key = Type.String({ minLength: 1, maxLength: 128, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })

export const RelationBody = Closed({
  sourceOperationType: Enum(operationTypes),
  sourceOperationId: Key,
  targetOperationType: Enum(operationTypes),
  targetOperationId: Key,
  relationType: Enum(relationTypes),
  relatedAmountRaw: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,77}$',
      description:
        'In the smallest unit of the token that both operations are of. A refund or reversal without it is about the ' +
        'whole amount of its source.',
      examples: ['1500000'],
    }),
  ),
  tokenId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The token of both operations; determined from them by default.',
      examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
    }),
  ),
  comment: Type.Optional(Nullable(Type.String({ maxLength: noteLengthMax, examples: ['The invoice was paid twice'] }))),
})

const Bound = Type.Optional(
  Type.String({ maxLength: 40, description: 'Inclusive; ISO 8601 timestamp or date (UTC).', examples: ['2026-01-31'] }),
)

export const RelationQuery = Closed({
  relationType: Type.Optional(Enum(relationTypes)),
  sourceOperationId: Type.Optional(Key),
  targetOperationId: Type.Optional(Key),
  tokenId: Type.Optional(Key),
  from: Bound,
  to: Bound,
  ...pageQuery,
})
