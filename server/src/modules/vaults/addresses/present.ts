import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import { formatDecimal } from '../../../lib/money.ts'
import type { AddressBalanceRow, AddressWithBalances } from './queries.ts'
import type { Address } from './schema.ts'

/** Returns the address as the member sees it. The scope of the query has decided that they may see it. */
export function toAddress(row: AddressWithBalances, member: Member): Static<typeof Address> {
  const isOwner = row.owner_id === member.userId
  const balance = totalOf(row.balances.find(({ token_id }) => token_id === row.token_id))
  return {
    id: row.id,
    address: row.address,
    derivationPath: row.derivation_path,
    network: row.network_slug,
    pathIndex: Number(row.path_index),
    segmentsJson: row.segments as Record<string, number>,
    label: row.label,
    description: row.description,
    tagsJson: row.tags,
    logoUri: row.logo_uri,
    color: row.color,
    emoji: row.emoji,
    balance: balance.toString(),
    balances: row.balances.map(toBalance),
    tokenId: row.token_id,
    asset: row.token_code,
    assetName: row.token_name,
    assetSymbol: row.token_symbol,
    balanceDecimal: formatDecimal(balance, row.token_decimals ?? 0),
    createdAt: row.created_at.toISOString(),
    owner: {
      id: row.owner_id,
      name: row.owner_name,
      username: row.owner_username,
      image: row.owner_image,
      color: row.owner_color,
      emoji: row.owner_emoji,
    },
    access: { isOwner, isAdmin: member.isAdmin, canView: true, canTransfer: row.can_transfer },
  }
}

function totalOf(balance: AddressBalanceRow | undefined): bigint {
  return balance === undefined ? 0n : BigInt(balance.available) + BigInt(balance.reserved)
}

function toBalance(row: AddressBalanceRow): Static<typeof Address>['balances'][number] {
  return {
    tokenId: row.token_id,
    asset: row.code,
    symbol: row.symbol,
    decimals: row.decimals,
    available: row.available,
    availableDecimal: formatDecimal(row.available, row.decimals),
    reserved: row.reserved,
    reservedDecimal: formatDecimal(row.reserved, row.decimals),
    exposure: row.exposure,
    exposureDecimal: formatDecimal(row.exposure, row.decimals),
  }
}
