import type { Static } from 'typebox'
import type { Protection } from '../../../access/caller.ts'
import { toNetwork } from '../../registry/networks/present.ts'
import { toShown } from '../authority/authority-mark.ts'
import type { RouteRow, VariantRow, VaultWithStructure } from '../structure/queries.ts'
import type { Route, Variant, Vault } from '../structure/schema.ts'

export function toVault(row: VaultWithStructure): Static<typeof Vault> {
  return {
    id: row.id,
    code: row.code,
    name: row.name,
    description: row.description,
    logoUri: row.logo_uri,
    lockedAt: row.locked_at?.toISOString() ?? null,
    walletServiceUrl: row.wallet_service_url,
    walletQuestionsPerSecond: row.questions_per_second,
    protection: row.protection as Protection,
    authority: row.mark && toShown(row.mark),
    halt:
      row.halted_at === null
        ? null
        : { since: row.halted_at.toISOString(), reason: row.halt_reason as 'books_behind' | 'wallet_behind' },
    addressCheck: row.wallet_key === null ? 'none' : 'derived',
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    networks: row.networks.map((network) => ({ ...toNetwork(network), addressCheck: network.address_check })),
    routes: row.routes.map(toRoute),
  }
}

function toRoute(row: RouteRow): Static<typeof Route> {
  return {
    id: row.id,
    vaultId: row.vault_id,
    order: row.position,
    code: row.code,
    name: row.name,
    description: row.description,
    dynamic: row.dynamic,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    variants: row.variants.map(toVariant),
  }
}

export function toVariant(row: VariantRow): Static<typeof Variant> {
  return {
    id: row.id,
    routeId: row.route_id,
    pathId: Number(row.path_id),
    code: row.code,
    name: row.name,
    description: row.description,
    enabled: row.enabled,
    tokenId: row.token_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
