import { subjectsOf } from '../../../access/address-scope.ts'
import { type ByMember, byMember, type Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict, type FieldFault, faulty, forbidden } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit } from '../../record/audit/record.ts'
import { type CategoryGrantRow, type CategoryRow, findCategory, lockCategory } from './queries.ts'

/** Locks the category, so that it cannot change before the transaction ends. @throws 403, 404 */
export async function lockDefinition(trx: Trx, id: string, { member }: ByMember): Promise<CategoryRow> {
  const category = orNotFound(await lockCategory(trx, member.vault.id, id, 'update'), 'Operation category')
  if (!mayEditDefinition(category, member)) {
    throw forbidden('not_permitted', 'Only administrators and members with the right canEdit may change the category')
  }
  return category
}

export async function lockLiveDefinition(trx: Trx, id: string, by: ByMember): Promise<CategoryRow> {
  const category = await lockDefinition(trx, id, by)
  assertLive(category)
  return category
}

export function assertLive({ archived }: CategoryRow): void {
  if (archived) throw conflict('archived', 'The category is archived')
}

/** Increments the version of a definition once and writes one audit record. Every change of a definition ends with this. */
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

type Viewer = Pick<Member, 'userId' | 'groupIds' | 'isAdmin' | 'readsAll'>
type Granting = Pick<CategoryRow, 'grants'>

/** Returns true if the viewer may change the definition: as an administrator, or by a grant of `canEdit` to them or their group. */
function mayEditDefinition(category: Granting, viewer: Viewer): boolean {
  return viewer.isAdmin || ownGrants(category, viewer).some((grant) => grant.can_edit)
}

/** Returns the grants that the viewer may see: all grants for editors of the definition and auditors, their own for other viewers. */
export function grantsSeenBy(category: Granting, viewer: Viewer): CategoryGrantRow[] {
  return viewer.readsAll || mayEditDefinition(category, viewer) ? category.grants : ownGrants(category, viewer)
}

function ownGrants({ grants }: Granting, viewer: Viewer): CategoryGrantRow[] {
  const subjects = new Set(subjectsOf(viewer))
  return grants.filter(({ subject }) => subjects.has(subject))
}
