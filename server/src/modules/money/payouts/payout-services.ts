import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { ByMember } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { AppError } from '../../../lib/errors.ts'
import {
  type CoinAccount,
  expectFee,
  type FeeEstimates,
  feeKindOf,
  listCoins,
  type Score,
  scoreOrders,
  toFeeQuestion,
} from '../orders/ask-services.ts'
import type { Lacking } from '../orders/objections.ts'
import { findReplaced, type Leaving, leaveOut } from './leave-out.ts'
import { type LoadedRow, loadRows } from './payout-rows.ts'
import type { PayoutBody } from './schema.ts'

/**
 * Returns the amounts that a payout lacks for its network fees, by rows, looked up before its transaction, as `askServices`
 * does for an order. Empty where gas is not checked, and for rows that are refused for another reason.
 */
export async function findLacking(
  deps: Deps,
  estimates: FeeEstimates,
  body: PayoutBody,
  { member, now }: ByMember,
): Promise<(Lacking | null)[]> {
  if (!deps.config.checksGas) return []
  try {
    const rows = await loadRows(deps.db, body, { scope: visibleScopeOf(member), now })
    const releasedOf =
      body.replaces && leaveOut(await findReplaced(deps.db, body.replaces, { member, now }), rows).releasedOf
    return await findLackingOfRows(deps, estimates, rows, { vaultId: member.vault.id, now, releasedOf })
  } catch (error) {
    // The order itself reports the faults of its rows.
    if (error instanceof AppError) return []
    throw error
  }
}

/**
 * Returns the coin that the address of each row lacks for the fees of this row and the rows before, which all spend the coin of
 * the address. A fee without an estimate counts as zero.
 */
export async function findLackingOfRows(
  deps: Deps,
  estimates: FeeEstimates,
  rows: LoadedRow[],
  { vaultId, now, releasedOf }: { vaultId: string; now: Date; releasedOf: Leaving['releasedOf'] | undefined },
): Promise<(Lacking | null)[]> {
  const addressIds = rows.map(({ order }) => order.source.address_id)
  const coins = await listCoins(deps.db, vaultId, addressIds)
  const feeOf = new Map<string, bigint>()
  for (const [addressId, coin] of coins) {
    const released = releasedOf?.({ address_id: addressId, token_id: coin.id }) ?? 0n
    coins.set(addressId, { ...coin, available: (BigInt(coin.available) + released).toString() })
  }
  const judge = () => shortRows(rows, coins, (row) => feeOf.get(kindOf(row)) ?? 0n)
  for (const row of rows) {
    const feeKind = kindOf(row)
    if (feeOf.has(feeKind)) continue
    const suffices = (fee: bigint) => {
      feeOf.set(feeKind, fee)
      return judge().every((lacking) => lacking === null)
    }
    const expecting = { vaultId, feeKind, asked: toFeeQuestion(row.order), now, suffices }
    feeOf.set(feeKind, (await expectFee(deps, estimates, expecting)) ?? 0n)
  }
  return judge()
}

/** Returns the key of rows with the same fee, because all rows pay the usual level. */
const kindOf = ({ order: { source } }: LoadedRow): string => feeKindOf(source)

/** Returns the coin that the address of each row lacks after the fees of this row and the rows before; null when it lacks nothing. */
function shortRows(
  rows: LoadedRow[],
  coins: ReadonlyMap<string, CoinAccount>,
  feeOf: (row: LoadedRow) => bigint,
): (Lacking | null)[] {
  const rest = new Map([...coins].map(([addressId, { available }]) => [addressId, BigInt(available)]))
  return rows.map((row) => {
    const { source, amount } = row.order
    const coin = coins.get(source.address_id)
    if (coin === undefined) return null
    const left = rest.get(source.address_id)! - feeOf(row) - (coin.id === source.token_id ? amount : 0n)
    rest.set(source.address_id, left)
    return left < 0n ? { missing: -left, coin } : null
  })
}

/** Returns the scores of the rows of a payout that is about to be ordered or previewed, as `scoreOrder` does for an order. */
export function scoreRows(deps: Deps, body: PayoutBody, by: ByMember): Promise<readonly Score[]> {
  return scoreOrders(deps, by, async () => {
    const rows = await loadRows(deps.db, body, { scope: visibleScopeOf(by.member), now: by.now })
    return rows.map(({ order }) => order)
  })
}
