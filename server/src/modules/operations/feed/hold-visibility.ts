import { type RawBuilder, sql } from 'kysely'
import { isAddressInScope, type Viewer, visibleScopeOf } from '../../../access/address-scope.ts'
import { isOperationReadable } from './queries.ts'

/**
 * SQL condition: the viewer sees the object that the hold `alias` stops, placed the hold, is held by it, or reads the
 * whole vault.
 */
export function isHoldVisible(viewer: Viewer, alias: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  const ofVault = sql`${column('vault_id')} = ${viewer.vault.id}`
  if (viewer.readsAll) return sql<boolean>`(${ofVault})`
  const scope = visibleScopeOf(viewer)
  return sql<boolean>`(${ofVault} and (${column('placed_by_id')} = ${viewer.userId} or case ${column('subject_type')}
    when 'vault' then true
    when 'counterparty' then true
    when 'user' then ${isHeldSelf(viewer, alias)}
    when 'address' then exists (select from addresses stopped
      where stopped.vault_id = ${column('vault_id')} and stopped.id = ${column('subject_id')}
        and ${isAddressInScope(scope, 'stopped')})
    else exists (select from operations stopped
      where stopped.vault_id = ${column('vault_id')} and stopped.id = ${column('subject_id')}
        and ${isOperationReadable(scope, 'stopped')}) end))`
}

/** SQL condition: the hold `alias` stops the viewer. */
export function isHeldSelf({ userId, vault }: Pick<Viewer, 'userId' | 'vault'>, alias: string): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${alias}.vault_id`)} = ${vault.id}
    and ${sql.ref(`${alias}.subject_type`)} = 'user' and ${sql.ref(`${alias}.subject_id`)} = ${userId})`
}
