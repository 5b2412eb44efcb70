import type { ByCaller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { type FieldFault, faulty } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { registerNetwork } from '../../registry/networks/actions.ts'
import { findNetworkByCoinType, findNetworkBySlug, type NetworkRow } from '../../registry/networks/queries.ts'
import { findTokensOfNetworks } from '../../registry/tokens/queries.ts'
import type { RouteInput } from './schema.ts'
import { type Plan, planStructure } from './structure.ts'
import { resolveToken, toVariantRow } from './variants.ts'

/** @throws 400 with the faults that are known already and every fault of the structure */
export function planOrThrow(routes: Record<string, RouteInput>, known: FieldFault[]): Plan {
  const outcome = planStructure(routes)
  const faults = [...known, ...('faults' in outcome ? outcome.faults : [])]
  if (faults.length > 0 || 'faults' in outcome) throw faulty(faults)
  return outcome.plan
}

/**
 * Writes the networks, routes and variants of a draft.
 * @throws 400 for every network or token that the registry or the vault does not have
 */
export async function insertStructure(trx: Trx, vaultId: string, plan: Plan, by: ByCaller): Promise<void> {
  const networks = await connectNetworks(trx, vaultId, plan, by)
  const tokens = await findTokensOfNetworks(
    trx,
    networks.map(({ id }) => id),
  )
  const routes = plan.routes.map((route) => ({ ...route, id: newId(by.now) }))
  const faults: FieldFault[] = []
  const variants = routes.flatMap((route) =>
    route.variants.map((variant) => {
      const tokenId = variant.token === null ? null : resolveToken(variant.token, tokens)
      if (tokenId !== null && typeof tokenId !== 'string') {
        faults.push({ field: `${variant.field}.token`, message: tokenId.fault })
        return toVariantRow(vaultId, route.id, variant, null, by.now)
      }
      return toVariantRow(vaultId, route.id, variant, tokenId, by.now)
    }),
  )
  if (faults.length > 0) throw faulty(faults)
  if (routes.length > 0) {
    await trx
      .insertInto('routes')
      .values(
        routes.map(({ variants: _, ...route }) => ({
          ...route,
          vault_id: vaultId,
          created_at: by.now,
          updated_at: by.now,
        })),
      )
      .execute()
  }
  if (variants.length > 0) await trx.insertInto('variants').values(variants).execute()
}

/** Known networks are connected unchanged; only platform administrators may add networks to the registry. */
async function connectNetworks(trx: Trx, vaultId: string, plan: Plan, by: ByCaller): Promise<NetworkRow[]> {
  const faults: FieldFault[] = []
  const found = new Map<number, NetworkRow>()
  // Sorted, so that two vaults that are created at once cannot deadlock on their networks.
  for (const network of plan.networks.toSorted((a, b) => a.coinType - b.coinType)) {
    const row = by.caller.isPlatformAdmin
      ? await registerNetwork(trx, network, by)
      : await findNetworkByCoinType(trx, network.coinType)
    const named = await findNetworkBySlug(trx, network.slug)
    if (named !== null && named.coin_type !== network.coinType) {
      faults.push({ field: `${network.field}.code`, message: 'is the code of a network with another coin type' })
    } else if (row !== null) found.set(network.coinType, row)
    else {
      faults.push({
        field: `${network.field}.id`,
        message: 'is no network of the registry; a platform administrator adds it',
      })
    }
  }
  if (faults.length > 0) throw faulty(faults)
  const rows = plan.networks.map((network) => found.get(network.coinType)!)
  await trx
    .insertInto('vault_networks')
    .values(rows.map((row, position) => ({ vault_id: vaultId, network_id: row.id, position })))
    .execute()
  return rows
}

/** The details of a structure in the audit record. */
export function summaryOf(plan: Plan): Record<string, unknown> {
  return {
    networks: plan.networks.map(({ coinType, code }) => ({ coinType, code })),
    routes: plan.routes.map(({ code, dynamic, variants }) => ({
      code,
      dynamic,
      variants: variants.map((variant) => ({ id: variant.pathId, code: variant.code, token: variant.token })),
    })),
  }
}
