import type { Deps } from '../../../deps.ts'
import { governedAction } from '../../rules/change-sets/governed-actions.ts'
import { ProtectionUpdate, RoutesReplacement, VariantInput, VariantUpdate, VaultUpdate } from '../structure/schema.ts'
import { addVariant, replaceStructure, updateVariant } from '../structure/write-structure.ts'
import type { Probed } from '../wallets/probe-wallet.ts'
import { updateProtection, updateVault } from './actions.ts'

/** The governed actions on the wallet service and the variants of a vault. */
export const vaultActions = (deps: Deps) => ({
  vault_update: governedAction(
    { operationId: 'updateVault', target: null, schema: VaultUpdate },
    async (trx, { payload }, { probed, ...by }) => {
      const updated = await updateVault(trx, deps, payload, by, probed as Probed | null)
      if ('refusal' in updated) throw updated.refusal
      return updated.id
    },
  ),
  protection_update: governedAction(
    { operationId: 'updateProtection', target: null, schema: ProtectionUpdate, isDirectOnly: true },
    async (trx, { payload }, by) => (await updateProtection(trx, payload, by)).id,
  ),
  routes_replace: governedAction(
    { operationId: 'replaceRoutes', target: null, schema: RoutesReplacement },
    async (trx, { payload }, by) => (await replaceStructure(trx, payload.routes, by)).id,
  ),
  variant_add: governedAction(
    { operationId: 'addVariant', target: 'route', schema: VariantInput },
    async (trx, { targetId, payload }, by) => (await addVariant(trx, targetId, payload, by)).id,
  ),
  variant_update: governedAction(
    { operationId: 'updateVariant', target: 'variant', schema: VariantUpdate },
    async (trx, { targetId, payload }, by) => (await updateVariant(trx, targetId, payload, by)).id,
  ),
})
