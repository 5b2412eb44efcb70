import { idOfSequence } from '../../../lib/ids.ts'
import { formatDecimal } from '../../../lib/money.ts'
import type { AccountRow, StatementRow, TotalRow } from './queries.ts'

export function toTotal(row: TotalRow) {
  return {
    token: { code: row.code, symbol: row.symbol, decimals: row.decimals },
    available: row.available,
    availableDecimal: formatDecimal(row.available, row.decimals),
    reserved: row.reserved,
    reservedDecimal: formatDecimal(row.reserved, row.decimals),
  }
}

export function toAccount(row: AccountRow) {
  return {
    id: row.id,
    purpose: row.purpose,
    balance: row.balance,
    balanceDecimal: formatDecimal(row.balance, row.decimals),
    token: { id: row.token_id, code: row.token_code, symbol: row.token_symbol, decimals: row.decimals },
    address: row.address_id === null ? null : { id: row.address_id, address: row.address!, label: row.label },
  }
}

type StatementAccount = { tokenId: string; purpose: 'available' | 'reserved'; code: string; decimals: number }

export function toEntry(row: StatementRow, account: StatementAccount) {
  return {
    id: idOfSequence(row.created_at, BigInt(row.sequence)),
    kind: row.kind,
    operationId: row.operation_id,
    purpose: account.purpose,
    tokenId: account.tokenId,
    asset: account.code,
    amount: row.amount,
    amountDecimal: formatDecimal(row.amount, account.decimals),
    balance: row.balance,
    balanceDecimal: formatDecimal(row.balance, account.decimals),
    createdAt: row.created_at.toISOString(),
  }
}

export function toPastBalance(
  newest: StatementRow | null,
  at: Date,
  { addressId, tokenId, purpose, code, decimals }: StatementAccount & { addressId: string },
) {
  const balance = newest?.balance ?? '0'
  return {
    addressId,
    tokenId,
    asset: code,
    purpose,
    at: at.toISOString(),
    balance,
    balanceDecimal: formatDecimal(balance, decimals),
    entryId: newest === null ? null : idOfSequence(newest.created_at, BigInt(newest.sequence)),
  }
}

type AdjustmentRow = {
  id: string
  vaultId: string
  addressId: string
  tokenId: string
  amount: bigint
  decimals: number
  reason: string
  createdById: string
  createdAt: Date
}

export function toAdjustment({ decimals, ...row }: AdjustmentRow) {
  return {
    ...row,
    amount: row.amount.toString(),
    amountDecimal: formatDecimal(row.amount, decimals),
    createdAt: row.createdAt.toISOString(),
  }
}
