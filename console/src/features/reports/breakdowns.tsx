import type { ActivityByAsset, ActivityByCounterparty, ActivityByOwnAddress, AssetAmount } from '@strongroom/sdk'
import { formatUsd } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Card } from '../../ui/page.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import type { Drilldown } from './drilldown.ts'
import { DrilldownLink } from './drilldown-link.tsx'
import { amountsOf, formatCount } from './figures.tsx'
import { isZero, knownUsd } from './known-usd.ts'

/** Amounts of several tokens below each other. */
export function AssetAmounts({ assets }: { assets: readonly AssetAmount[] }) {
  if (assets.length === 0) return <span className="text-quiet">–</span>
  return (
    <ul>
      {assets.map(({ tokenId, amount, assetSymbol }) => (
        <li key={tokenId}>
          <Amount decimal={amount} unit={assetSymbol} className="md:whitespace-nowrap" />
        </li>
      ))}
    </ul>
  )
}

type Sums = { incomingByAsset: AssetAmount[]; outgoingByAsset: AssetAmount[]; operationsCount: number }

/**
 * Returns the columns that breakdowns share: incoming and outgoing amounts, the turnover in USD, and the number of
 * operations.
 */
function sumColumns<Row extends Sums & { grossTurnoverUsd: string }>(
  filters: (row: Row) => Drilldown | null,
): Column<Row>[] {
  return [
    { id: 'in', header: t('In'), align: 'end', cell: (row) => <AssetAmounts assets={row.incomingByAsset} /> },
    { id: 'out', header: t('Out'), align: 'end', cell: (row) => <AssetAmounts assets={row.outgoingByAsset} /> },
    {
      id: 'turnover',
      header: t('Turnover'),
      align: 'end',
      cell: (row) => (
        <Usd value={knownUsd(row.grossTurnoverUsd, amountsOf([...row.incomingByAsset, ...row.outgoingByAsset]))} />
      ),
    },
    {
      id: 'count',
      header: t('Operations'),
      align: 'end',
      cell: (row) => <DrilldownLink filters={filters(row)}>{formatCount(row.operationsCount)}</DrilldownLink>,
    },
  ]
}

export function ByAsset({ rows }: { rows: readonly ActivityByAsset[] }) {
  const amount = (row: ActivityByAsset, decimal: string | null) =>
    decimal === null ? '–' : <Amount decimal={decimal} unit={row.assetSymbol} />
  const columns: Column<ActivityByAsset>[] = [
    { id: 'token', header: t('Token'), cell: (row) => <TokenName {...row} /> },
    { id: 'in', header: t('In'), align: 'end', cell: (row) => amount(row, row.incoming) },
    { id: 'out', header: t('Out'), align: 'end', cell: (row) => amount(row, row.outgoing) },
    { id: 'net', header: t('Net'), align: 'end', cell: (row) => amount(row, row.netFlow) },
    {
      id: 'turnover',
      header: t('Turnover'),
      align: 'end',
      cell: (row) => <Usd value={knownUsd(row.grossTurnoverUsd, [row.incoming, row.outgoing])} />,
    },
    { id: 'fees', header: t('Network fees'), align: 'end', cell: (row) => <FeesOfToken {...row} /> },
    { id: 'median', header: t('Median'), align: 'end', cell: (row) => amount(row, row.medianAmount) },
    {
      id: 'count',
      header: t('Operations'),
      align: 'end',
      cell: (row) => (
        <DrilldownLink filters={{ tokenId: row.tokenId }}>{formatCount(row.operationsCount)}</DrilldownLink>
      ),
    },
  ]
  return (
    <Card title={t('By token')}>
      <SmallTable caption={t('By token')} columns={columns} rows={rows} rowKey={({ tokenId }) => tokenId} />
    </Card>
  )
}

function FeesOfToken({ fees, feeAsset, feesUsd }: ActivityByAsset) {
  if (feeAsset === null || isZero(fees)) return <span className="text-quiet">–</span>
  return (
    <>
      <Amount decimal={fees} unit={feeAsset} />
      <div className="text-[0.8125rem] text-quiet">{formatUsd(knownUsd(feesUsd, [fees]))}</div>
    </>
  )
}

/** Network fees of several coins below each other, with their value. */
export function Fees({ feesByAsset, feesUsd }: { feesByAsset: readonly AssetAmount[]; feesUsd: string }) {
  return (
    <>
      <AssetAmounts assets={feesByAsset} />
      {feesByAsset.length > 0 && (
        <div className="text-[0.8125rem] text-quiet">{formatUsd(knownUsd(feesUsd, amountsOf(feesByAsset)))}</div>
      )}
    </>
  )
}

export function TokenName({ assetSymbol, network }: { assetSymbol: string; network: string }) {
  return (
    <>
      <span className="font-medium">{assetSymbol}</span> <span className="text-quiet">{network}</span>
    </>
  )
}

export function ByCounterparty({ rows }: { rows: readonly ActivityByCounterparty[] }) {
  const columns: Column<ActivityByCounterparty>[] = [
    {
      id: 'name',
      header: t('Counterparty'),
      cell: ({ name }) => name ?? <span className="text-quiet">{t('Not in the address book')}</span>,
    },
    ...sumColumns<ActivityByCounterparty>(({ counterpartyId }) =>
      counterpartyId === null ? null : { counterpartyId },
    ),
  ]
  return (
    <Card title={t('By counterparty')}>
      <SmallTable
        caption={t('By counterparty')}
        columns={columns}
        rows={rows}
        rowKey={({ counterpartyId }) => counterpartyId ?? ''}
      />
    </Card>
  )
}

export function ByOwnAddress({ rows }: { rows: readonly ActivityByOwnAddress[] }) {
  const columns: Column<ActivityByOwnAddress>[] = [
    { id: 'address', header: t('Address'), cell: ({ address, label }) => <Address address={address} name={label} /> },
    ...sumColumns<ActivityByOwnAddress>(({ addressId }) => ({ addressId })),
  ]
  return (
    <Card title={t('By address of the vault')}>
      <SmallTable
        caption={t('By address of the vault')}
        columns={columns}
        rows={rows}
        rowKey={({ addressId }) => addressId}
      />
    </Card>
  )
}
