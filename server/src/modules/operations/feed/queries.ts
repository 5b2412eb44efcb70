import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, isOperationInScope, type Viewer, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { OperationStatus, OperationType } from '../../../lib/operations.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { isVoter } from '../../rules/votes/queries.ts'

/** The type and id of an operation, as paths name it. */
export type OperationKey = { type: OperationType; id: string }

export type OperationRow = {
  vault_id: string
  id: string
  type: OperationType
  status: OperationStatus
  address_id: string
  owner_id: string
  initiator_id: string | null
  token_id: string
  /** The raw amount, in the smallest unit of the token. */
  amount: string
  tags: string[]
  payment_purpose: string | null
  note: string | null
  created_at: Date
}

/** Returns an operation that the viewer may read, also as an approver of a transfer; null also when it has the other type. */
export async function findOperation(db: Db | Trx, viewer: Viewer, key: OperationKey): Promise<OperationRow | null> {
  return selectOperation(db, viewer, key, sql``)
}

/** Returns an operation as `findOperation` does, and locks its metadata and categories until the transaction ends. */
export async function lockOperation(trx: Trx, viewer: Viewer, key: OperationKey): Promise<OperationRow | null> {
  return selectOperation(trx, viewer, key, sql`for no key update of o`)
}

/** @throws 404 */
export async function getOperation(db: Db | Trx, viewer: Viewer, key: OperationKey): Promise<OperationRow> {
  return orNotFound(await findOperation(db, viewer, key), 'Operation')
}

async function selectOperation(
  db: Db | Trx,
  viewer: Viewer,
  { type, id }: OperationKey,
  lock: RawBuilder<unknown>,
): Promise<OperationRow | null> {
  const { rows } = await sql<OperationRow>`
    select o.vault_id, o.id, o.type, o.status, o.address_id, o.owner_id, o.initiator_id, o.token_id, o.amount, o.tags,
      o.payment_purpose, o.note, o.created_at
    from operations o
    where o.vault_id = ${viewer.vault.id} and o.id = ${id} and o.type = ${type}
      and ${isOperationReadable(visibleScopeOf(viewer), 'o')}
    ${lock}`.execute(db)
  return rows[0] ?? null
}

/** SQL: the ids and times of the operations whose transaction has this hash, each part in the order of an index. */
export const operationsOfHash = (vaultId: string, txHash: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select created_at, id from transfer_hashes where vault_id = ${vaultId} and tx_hash = ${txHash}
  union all select created_at, id from deposits where vault_id = ${vaultId} and tx_hash = ${txHash}`

/** SQL condition: the viewer may read the operation of `alias` by its id: it is in scope, or they are a voter on it. */
export function isOperationReadable(scope: AddressScope, alias: string): RawBuilder<boolean> {
  return sql<boolean>`(${isOperationInScope(scope, alias)} or ${isVoter(alias, scope.viewer.userId)})`
}
