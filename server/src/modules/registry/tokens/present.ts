import type { Static } from 'typebox'
import { formatDecimal } from '../../../lib/money.ts'
import type { TokenRow } from './queries.ts'
import type { Token } from './schema.ts'

export function toToken(row: TokenRow): Static<typeof Token> {
  return {
    id: row.id,
    code: row.code,
    symbol: row.symbol,
    name: row.name,
    networkId: row.network_id,
    network: row.network_slug,
    contractAddress: row.contract_address,
    decimals: row.decimals,
    logoUri: row.logo_uri,
    enabled: row.enabled,
    dustLimit: row.dust_limit === null ? null : formatDecimal(row.dust_limit, row.decimals),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
