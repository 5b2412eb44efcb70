import type { Static } from 'typebox'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import { type ByMember, byMember, type Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { forbidden } from '../../../lib/errors.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit, changedFields } from '../../record/audit/record.ts'
import { replaceFirstCategory } from '../assignments/actions.ts'
import { listAssignments } from '../assignments/queries.ts'
import { lockOperation, type OperationKey, type OperationRow } from '../feed/queries.ts'
import type { MetadataUpdate, OperationMetadata } from './schema.ts'

type Metadata = Static<typeof OperationMetadata>
type Update = Static<typeof MetadataUpdate>

/**
 * Changes the category, the tags, the purpose and the note of an operation. Absent fields stay, and null clears a field. Metadata
 * change neither money nor a decision.
 *
 * @throws 404 for an operation that the member may not see, 403 for an operation of an address that they do not own, 400 and
 *   409 as `replaceFirstCategory`
 */
export async function changeMetadata(trx: Trx, key: OperationKey, body: Update, by: ByMember): Promise<Metadata> {
  const { member, now } = by
  const operation = orNotFound(await lockOperation(trx, member, key), 'Operation')
  if (operation.owner_id !== member.userId) {
    throw forbidden('not_permitted', 'Only the owner of the address may change the metadata of its operations')
  }
  const before = { ...toMetadata(operation), category: await findCategory(trx, member, operation) }
  if (body.category !== undefined) await replaceFirstCategory(trx, operation, body.category, by)
  const after = {
    category: await findCategory(trx, member, operation),
    tags: body.tags === undefined ? before.tags : (body.tags ?? []),
    paymentPurpose: body.paymentPurpose === undefined ? before.paymentPurpose : body.paymentPurpose,
    note: body.note === undefined ? before.note : body.note,
  }
  const changes = changedFields(before, after)
  if (changes === null) return after
  await trx
    .updateTable('operations')
    .set({ tags: after.tags, payment_purpose: after.paymentPurpose, note: after.note, updated_at: now })
    .where('vault_id', '=', operation.vault_id)
    .where('id', '=', operation.id)
    .execute()
  await audit(trx, byMember(by), 'operation.metadata_updated', operation, changes)
  return after
}

function toMetadata({ tags, payment_purpose: paymentPurpose, note }: OperationRow): Omit<Metadata, 'category'> {
  return { tags, paymentPurpose, note }
}

async function findCategory(trx: Trx, member: Member, operation: OperationRow): Promise<string | null> {
  const [first] = await listAssignments(trx, visibleScopeOf(member), operation)
  return first?.key ?? null
}
