import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { Closed, described, Enum, Id, Nullable, Ref, Timestamp } from '../../../http/schema.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { type FeesRow, toFees } from '../activity/groups.ts'
import { dayOf } from '../activity/sum-operations.ts'
import { feeFigures, sumFees } from '../blocks/fees.ts'
import { compareText, type Fees, nameAsset } from '../blocks/flows.ts'
import { cutInterval, type GroupBy, groupings } from '../requests/buckets.ts'
import { type Asset, coinIn, type Details, findDetails } from '../requests/details.ts'
import { type FeeKind, feeKind, feeKinds, feePayer } from '../requests/fee-kinds.ts'
import { isAmong, isReported, type OperationFilter } from '../requests/operation-filter.ts'
import { avoiding, inSnapshot, nameFew } from '../requests/reading.ts'
import { checkSteps, type ReportRequest, readReportRequest, toHeader } from '../requests/report-request.ts'
import { Amount, asset, BreakdownIgnored, Count, commonQuery, filters, ReportHeader, Text } from '../requests/schema.ts'

export const FeesQuery = Closed({
  ...commonQuery,
  ...filters,
  groupBy: Type.Optional(Enum(groupings)),
  breakdownBy: BreakdownIgnored,
})

const figures = {
  feesCount: described(Count, 'Number of operations whose network fee was booked.'),
  ...feeFigures,
  feesWithoutUsdRate: described(Count, 'Number of these fees without a USD value, which `feesUsd` leaves out.'),
}
/** The figures of one network, whose fees are all in one coin. */
const figuresOfCoin = {
  feesCount: figures.feesCount,
  fees: described(Amount, 'Sum of the fees, in units of the coin of the network.'),
  feesUsd: figures.feesUsd,
  feesWithoutUsdRate: figures.feesWithoutUsdRate,
}

export const FeesOfNetwork = Closed(
  { ...asset, ...figuresOfCoin },
  { $id: 'FeesOfNetwork', description: 'The fees that were paid to one network, in its coin.' },
)

export const FeesOfAsset = Closed(
  {
    ...asset,
    feeAsset: described(Text('ETH'), 'Code of the coin of the network, in which the fees were paid.'),
    ...figuresOfCoin,
  },
  { $id: 'FeesOfAsset', description: 'The fees of the transfers of one token.' },
)

