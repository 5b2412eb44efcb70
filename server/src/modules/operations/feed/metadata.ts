import type { Trx } from '../../../db/client.ts'

/** What people say of an operation. It changes no money and no decision. */
export type Metadata = { tags: string[]; paymentPurpose: string | null; note: string | null }

export async function updateOperationMetadata(
  trx: Trx,
  { vaultId, id, now, ...metadata }: Metadata & { vaultId: string; id: string; now: Date },
): Promise<void> {
  await trx
    .updateTable('operations')
    .set({
      tags: metadata.tags,
      payment_purpose: metadata.paymentPurpose,
      note: metadata.note,
      updated_at: now,
    })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .execute()
}
