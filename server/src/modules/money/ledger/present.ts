import type { Static } from 'typebox'
import type { Position } from '../../../lib/cursor.ts'
import { idOfSequence } from '../../../lib/ids.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { type Holding, sumOfHoldings, usdOfHolding } from './holdings.ts'
import type { AccountRow, AdjustmentRow, StatementAccount, StatementRow, TotalRow } from './queries.ts'
import type { Adjustment, Balances, LedgerEntry, PastBalance } from './schema.ts'

type Total = Static<typeof Balances>['totals'][number]
type Account = NonNullable<Static<typeof Balances>['accounts']>[number]

export function toTotal(row: TotalRow): Total {
  const { token, available, reserved, exposure } = row
  return {
    token,
    available,
    availableDecimal: formatDecimal(available, token.decimals),
    reserved,
    reservedDecimal: formatDecimal(reserved, token.decimals),
    exposure,
    exposureDecimal: formatDecimal(exposure, token.decimals),
    usdValue: usdOfHolding(holdingOf(row)),
  }
}

const holdingOf = ({ available, reserved, token: { decimals }, usd_rate }: TotalRow): Holding => ({
  raw: BigInt(available) + BigInt(reserved),
  decimals,
  usdRate: usd_rate,
})

/** Returns the USD value of the totals that have a rate. */
export function toUsdTotal(rows: TotalRow[]): { usdValue: string | null; usdComplete: boolean } {
  const holdings = rows.map(holdingOf)
  const rated = holdings.filter((holding) => usdOfHolding(holding) !== null)
  const isComplete = rated.length === holdings.length
  return { usdValue: rated.length === 0 && !isComplete ? null : sumOfHoldings(rated), usdComplete: isComplete }
}

export function toAccount(row: AccountRow): Account {
  const { id, purpose, balance, exposure, code, symbol, decimals } = row
  return {
    id,
    purpose,
    balance,
    balanceDecimal: formatDecimal(balance, decimals),
    exposure,
    exposureDecimal: formatDecimal(exposure, decimals),
    token: { id: row.token_id, code, symbol, decimals },
    address: row.address_id === null ? null : { id: row.address_id, address: row.address!, label: row.label },
  }
}

/** Returns the id of an entry, which is derived from its time and sequence because entries have no id column. */
const entryId = (row: StatementRow): string => idOfSequence(row.created_at, BigInt(row.sequence))

export const positionOf = (row: StatementRow): Position => ({ createdAt: row.created_at, id: entryId(row) })

export function toEntry(row: StatementRow, account: StatementAccount): Static<typeof LedgerEntry> {
  return {
    id: entryId(row),
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
  { addressId, tokenId, purpose, code, decimals }: StatementAccount,
): Static<typeof PastBalance> {
  const balance = newest?.balance ?? '0'
  return {
    addressId,
    tokenId,
    asset: code,
    purpose,
    at: at.toISOString(),
    balance,
    balanceDecimal: formatDecimal(balance, decimals),
    entryId: newest === null ? null : entryId(newest),
  }
}

export const toAdjustment = (row: AdjustmentRow): Static<typeof Adjustment> => ({
  id: row.id,
  vaultId: row.vault_id,
  addressId: row.address_id,
  tokenId: row.token_id,
  amount: row.amount,
  amountDecimal: formatDecimal(BigInt(row.amount), row.decimals),
  address: row.address,
  asset: row.code,
  reason: row.reason,
  isAgreed: row.is_agreed,
  createdById: row.created_by_id,
  createdBy: row.created_by,
  createdAt: row.created_at.toISOString(),
})
/** Returns an amount of a token, in raw units, in the form for people. */
export function toAssetAmount(raw: bigint | string, { code, decimals }: { code: string; decimals: number }) {
  return { amount: raw.toString(), amountDecimal: formatDecimal(raw, decimals), asset: code }
}
