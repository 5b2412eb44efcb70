import { sql } from 'kysely'
import { type AddressScope, allVisible, isAddressInScope, isFolderVisible } from '../../../access/address-scope.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { badRequest, notFound } from '../../../lib/errors.ts'
import type { OperationFilter } from './operation-filter.ts'

/** The subjects of reports: the caller must see the subject, even if the report then covers only a part of it. */

/** @throws 404 when the caller may not see the address */
export async function requireAddress(db: Db | Trx, scope: AddressScope, id: string): Promise<void> {
  const { rows } = await sql`
    select from addresses a where a.id = ${id} and ${isAddressInScope(allVisible(scope), 'a')}`.execute(db)
  if (rows.length === 0) throw notFound('Address')
}

/** @throws 404 when the caller may not see the folder */
export async function requireFolder(db: Db | Trx, scope: AddressScope, id: string): Promise<void> {
  const { rows } = await sql`
    select from address_groups f where f.id = ${id} and ${isFolderVisible(scope, 'f')}`.execute(db)
  if (rows.length === 0) throw notFound('Address group')
}

/** @throws 404 when the vault has no such counterparty */
export async function requireCounterparty(db: Db | Trx, { vaultId }: AddressScope, id: string): Promise<void> {
  const { rows } = await sql`select from counterparties where vault_id = ${vaultId} and id = ${id}`.execute(db)
  if (rows.length === 0) throw notFound('Counterparty')
}

/** @throws 404 when the vault has no such group */
export async function requireCounterpartyGroup(db: Db | Trx, { vaultId }: AddressScope, id: string): Promise<void> {
  const { rows } = await sql`select from counterparty_groups where vault_id = ${vaultId} and id = ${id}`.execute(db)
  if (rows.length === 0) throw notFound('Counterparty group')
}

/** @throws 400 when a condition names a field that no category has, or none of the filtered categories */
export async function requireKnownFields(db: Db | Trx, filter: OperationFilter): Promise<void> {
  const { scope, categoryFields, categoryKeys } = filter
  if (categoryFields.length === 0) return
  const { rows } = await sql<{ key: string }>`
    select distinct f.key from category_fields f
    join operation_categories c on c.vault_id = f.vault_id and c.id = f.category_id
    where f.vault_id = ${scope.vaultId} and f.key = any(${categoryFields.map(({ key }) => key)}::text[])
      ${categoryKeys === null ? sql`` : sql`and c.key = any(${categoryKeys}::text[])`}`.execute(db)
  const known = new Set(rows.map(({ key }) => key))
  const unknown = categoryFields.find(({ key }) => !known.has(key))
  if (unknown !== undefined) throw badRequest('categoryField', `names ${unknown.key}, which is no field of a category`)
}
