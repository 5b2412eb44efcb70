import type { Static } from 'typebox'
import type { NetworkRow } from './queries.ts'
import type { Network } from './schema.ts'

export function toNetwork(row: NetworkRow): Static<typeof Network> {
  return {
    id: row.id,
    coinType: row.coin_type,
    code: row.code,
    slug: row.slug,
    name: row.name,
    description: row.description,
    logoUri: row.logo_uri,
    explorerTxUrl: row.explorer_tx_url,
    explorerAddressUrl: row.explorer_address_url,
    type: row.type,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
