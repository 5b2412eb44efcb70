import { type RawBuilder, sql } from 'kysely'
import { type Asker, isOperationInScope, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { OperationStatus } from './write.ts'

export const operationTypes = ['transfer', 'deposit'] as const
export type OperationType = (typeof operationTypes)[number]

/** An operation as paths name it. */
export type OperationKey = { type: OperationType; id: string }

export type OperationRow = {
  vault_id: string
  id: string
  type: OperationType
  status: OperationStatus
  owner_id: string
  initiator_id: string | null
  tags: string[]
  payment_purpose: string | null
  note: string | null
  created_at: Date
}

/** An operation that whoever asks may see, approvers of a transfer included; null also when it is of the other type. */
export async function findOperation(db: Db | Trx, asker: Asker, key: OperationKey): Promise<OperationRow | null> {
  return selectOperation(db, asker, key, sql``)
}

/** As `findOperation`, and what is said about the operation is changed by nobody else until the transaction ends. */
export async function lockOperation(trx: Trx, asker: Asker, key: OperationKey): Promise<OperationRow | null> {
  return selectOperation(trx, asker, key, sql`for no key update of o`)
}

async function selectOperation(
  db: Db | Trx,
  asker: Asker,
  { type, id }: OperationKey,
  lock: RawBuilder<unknown>,
): Promise<OperationRow | null> {
  const { rows } = await sql<OperationRow>`
    select o.vault_id, o.id, o.type, o.status, o.owner_id, o.initiator_id, o.tags, o.payment_purpose, o.note, o.created_at
    from operations o
    where o.vault_id = ${asker.vault.id} and o.id = ${id} and o.type = ${type} and (
      ${isOperationInScope(visibleScopeOf(asker), 'o')} or exists (
        select from approval_voters s
        where s.vault_id = o.vault_id and s.subject_id = o.id and s.user_id = ${asker.userId}))
    ${lock}`.execute(db)
  return rows[0] ?? null
}
