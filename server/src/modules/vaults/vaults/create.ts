import type { Static } from 'typebox'
import { type ByCaller, byPlatform } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { violates } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { conflict } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { audit } from '../../record/audit/record.ts'
import { insertSystemGroups } from '../../rules/policies/system-groups.ts'
import { insertStructure, planOrThrow, summaryOf } from './insert-structure.ts'
import { findVault, type VaultWithStructure } from './queries.ts'
import type { VaultCreation } from './schema.ts'
import { faultsOfWallet, sealed } from './wallet-settings.ts'

/**
 * Creates a draft vault with its derivation structure and its two built-in groups.
 * @throws 400 with every fault of the structure, 409 when the code is taken
 */
export async function createVault(
  trx: Trx,
  { config, sealer }: Pick<Deps, 'config' | 'sealer'>,
  { vault, routes }: Static<typeof VaultCreation>,
  by: ByCaller,
): Promise<VaultWithStructure> {
  const { caller, now } = by
  const plan = planOrThrow(routes, faultsOfWallet(vault, config, 'vault.'))
  const id = newId(now)
  const { code, name, walletServiceUrl } = vault
  await trx
    .insertInto('vaults')
    .values({
      id,
      code,
      name,
      description: vault.description ?? null,
      wallet_service_url: walletServiceUrl,
      wallet_service_secret: sealed(sealer, vault.walletServiceSecret ?? null),
      wallet_webhook_secret: sealed(sealer, vault.walletWebhookSecret ?? null),
      created_at: now,
      updated_at: now,
    })
    .execute()
    .catch((error: unknown) => {
      throw violates(error, 'vaults_code_key') ? conflict(`The vault code ${code} is taken`) : error
    })
  await insertStructure(trx, id, plan, by)
  await insertSystemGroups(trx, { vaultId: id, creatorId: caller.userId, now })
  const target = { type: 'vault', id }
  const details = { code, name, walletServiceUrl, structure: summaryOf(plan) }
  await audit(trx, { ...byPlatform(by), vaultId: id }, 'vault.created', target, details)
  // Platform administrators may know which vaults exist, but not their content.
  await audit(trx, byPlatform(by), 'vault.created', target, { code, name })
  return (await findVault(trx, id))!
}
