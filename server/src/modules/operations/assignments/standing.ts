import { type Asker, subjectsOf } from '../../../access/address-scope.ts'
import type { OperationRow } from '../feed/queries.ts'
import type { Standing } from './rights.ts'

/** Who somebody who sees an operation is to the categories on it. */
export function standingOf(asker: Asker, operation: Pick<OperationRow, 'owner_id' | 'initiator_id'>): Standing {
  const { isAdmin, userId } = asker
  const isOwnOperation = operation.owner_id === userId || operation.initiator_id === userId
  return { isAdmin, isOwnOperation, subjects: subjectsOf(asker) }
}
