import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict, type FieldFault, faulty, forbidden, notFound } from '../../../lib/errors.ts'
import { audit } from '../../record/audit/record.ts'
import { type CategoryRow, findCategory, lockCategory } from './queries.ts'
import { mayEditDefinition } from './rights.ts'

/** How every part of the definition of a category is changed: lock it, increment its version, write the audit record. */

/** Locks the category, so that it cannot change before the transaction ends. @throws 403, 404 */
export async function lockDefinition(trx: Trx, id: string, { member }: ByMember): Promise<CategoryRow> {
  const category = await lockCategory(trx, member.vault.id, id, 'update')
  if (category === null) throw notFound('Operation category')
  if (!mayEditDefinition(category, member)) {
    throw forbidden('Only administrators and members with the right canEdit may change the category')
  }
  return category
}

export async function lockLiveDefinition(trx: Trx, id: string, by: ByMember): Promise<CategoryRow> {
  const category = await lockDefinition(trx, id, by)
  assertLive(category)
  return category
}

export function assertLive({ archived }: CategoryRow): void {
  if (archived) throw conflict('The category is archived')
}

/** Every change of a definition increments its version once and writes one audit record. */
export async function finishChange(
  trx: Trx,
  { vault_id, id, key }: CategoryRow,
  by: ByMember,
  verb: string,
  details: Record<string, unknown>,
): Promise<CategoryRow> {
  const { version } = await trx
    .updateTable('operation_categories')
    .set((value) => ({
      version: value('version', '+', 1),
      updated_by_id: by.member.userId,
      updated_at: by.now,
    }))
    .where('vault_id', '=', vault_id)
    .where('id', '=', id)
    .returning('version')
    .executeTakeFirstOrThrow()
  const target = { type: 'operation_category', id }
  await audit(trx, byMember(by), `category.${verb}`, target, { category: key, version, ...details })
  return (await findCategory(trx, vault_id, id))!
}

export function assertNone(faults: FieldFault[]): void {
  if (faults.length > 0) throw faulty(faults)
}
