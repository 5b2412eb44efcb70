import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, isOperationInScope } from '../../../access/address-scope.ts'
import { isVoter } from '../../rules/votes/visibility.ts'

/** SQL condition: the viewer may read the operation of `alias` by its id: it is in scope, or they are a voter on it. */
export function isOperationReadable(scope: AddressScope, alias: string): RawBuilder<boolean> {
  return sql<boolean>`(${isOperationInScope(scope, alias)} or ${isVoter(alias, scope.viewer.userId)})`
}
