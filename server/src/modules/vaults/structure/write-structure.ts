import type { Static } from 'typebox'
import { type ByCaller, type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { badRequest, conflict, type FieldFault, faulty, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { variantsPerRouteMax } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit } from '../../record/audit/record.ts'
import { registerNetwork } from '../../registry/networks/actions.ts'
import { findNetwork, findNetworksOfVaults, type NetworkRow } from '../../registry/networks/queries.ts'
import { findTokensOfNetworks, type TokenRow } from '../../registry/tokens/queries.ts'
import { findRoute, findVariant, findVault, lockVaultRow, type VariantRow, type VaultWithStructure } from './queries.ts'
import type { RouteInput, VariantInput, VariantUpdate } from './schema.ts'
import { type Plan, type PlannedVariant, planStructure, planVariant } from './structure.ts'

/** Plans a structure. @throws 400 with the known faults and every fault of the structure */
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
    route.variants.flatMap((variant) => {
      const tokenId = variant.token === null ? null : resolveToken(variant.token, tokens)
      if (tokenId === null || typeof tokenId === 'string')
        return [toVariantRow(vaultId, route.id, variant, tokenId, by.now)]
      faults.push({ field: `${variant.field}.token`, message: tokenId.fault })
      return []
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

/**
 * Connects the networks of a structure. Known networks are connected unchanged; only platform administrators may add
 * networks to the registry.
 */
async function connectNetworks(trx: Trx, vaultId: string, plan: Plan, by: ByCaller): Promise<NetworkRow[]> {
  const faults: FieldFault[] = []
  const found = new Map<number, NetworkRow>()
  // Networks are sorted, so that two vaults that are created at once cannot deadlock on them.
  for (const network of plan.networks.toSorted((a, b) => a.coinType - b.coinType)) {
    const row = by.caller.isPlatformAdmin
      ? await registerNetwork(trx, network, by)
      : await findNetwork(trx, { coin_type: network.coinType })
    const named = await findNetwork(trx, { slug: network.slug })
    if (named !== null && named.coin_type !== network.coinType) {
      faults.push({ field: `${network.field}.code`, message: 'is the code of a network with another coin type' })
    } else if (row !== null) found.set(network.coinType, row)
    else {
      faults.push({
        field: `${network.field}.id`,
        message: 'is not a network of the registry; a platform administrator must add it',
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

/** Returns the details of a structure for the audit record. */
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
  if (vault.locked_at !== null) throw conflict('vault_is_locked', 'The vault is locked; its structure is final')
  await trx.deleteFrom('routes').where('vault_id', '=', id).execute()
  await trx.deleteFrom('vault_networks').where('vault_id', '=', id).execute()
  await insertStructure(trx, id, plan, { caller: member, now })
  await trx.updateTable('vaults').set({ updated_at: now }).where('id', '=', id).execute()
  const details = { structure: summaryOf(plan) }
  await audit(trx, byMember(by), 'vault.structure_replaced', { type: 'vault', id }, details)
  return (await findVault(trx, id))!
}

/**
 * Adds a variant to a static route of a draft or locked vault.
 * @throws 404 for an unknown route, 409 for a dynamic route or a taken id or code
 */
export async function addVariant(
  trx: Trx,
  routeId: string,
  body: Static<typeof VariantInput>,
  by: ByMember,
): Promise<VariantRow> {
  const vaultId = by.member.vault.id
  await lockVaultRow(trx, vaultId)
  const route = orNotFound(await findRoute(trx, vaultId, routeId), 'Route')
  if (route.dynamic) throw conflict('route_is_dynamic', 'A dynamic route has no variants')
  if (route.variants.length >= variantsPerRouteMax) {
    throw conflict('limit_reached', `A route has at most ${variantsPerRouteMax} variants`)
  }
  const planned = planVariant(body, '')
  const tokenId = planned.token === null ? null : await getTokenId(trx, vaultId, planned.token)
  const row = toVariantRow(vaultId, routeId, planned, tokenId, by.now)
  await trx
    .insertInto('variants')
    .values(row)
    .execute()
    .catch(
      onViolation('variants_vault_id_route_id_path_id_key', () =>
        conflict('already_exists', `The route already has a variant with the id ${planned.pathId}`),
      ),
    )
    .catch(
      onViolation('variants_vault_id_route_id_code_key', () =>
        conflict('already_exists', `The route already has a variant with the code ${planned.code}`),
      ),
    )
  const { pathId, code, token } = planned
  const details = { route: route.code, pathId, code, token }
  await audit(trx, byMember(by), 'variant.created', { type: 'variant', id: row.id }, details)
  return (await findVariant(trx, vaultId, row.id))!
}

/** Renames, enables or disables a variant, or changes its token. Its number and code never change. */
export async function updateVariant(
  trx: Trx,
  id: string,
  body: Static<typeof VariantUpdate>,
  by: ByMember,
): Promise<VariantRow> {
  const vaultId = by.member.vault.id
  const { name, description, enabled, token } = body
  const tokenId = typeof token === 'string' ? await getTokenId(trx, vaultId, token) : token
  const { numUpdatedRows } = await trx
    .updateTable('variants')
    // Kysely leaves undefined fields out of the statement.
    .set({ name, description, enabled, token_id: tokenId, updated_at: by.now })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notFound('Variant')
  await audit(trx, byMember(by), 'variant.updated', { type: 'variant', id }, { changes: { ...body } })
  return (await findVariant(trx, vaultId, id))!
}

/** @throws 400 for a code that matches no token, or several tokens, of the vault's networks */
async function getTokenId(trx: Trx, vaultId: string, code: string): Promise<string> {
  const networks = await findNetworksOfVaults(trx, [vaultId])
  const networkIds = networks.map(({ id }) => id)
  const tokenId = resolveToken(code, await findTokensOfNetworks(trx, networkIds))
  if (typeof tokenId !== 'string') throw badRequest('token', tokenId.fault)
  return tokenId
}

/** Returns the id of the only token with the code among the tokens of the vault's networks, or the fault. */
function resolveToken(code: string, tokens: TokenRow[]): string | { fault: string } {
  const [token, ...others] = tokens.filter((candidate) => candidate.code === code)
  if (token === undefined) return { fault: 'is not a token of a network of this vault' }
  if (others.length > 0) {
    const networks = [token, ...others].map((candidate) => candidate.network_slug).join(', ')
    return { fault: `is a token of several networks of this vault: ${networks}` }
  }
  return token.id
}

function toVariantRow(vaultId: string, routeId: string, variant: PlannedVariant, tokenId: string | null, now: Date) {
  return {
    vault_id: vaultId,
    id: newId(now),
    route_id: routeId,
    path_id: variant.pathId,
    code: variant.code,
    name: variant.name,
    description: variant.description,
    enabled: variant.enabled,
    token_id: tokenId,
    created_at: now,
    updated_at: now,
  }
}
