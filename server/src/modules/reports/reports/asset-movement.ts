import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import { Closed, described, Ref } from '../../../http/schema.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { composeActivity, readFacts } from '../activity/activity-report.ts'
import type { ActivityRequest } from '../activity/activity-request.ts'
import { activityBlocks } from '../activity/schema.ts'
import { feeFigures } from '../blocks/fees.ts'
import { compareAssets, nameAsset } from '../blocks/flows.ts'
import { isReportedToken, reportedAddressIds } from '../requests/account-differences.ts'
import { findAssets } from '../requests/details.ts'
import { centsOf, formatUsd } from '../requests/exact.ts'
import type { OperationFilter } from '../requests/operation-filter.ts'
import { inSnapshot } from '../requests/reading.ts'
import { Amount, asset } from '../requests/schema.ts'

/** The balances and movements of available and reserved together. */
const movements = {
  openingBalance: Amount,
  incoming: Amount,
  outgoing: Amount,
  fees: Amount,
  adjustments: Amount,
  closingBalance: Amount,
}

export const AssetBalance = Closed(
  {
    ...asset,
    ...movements,
    feesUsd: feeFigures.feesUsd,
  },
  { $id: 'AssetBalance' },
)

export const AssetMovementReport = Closed(
  {
    ...activityBlocks,
    balances: described(
      Type.Array(Ref(AssetBalance)),
      'Opening and closing balance and what lies between them, per token.',
    ),
  },
  { $id: 'AssetMovementReport' },
)

/** Builds an activity report with opening and closing balances, all of one snapshot. */
export async function buildAssetMovement(
  db: Db,
  request: ActivityRequest,
): Promise<Static<typeof AssetMovementReport>> {
  return inSnapshot(db, async (trx) => {
    const facts = await readFacts(trx, request)
    return { ...composeActivity(request, facts), balances: await listBalances(trx, request.filter) }
  })
}

/** Deposits, less corrections and the amounts that the chain took back. */
const depositKinds = sql.join(['deposit', 'correct', 'orphan', 'orphan_return', 'cover'].map((kind) => sql.lit(kind)))

/**
 * Returns balances of the addresses in the scope of a report at the beginning and at the end of its interval, and the movements
 * in between, from ledger entries by their own date, in the order of asset codes. Filters by address, folder, token and network
 * apply; filters of operations do not, because a balance includes all operations.
 */
async function listBalances(trx: Trx, filter: OperationFilter): Promise<Static<typeof AssetBalance>[]> {
  const { scope, interval } = filter
  const { from, to } = interval
  const { vaultId } = scope
  const within = (alias: string) =>
    sql`${sql.ref(`${alias}.created_at`)} >= ${from} and ${sql.ref(`${alias}.created_at`)} < ${to}`
  const { rows } = await sql<Record<'tokenId' | keyof typeof movements, string> & { feesUsd: string | null }>`
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
    ), fees as (
      select a.token_id, sum(o.fee_usd_value) as usd
      from ledger_entries e join accounts a on a.number = e.debit_account
      join operations o on o.vault_id = e.vault_id and o.id = e.operation_id
      where e.vault_id = ${vaultId} and e.kind = 'fee' and ${within('e')} group by a.token_id
    )
    select m.token_id as "tokenId",
      coalesce(sum(m.delta) filter (where m.created_at < ${from}), 0) as "openingBalance",
      coalesce(sum(m.delta) filter (where ${within('m')} and m.kind in (${depositKinds})), 0) as incoming,
      coalesce(-sum(m.delta) filter (where ${within('m')} and m.kind = 'settle'), 0) as outgoing,
      coalesce(-sum(m.delta) filter (where ${within('m')} and m.kind = 'fee'), 0) as fees,
      coalesce(sum(m.delta) filter (where ${within('m')} and m.kind = 'adjust'), 0) as adjustments,
      coalesce(sum(m.delta), 0) as "closingBalance",
      (select usd from fees where fees.token_id = m.token_id) as "feesUsd"
    from moves m where m.created_at < ${to} group by m.token_id`.execute(trx)
  const ids = rows.map(({ tokenId }) => tokenId)
  const assets = await findAssets(trx, ids)
  return rows
    .map(({ tokenId, feesUsd, ...amounts }) => {
      const asset = assets.get(tokenId)!
      const inUnits = Object.entries(amounts).map(([name, raw]) => [name, formatDecimal(raw, asset.decimals)])
      const values = { ...(Object.fromEntries(inUnits) as typeof amounts), feesUsd: formatUsd(centsOf(feesUsd)) }
      return { ...nameAsset(asset), ...values }
    })
    .sort(compareAssets)
}