export const FeesOfPayer = Closed(
  {
    addressId: described(
      Nullable(Id),
      'Identifier of the address of the vault that paid; null for the fees of all addresses that the caller does not see.',
    ),
    address: Nullable(Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')),
    label: Nullable(Text('Operations')),
    ...figures,
  },
  { $id: 'FeesOfPayer' },
)

export const FeesOfKind = Closed(
  {
    kind: described(
      Enum(feeKinds),
      'Purpose of the fees: payments, payments whose transaction replaced another, cancellations on chain, or transactions ' +
        'that failed.',
    ),
    ...figures,
  },
  { $id: 'FeesOfKind' },
)

export const FeesOfPeriod = Closed(
  {
    periodStart: described(Timestamp, 'Start of the period, included, in UTC.'),
    periodEnd: described(Timestamp, 'End of the period, excluded, in UTC.'),
    ...figures,
  },
  { $id: 'FeesOfPeriod' },
)

export const FeesSummary = Closed(figures, { $id: 'FeesSummary', description: 'Totals of all fees of the report.' })

export const FeesReport = Closed(
  {
    report: Ref(ReportHeader),
    summary: Ref(FeesSummary),
    byNetwork: described(Type.Array(Ref(FeesOfNetwork)), 'Fees per network.'),
    byAsset: described(Type.Array(Ref(FeesOfAsset)), 'Fees per token that the transfers moved.'),
    byPayer: described(Type.Array(Ref(FeesOfPayer)), 'Fees per address of the vault that paid them.'),
    byKind: described(Type.Array(Ref(FeesOfKind)), 'Fees by purpose.'),
    timeline: described(
      Type.Array(Ref(FeesOfPeriod)),
      'Fees per day, week or month; periods without fees are included.',
    ),
  },
  { $id: 'FeesReport' },
)

type FeesRequest = ReportRequest & { groupBy: GroupBy }

/** Reads the parameters. Without `dateBasis`, a fee has the date on which it was booked. */
export function readFeesRequest(type: string, member: Member, query: Static<typeof FeesQuery>, now: Date): FeesRequest {
  const { groupBy = 'day', dateBasis = 'feeBookedAt' } = query
  const request = readReportRequest(type, member, { ...query, dateBasis }, now)
  checkSteps(groupBy, request)
  return { ...request, groupBy }
}

/** Reports booked network fees by network, token, payer, kind and time. */
export async function buildFees(db: Db, ordered: FeesRequest): Promise<Static<typeof FeesReport>> {
  const calendar = cutInterval(ordered.filter.interval, ordered.timezone, ordered.groupBy)
  return inSnapshot(db, async (trx) => {
    const request = await nameFew(trx, ordered)
    const days = calendar.days.map(({ start }) => start)
    const groups = await listFees(trx, request.filter, days)
    const payers = ofLevel(groups, 'payer').flatMap(({ payer }) => (payer === null ? [] : [payer]))
    const details = await findDetails(trx, request.filter, {
      assets: [...new Set(groups.map(({ tokenId }) => tokenId))],
      counterparties: [],
      addresses: [...new Set(payers)],
    })
    const { buckets, bucketOfDay } = calendar
    const periods = byKey(ofLevel(groups, 'day'), ({ day }) => bucketOfDay[day!]!)
    const figures = figuresWith(details)
    return {
      report: toHeader(ordered),
      summary: figures(ofLevel(groups, 'token')),
      ...breakDownByCoin(ofLevel(groups, 'token'), details),
      byPayer: sorted(byKey(ofLevel(groups, 'payer'), ({ payer }) => payer)).map(([addressId, of]) => {
        const { address = null, label = null } = details.addresses.get(addressId ?? '') ?? {}
        return { addressId, address, label, ...figures(of) }
      }),
      byKind: feeKinds.flatMap((kind) => {
        const of = ofLevel(groups, 'kind').filter((group) => group.kind === kind)
        return of.length === 0 ? [] : [{ kind, ...figures(of) }]
      }),
      timeline: buckets.map(({ start, end }, bucket) => ({
        periodStart: start.toISOString(),
        periodEnd: end.toISOString(),
        ...figures(periods.get(bucket) ?? []),
      })),
    }
  })
}

/** The properties by which fees are summed, in addition to the token. */
type Level = 'token' | 'day' | 'payer' | 'kind'
/** The value of `grouping(day, payer, kind)`, which has a bit for each property that the sum ignores. */
const levels: Readonly<Record<Level, number>> = { token: 0b111, day: 0b011, payer: 0b101, kind: 0b110 }

type FeeGroup = Fees & {
  tokenId: string
  level: number
  day: number | null
  payer: string | null
  kind: FeeKind | null
  count: number
  rated: number
}

const ofLevel = (groups: readonly FeeGroup[], level: Level) => groups.filter((group) => group.level === levels[level])

async function listFees(trx: Trx, filter: OperationFilter, dayStarts: readonly Date[]): Promise<FeeGroup[]> {
  return avoiding(trx, ['nestloop'], async () => {
    const { rows } = await sql<Omit<FeeGroup, keyof Fees> & FeesRow>`
      with booked as materialized (
        select o.token_id, ${dayOf(filter, dayStarts)} as day, ${feePayer(filter.scope)} as payer, ${feeKind} as kind,
          o.fee_amount, o.fee_usd_value
        from operations o join transfers t on t.vault_id = o.vault_id and t.id = o.id and ${isAmong(filter, 't.id')}
        where ${isReported(filter)} and o.fee_booked_at is not null
      )
      select token_id as "tokenId", day, payer, kind, grouping(day, payer, kind) as level, count(*)::float8 as count,
        sum(fee_amount) as fees, sum(fee_usd_value) as "feesUsd", count(fee_usd_value)::float8 as rated
      from booked group by grouping sets ((token_id), (token_id, day), (token_id, payer), (token_id, kind))`.execute(
      trx,
    )
    return rows.map((row) => ({ ...row, ...toFees(row) }))
  })
}

function byKey<Key>(groups: readonly FeeGroup[], keyOf: (group: FeeGroup) => Key): Map<Key, FeeGroup[]> {
  const keyed = new Map<Key, FeeGroup[]>()
  for (const group of groups) keyed.set(keyOf(group), [...(keyed.get(keyOf(group)) ?? []), group])
  return keyed
}

/** Sorts by value, the largest first, then by the number of fees, then by key. */
function sorted<Key extends string | null>(keyed: Map<Key, FeeGroup[]>): [Key, FeeGroup[]][] {
  const centsOf = (groups: FeeGroup[]) => groups.reduce((sum, { feesUsd }) => sum + feesUsd, 0n)
  return [...keyed].sort(([keyA, a], [keyB, b]) => {
    const difference = centsOf(b) - centsOf(a)
    if (difference !== 0n) return difference < 0n ? -1 : 1
    return countOf(b) - countOf(a) || compareText(keyA ?? '', keyB ?? '')
  })
}

const countOf = (groups: readonly FeeGroup[]) => groups.reduce((sum, { count }) => sum + count, 0)
const withoutRateOf = (groups: readonly FeeGroup[]) => groups.reduce((sum, { count, rated }) => sum + count - rated, 0)

const figuresWith =
  ({ assets }: Pick<Details, 'assets'>) =>
  (groups: readonly FeeGroup[]) => ({
    feesCount: countOf(groups),
    ...sumFees(groups, { assets, coinOf: coinIn(assets) }),
    feesWithoutUsdRate: withoutRateOf(groups),
  })

/** Returns the entries per network and per token, whose fees are in one coin each. */
function breakDownByCoin(groups: readonly FeeGroup[], details: Details) {
  const coinOf = coinIn(details.assets)
  const figures = figuresWith(details)
  const ofCoin = (coin: Asset, of: readonly FeeGroup[]) => {
    const { feesByAsset: _, feesUsd, ...counts } = figures(of)
    const raw = of.reduce((sum, { fees }) => sum + fees, 0n)
    return { ...counts, fees: formatDecimal(raw, coin.decimals), feesUsd }
  }
  return {
    byNetwork: sorted(byKey(groups, ({ tokenId }) => coinOf(tokenId)!.tokenId)).map(([coinId, of]) => {
      const coin = details.assets.get(coinId)!
      return { ...nameAsset(coin), ...ofCoin(coin, of) }
    }),
    byAsset: sorted(byKey(groups, ({ tokenId }) => tokenId)).map(([tokenId, of]) => {
      const coin = coinOf(tokenId)!
      return { ...nameAsset(details.assets.get(tokenId)!), feeAsset: coin.assetCode, ...ofCoin(coin, of) }
    }),
  }
}
