import type { FeesOfAsset, FeesOfKind, FeesOfNetwork, FeesOfPayer, FeesOfPeriod, FeesReport } from '@strongroom/sdk'
import { formatter } from '../../lib/formatter.ts'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/list-states.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { AssetAmounts, TokenName } from './breakdowns.tsx'
import type { Drilldown } from './drilldown.ts'
import { DrilldownLink, useShownReport } from './drilldown-link.tsx'
import { FeesExceptions, feeKindWord } from './fee-words.tsx'
import { amountsOf, formatCount } from './figures.tsx'
import { knownUsd } from './known-usd.ts'

/** The network fees that the ledger has, each figure with its operations. */
export function FeesAnswer({ answer }: { answer: FeesReport }) {
  const { summary, byNetwork, byAsset, byPayer, byKind, timeline, report } = answer
  if (summary.feesCount === 0) {
    return (
      <Empty>
        <p>{t('No network fee in this period. Choose a longer period or fewer filters.')}</p>
      </Empty>
    )
  }
  return (
    <>
      <Card title={t('Network fees')}>
        <Facts
          facts={[
            [t('In USD'), <Usd key="usd" value={usdOf(summary)} />],
            [t('In coins'), <AssetAmounts key="coins" assets={summary.feesByAsset} />],
            [t('Operations'), <FeesCount key="count" count={summary.feesCount} filters={{}} />],
            [t('Without a USD value'), <FeesExceptions key="gap" count={summary.feesWithoutUsdRate} />],
          ]}
        />
      </Card>
      <ByCoin title={t('By network')} rows={byNetwork} filters={({ network }) => ({ network })} />
      <ByCoin title={t('By moved token')} rows={byAsset} filters={({ tokenId }) => ({ tokenId })} />
      <Table
        title={t('By address that paid')}
        rows={byPayer}
        rowKey={({ addressId }) => addressId ?? ''}
        first={{
          id: 'payer',
          header: t('Address'),
          cell: ({ address, label }: FeesOfPayer) =>
            address === null ? (
              <span className="text-quiet">{t('An address that you do not see')}</span>
            ) : (
              <Address address={address} name={label} />
            ),
        }}
        filters={({ addressId }) => (addressId === null ? null : { feePayerIds: addressId })}
      />
      <Table
        title={t('By purpose of the transaction')}
        rows={byKind}
        rowKey={({ kind }) => kind}
        first={{ id: 'kind', header: t('Paid for'), cell: ({ kind }: FeesOfKind) => feeKindWord(kind) }}
        filters={({ kind }) => ({ feeKinds: kind })}
      />
      <Table
        title={t('Over time')}
        rows={timeline.filter(({ feesCount }) => feesCount > 0)}
        rowKey={({ periodStart }) => periodStart}
        first={{
          id: 'period',
          header: t('From'),
          cell: ({ periodStart }: FeesOfPeriod) => dayIn(periodStart, report.timezone, { dateStyle: 'medium' }),
        }}
        filters={({ periodStart, periodEnd }) => ({
          from: isoDay(periodStart, report.timezone),
          until: isoDay(lastInstantBefore(periodEnd), report.timezone),
        })}
      />
    </>
  )
}

type Figures = Pick<FeesOfKind, 'feesCount' | 'feesByAsset' | 'feesUsd' | 'feesWithoutUsdRate'>

type TableProps<Row> = {
  title: string
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** The column that names the row. */
  first: Column<Row>
  filters: (row: Row) => Drilldown | null
}

function Table<Row extends Figures>({ title, rows, rowKey, first, filters }: TableProps<Row>) {
  const columns: Column<Row>[] = [
    first,
    { id: 'coins', header: t('Network fees'), align: 'end', cell: (row) => <AssetAmounts assets={row.feesByAsset} /> },
    { id: 'usd', header: t('In USD'), align: 'end', cell: (row) => <Usd value={usdOf(row)} /> },
    countColumn(filters),
  ]
  return (
    <Card title={title}>
      <SmallTable caption={title} columns={columns} rows={rows} rowKey={rowKey} first={31} />
    </Card>
  )
}

type OfCoin = FeesOfNetwork | FeesOfAsset
type ByCoinProps = { title: string; rows: readonly OfCoin[]; filters: (row: OfCoin) => Drilldown }

function ByCoin({ title, rows, filters }: ByCoinProps) {
  const columns: Column<OfCoin>[] = [
    { id: 'token', header: t('Token'), cell: (row) => <TokenName {...row} /> },
    {
      id: 'fees',
      header: t('Network fees'),
      align: 'end',
      cell: (row) => <Amount decimal={row.fees} unit={'feeAsset' in row ? row.feeAsset : row.assetSymbol} />,
    },
    {
      id: 'usd',
      header: t('In USD'),
      align: 'end',
      cell: ({ feesUsd, fees }) => <Usd value={knownUsd(feesUsd, [fees])} />,
    },
    countColumn(filters),
  ]
  return (
    <Card title={title}>
      <SmallTable caption={title} columns={columns} rows={rows} rowKey={({ tokenId }) => tokenId} />
    </Card>
  )
}

function countColumn<Row extends { feesCount: number }>(filters: (row: Row) => Drilldown | null): Column<Row> {
  return {
    id: 'count',
    header: t('Operations'),
    align: 'end',
    cell: (row) => <FeesCount count={row.feesCount} filters={filters(row)} />,
  }
}

/** A number of fees, with a link to their operations. Where the date is not that of the booking, others would be listed with them. */
function FeesCount({ count, filters }: { count: number; filters: Drilldown | null }) {
  const { report, search } = useShownReport()
  const isAny = report.dateBasis === 'feeBookedAt' || search.feeKinds !== undefined || filters?.feeKinds !== undefined
  const more: Drilldown = isAny ? {} : { feeKinds: 'payment,replacement,cancellation,failure' }
  return <DrilldownLink filters={filters === null ? null : { ...more, ...filters }}>{formatCount(count)}</DrilldownLink>
}

const usdOf = ({ feesUsd, feesByAsset }: Pick<Figures, 'feesUsd' | 'feesByAsset'>) =>
  knownUsd(feesUsd, amountsOf(feesByAsset))

function dayIn(at: string, zone: string, style: Intl.DateTimeFormatOptions): string {
  return formatter(Intl.DateTimeFormat, { ...style, timeZone: zone }).format(new Date(at))
}

/** Returns the day in the form of the URL: 2026-01-31. */
function isoDay(at: string, zone: string): string {
  return new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: zone }).format(new Date(at))
}

function lastInstantBefore(at: string): string {
  return new Date(new Date(at).getTime() - 1).toISOString()
}
