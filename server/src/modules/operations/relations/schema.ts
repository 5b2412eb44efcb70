import { Type } from 'typebox'
import {
  Closed,
  described,
  Enum,
  GivenId,
  Id,
  Nullable,
  ProfileBeside,
  pageQuery,
  RawAmount,
  Timestamp,
} from '../../../http/schema.ts'
import { noteLengthMax } from '../../../lib/limits.ts'
import { operationTypes } from '../../../lib/operations.ts'

const relationTypes = ['refund', 'reversal', 'correction', 'replacement'] as const

export type RelationType = (typeof relationTypes)[number]

const SourceType = described(Enum(operationTypes), 'Type of the source, which refers to the target: such as a refund.')
const TargetType = described(
  Enum(operationTypes),
  'Type of the target, to which the source refers: such as the refunded payment.',
)

const relation = {
  id: Id,
  vaultId: Id,
  sourceOperationType: SourceType,
  sourceOperationId: described(Id, 'Identifier of the source operation.'),
  targetOperationType: TargetType,
  targetOperationId: described(Id, 'Identifier of the target operation.'),
  relationType: described(Enum(relationTypes), 'Type of the relation from the source to the target.'),
  relatedAmountRaw: described(
    Nullable(RawAmount),
    'Part of the source amount that the relation is about, in the smallest unit of the token; null without an amount.',
  ),
  tokenId: described(Nullable(Id), 'Identifier of the token of both operations; null if their tokens differ.'),
  comment: Nullable(Type.String({ examples: ['The invoice was paid twice'] })),
  createdById: Id,
  createdBy: ProfileBeside,
  createdAt: Timestamp,
}

export const OperationRelation = Closed(relation, {
  $id: 'OperationRelation',
  description: 'A statement that one operation refunds, reverses, corrects or replaces another.',
})

export const RelationOfOperation = Closed(
  {
    ...relation,
    role: described(Enum(['source', 'target']), 'Role of the operation: source or target of the relation.'),
  },
  { $id: 'RelationOfOperation', description: 'A relation, with the role of the operation in it.' },
)

export const operationRelationComponents = [OperationRelation, RelationOfOperation]

/** The key of an operation. Its example differs from that of `GivenId`, so that the example can be sent. */
const OtherKey = Type.String({ minLength: 1, maxLength: 128, examples: ['cmi8h2k1p0z9y8x7w6v5u4t3s'] })

export const RelationBody = Closed({
  sourceOperationType: SourceType,
  sourceOperationId: described(GivenId, 'Identifier of the source operation.'),
  targetOperationType: TargetType,
  targetOperationId: described(OtherKey, 'Identifier of the target operation.'),
  relationType: described(Enum(relationTypes), 'Type of the relation from the source to the target.'),
  relatedAmountRaw: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,77}$',
      description:
        'Amount in the smallest unit of the token of both operations. A refund or reversal without it is about the ' +
        'whole amount of its source.',
      examples: ['1500000'],
    }),
  ),
  tokenId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Identifier of the token of both operations; determined from the operations by default.',
      examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
    }),
  ),
  comment: Type.Optional(Nullable(Type.String({ maxLength: noteLengthMax, examples: ['The invoice was paid twice'] }))),
})

const Bound = Type.Optional(
  Type.String({ maxLength: 40, description: 'Inclusive; ISO 8601 timestamp or date (UTC).', examples: ['2026-01-31'] }),
)

export const RelationQuery = Closed({
  relationType: Type.Optional(described(Enum(relationTypes), 'Restricts the list to relations of this type.')),
  sourceOperationId: Type.Optional(described(GivenId, 'Restricts the list to relations with this source.')),
  targetOperationId: Type.Optional(described(GivenId, 'Restricts the list to relations with this target.')),
  tokenId: Type.Optional(described(GivenId, 'Restricts the list to relations between operations of this token.')),
  from: Bound,
  to: Bound,
  ...pageQuery,
})
