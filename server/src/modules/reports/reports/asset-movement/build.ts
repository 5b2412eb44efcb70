import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db, Trx } from '../../../../db/client.ts'
import { formatDecimal } from '../../../../lib/money.ts'
import { isReportedToken, reportedAddressIds } from '../account-differences.ts'
import { composeActivity, readFacts } from '../activity/build.ts'
import { type Asset, compareText, nameAsset } from '../activity.ts'
import type { Interval } from '../buckets.ts'
import { findAssets } from '../details.ts'
import type { OperationFilter } from '../operation-filter.ts'
import { type ActivityRequest, inSnapshot } from '../request.ts'
import type { AssetBalance, AssetMovementReport } from './schema.ts'

/** An activity report with opening and closing balances, all of one snapshot. */
export async function buildAssetMovement(
  db: Db,
  request: ActivityRequest,
): Promise<Static<typeof AssetMovementReport>> {
  return inSnapshot(db, async (trx) => {
    const facts = await readFacts(trx, request)
    const balances = await listBalances(trx, request.filter, request.interval)
    const assets = await findAssets(
      trx,
      balances.map(({ tokenId }) => tokenId),
    )
    return { ...composeActivity(request, facts), balances: toBalances(balances, assets) }
  })
}

/** Balances in token units, in the order of asset codes. */
function toBalances(balances: readonly Balance[], assets: ReadonlyMap<string, Asset>): Static<typeof AssetBalance>[] {
  return balances
    .map(({ tokenId, ...raw }) => {
      const asset = assets.get(tokenId)!
      const amount = (value: bigint) => formatDecimal(value, asset.decimals)
      return {
        ...nameAsset(asset),
        openingBalance: amount(raw.opening),
        incoming: amount(raw.incoming),
        outgoing: amount(raw.outgoing),
        fees: amount(raw.fees),
        adjustments: amount(raw.adjustments),
        closingBalance: amount(raw.closing),
      }
    })
    .sort((a, b) => compareText(a.assetCode, b.assetCode) || compareText(a.tokenId, b.tokenId))
}

/** The balance of one token on the addresses of a report; raw amounts, available and reserved together. */
export type Balance = {
  tokenId: string
  opening: bigint
  incoming: bigint
  outgoing: bigint
  fees: bigint
  adjustments: bigint
  closing: bigint
}

type BalanceRow = Record<Exclude<keyof Balance, 'tokenId'>, string> & { tokenId: string }

/** Deposits, less what was corrected and what the chain took back of them. */
const depositKinds = sql.join(['deposit', 'correct', 'orphan', 'orphan_return', 'cover'].map((kind) => sql.lit(kind)))

/**
 * Balances of the addresses in the scope of a report at the beginning and at the end of its interval, and the movements in
 * between, from ledger entries by their own date. Filters by address, folder, token and network apply; those of
 * operations do not, because a balance includes all operations.
 */
export async function listBalances(trx: Trx, filter: OperationFilter, { from, to }: Interval): Promise<Balance[]> {
  const { vaultId } = filter.scope
  const within = sql`m.created_at >= ${from} and m.created_at < ${to}`
  const { rows } = await sql<BalanceRow>`
    with accounts as materialized (
      select l.number, l.token_id from ledger_accounts l
      where l.vault_id = ${vaultId} and l.address_id <> '' and l.address_id in (${reportedAddressIds(filter)})
        and ${isReportedToken(filter, 'l.token_id')}
    ), moves as (
      select a.token_id, e.kind, e.created_at, -e.amount as delta
      from ledger_entries e join accounts a on a.number = e.debit_account where e.vault_id = ${vaultId}
      union all
      select a.token_id, e.kind, e.created_at, e.amount
      from ledger_entries e join accounts a on a.number = e.credit_account where e.vault_id = ${vaultId}
    )
    select m.token_id as "tokenId",
      coalesce(sum(m.delta) filter (where m.created_at < ${from}), 0) as opening,
      coalesce(sum(m.delta) filter (where ${within} and m.kind in (${depositKinds})), 0) as incoming,
      coalesce(-sum(m.delta) filter (where ${within} and m.kind = 'settle'), 0) as outgoing,
      coalesce(-sum(m.delta) filter (where ${within} and m.kind = 'fee'), 0) as fees,
      coalesce(sum(m.delta) filter (where ${within} and m.kind = 'adjust'), 0) as adjustments,
      coalesce(sum(m.delta), 0) as closing
    from moves m where m.created_at < ${to} group by m.token_id`.execute(trx)
  return rows.map(({ tokenId, ...amounts }) => ({
    tokenId,
    opening: BigInt(amounts.opening),
    incoming: BigInt(amounts.incoming),
    outgoing: BigInt(amounts.outgoing),
    fees: BigInt(amounts.fees),
    adjustments: BigInt(amounts.adjustments),
    closing: BigInt(amounts.closing),
  }))
}
