import { Type } from 'typebox'
import { Closed, described, Enum, GivenId, Id, Nullable, ProfileBeside, Ref, Timestamp } from '../../../http/schema.ts'
import { operationTypes } from '../../../lib/operations.ts'
import { OperationCategory } from '../categories/schema.ts'

export const CategoryAssignment = Closed(
  {
    id: Id,
    categoryId: Id,
    key: Type.String({ description: 'Key of the category.', examples: ['payroll'] }),
    values: Type.Record(Type.String(), Nullable(Type.String()), {
      description: 'Field key to canonical string; a field without a value is absent.',
      examples: [{ invoice: '4711', net: '1500.00', paid_on: '2026-01-31' }],
    }),
    redacted: Type.Boolean({
      description: 'true if sensitive fields are null because the caller may not edit them.',
      examples: [false],
    }),
    version: Type.Integer({ minimum: 1, description: 'Increased by one with every edit.', examples: [1] }),
    assignedById: described(
      Type.String({ examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] }),
      'Identifier of the user or service that assigned the category.',
    ),
    assignedBy: ProfileBeside,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  {
    $id: 'CategoryAssignment',
    description: 'A category that is assigned to an operation, with the values of its fields.',
  },
)

export const CategoryAssignments = Closed(
  { items: Type.Array(Ref(CategoryAssignment)) },
  { $id: 'CategoryAssignments' },
)

export const AvailableCategories = Closed({ items: Type.Array(Ref(OperationCategory)) }, { $id: 'AvailableCategories' })

export const CategoryValues = Closed(
  {
    values: Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), {
      description:
        'Field key to value: numbers and amounts as decimal strings, booleans as booleans, all others as strings. A value ' +
        'of type `number` may also be a JSON number of at most 15 significant digits. null clears; a key that is left ' +
        'out keeps its value, or starts with the default of its field. A value may be sent back as it was read.',
      examples: [{ invoice: '4711', net: '1500', paid_on: '2026-01-31' }],
    }),
  },
  { $id: 'CategoryValues' },
)

export const operationParams = {
  type: described(Enum(operationTypes), 'Type of the operation.'),
  id: described(GivenId, 'Identifier of the operation.'),
}
export const operationCategoryParams = { ...operationParams, categoryId: GivenId }

export const categoryAssignmentComponents = [
  CategoryAssignment,
  CategoryAssignments,
  AvailableCategories,
  CategoryValues,
]
