import type { Static } from 'typebox'
import { type OperationViewer, rightsOf } from '../categories/rights.ts'
import type { AssignmentRow } from './queries.ts'
import type { CategoryAssignment } from './schema.ts'

/**
 * Returns an assignment as the viewer may see it. Sensitive values are for editors: for other viewers every sensitive
 * field is null, so that it does not reveal whether it has a value.
 */
export function toCategoryAssignment(row: AssignmentRow, viewer: OperationViewer): Static<typeof CategoryAssignment> {
  const redacted = row.sensitive_keys.length > 0 && !rightsOf(row, viewer).canEdit
  const withheld = redacted ? row.sensitive_keys.map((key): [string, null] => [key, null]) : []
  return {
    id: row.id,
    categoryId: row.category_id,
    key: row.key,
    values: Object.fromEntries([...Object.entries(row.values), ...withheld]),
    redacted,
    version: row.version,
    assignedById: row.assigned_by_id,
    assignedBy: row.assigned_by,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
