import type { Static } from 'typebox'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { violates } from '../../../db/transaction.ts'
import { badRequest, conflict, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { variantsPerRouteMax } from '../../../lib/limits.ts'
import { audit } from '../../record/audit/record.ts'
import { findNetworksOfVaults } from '../../registry/networks/queries.ts'
import { findTokensOfNetworks, type TokenRow } from '../../registry/tokens/queries.ts'
import { findRoute, findVariant, lockVaultRow, type VariantRow } from './queries.ts'
import type { VariantInput, VariantUpdate } from './schema.ts'
import { type PlannedVariant, planVariant } from './structure.ts'

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
  const route = await findRoute(trx, vaultId, routeId)
  if (route === null) throw notFound('Route')
  if (route.dynamic) throw conflict('A dynamic route has no variants')
  if (route.variants.length >= variantsPerRouteMax) {
    throw conflict(`A route has at most ${variantsPerRouteMax} variants`)
  }
  const planned = planVariant(body, '')
  const tokenId = planned.token === null ? null : await getTokenId(trx, vaultId, planned.token)
  const row = toVariantRow(vaultId, routeId, planned, tokenId, by.now)
  await trx
    .insertInto('variants')
    .values(row)
    .execute()
    .catch((error: unknown) => {
      if (violates(error, 'variants_vault_id_route_id_path_id_key')) {
        throw conflict(`The route has a variant with the id ${planned.pathId} already`)
      }
      if (violates(error, 'variants_vault_id_route_id_code_key')) {
        throw conflict(`The route has a variant with the code ${planned.code} already`)
      }
      throw error
    })
  const { pathId, code, token } = planned
  const details = { route: route.code, pathId, code, token }
  await audit(trx, byMember(by), 'variant.created', { type: 'variant', id: row.id }, details)
  return (await findVariant(trx, vaultId, row.id))!
}

/** Renames, enables or disables a variant, or changes its token; its number and code never change. */
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
    // Fields that are undefined are left out of the statement.
    .set({ name, description, enabled, token_id: tokenId, updated_at: by.now })
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notFound('Variant')
  await audit(trx, byMember(by), 'variant.updated', { type: 'variant', id }, { changes: { ...body } })
  return (await findVariant(trx, vaultId, id))!
}

/** @throws 400 for a code that matches none or several of the tokens of the vault's networks */
async function getTokenId(trx: Trx, vaultId: string, code: string): Promise<string> {
  const networks = await findNetworksOfVaults(trx, [vaultId])
  const networkIds = networks.map(({ id }) => id)
  const tokenId = resolveToken(code, await findTokensOfNetworks(trx, networkIds))
  if (typeof tokenId !== 'string') throw badRequest('token', tokenId.fault)
  return tokenId
}

/** The id of the only token with the code among the tokens of the vault's networks, or why there is none. */
export function resolveToken(code: string, tokens: TokenRow[]): string | { fault: string } {
  const [token, ...others] = tokens.filter((candidate) => candidate.code === code)
  if (token === undefined) return { fault: 'is not a token of a network of this vault' }
  if (others.length > 0) {
    const networks = [token, ...others].map((candidate) => candidate.network_slug).join(', ')
    return { fault: `is a token of several networks of this vault: ${networks}` }
  }
  return token.id
}

export function toVariantRow(
  vaultId: string,
  routeId: string,
  variant: PlannedVariant,
  tokenId: string | null,
  now: Date,
) {
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
