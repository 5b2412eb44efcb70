import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict } from '../../../lib/errors.ts'
import { audit } from '../../record/audit/record.ts'
import { insertStructure, planOrThrow, summaryOf } from './insert-structure.ts'
import { findVault, lockVaultRow, type VaultWithStructure } from './queries.ts'
import type { RouteInput } from './schema.ts'

/**
 * Replaces all networks and routes of a draft.
 * @throws 400 with every fault of the structure, 409 when the vault is locked
 */
export async function replaceStructure(
  trx: Trx,
  routes: Record<string, RouteInput>,
  by: ByMember,
): Promise<VaultWithStructure> {
  const { member, now } = by
  const { id } = member.vault
  const plan = planOrThrow(routes, [])
  const vault = await lockVaultRow(trx, id)
  if (vault.locked_at !== null) throw conflict('The vault is locked; its structure is final')
  await trx.deleteFrom('routes').where('vault_id', '=', id).execute()
  await trx.deleteFrom('vault_networks').where('vault_id', '=', id).execute()
  await insertStructure(trx, id, plan, { caller: member, now })
  await trx.updateTable('vaults').set({ updated_at: now }).where('id', '=', id).execute()
  const details = { structure: summaryOf(plan) }
  await audit(trx, byMember(by), 'vault.structure_replaced', { type: 'vault', id }, details)
  return (await findVault(trx, id))!
}
