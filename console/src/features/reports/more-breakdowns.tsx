import type {
  ActivityByAddressOwner,
  ActivityByCategory,
  ActivityByStatus,
  AssetBalance,
  ReportObservation,
} from '@strongroom/sdk'
import { formatUsd } from '../../lib/amounts.ts'
import { said, t } from '../../lib/language.ts'
import { readable } from '../../lib/readable.ts'
import { nameOf } from '../../lib/session.ts'
import { Amount, Usd } from '../../ui/amount.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { OperationStatus } from '../../ui/operation-status.tsx'
import { Card } from '../../ui/page.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { AssetAmounts, Fees, TokenName } from './breakdowns.tsx'
import { DrilldownLink, OperationsLink, useShownReport } from './drilldown-link.tsx'
import { amountsOf, formatCount } from './figures.tsx'
import { isZero, knownUsd } from './known-usd.ts'

export function ByStatus({ rows }: { rows: readonly ActivityByStatus[] }) {
  const columns: Column<ActivityByStatus>[] = [
    { id: 'status', header: t('Status'), cell: ({ status }) => <OperationStatus status={status} /> },
    { id: 'amounts', header: t('Amounts'), align: 'end', cell: (row) => <AssetAmounts assets={row.amountsByAsset} /> },
    {
      id: 'usd',
      header: t('In USD'),
      align: 'end',
      cell: (row) => <Usd value={knownUsd(row.usdValue, amountsOf(row.amountsByAsset))} />,
    },
    {
      id: 'count',
      header: t('Operations'),
      align: 'end',
      cell: ({ status, count }) => <DrilldownLink filters={{ statuses: status }}>{formatCount(count)}</DrilldownLink>,
    },
  ]
  return (
    <Card title={t('By status')}>
      <SmallTable caption={t('By status')} columns={columns} rows={rows} rowKey={({ status }) => status} />
    </Card>
  )
}

export function ByCategory({ rows, names }: { rows: readonly ActivityByCategory[]; names: (key: string) => string }) {
  const columns: Column<ActivityByCategory>[] = [
    {
      id: 'category',
      header: t('Category'),
      cell: ({ category }) =>
        category === null ? <span className="text-quiet">{t('Without a category')}</span> : names(category),
    },
    { id: 'in', header: t('In'), align: 'end', cell: (row) => <AssetAmounts assets={row.incomingByAsset} /> },
    { id: 'out', header: t('Out'), align: 'end', cell: (row) => <AssetAmounts assets={row.outgoingByAsset} /> },
    {
      id: 'usd',
      header: t('In USD'),
      align: 'end',
      cell: (row) => (
        <Usd value={knownUsd(row.usdValue, amountsOf([...row.incomingByAsset, ...row.outgoingByAsset]))} />
      ),
    },
    { id: 'fees', header: t('Network fees'), align: 'end', cell: (row) => <Fees {...row} /> },
    {
      id: 'count',
      header: t('Operations'),
      align: 'end',
      cell: ({ category, count }) => (
        <DrilldownLink filters={category === null ? null : { category }}>{formatCount(count)}</DrilldownLink>
      ),
    },
  ]
  return (
    <Card title={t('By category')}>
      <SmallTable caption={t('By category')} columns={columns} rows={rows} rowKey={({ category }) => category ?? ''} />
    </Card>
  )
}

export function ByOwner({ rows }: { rows: readonly ActivityByAddressOwner[] }) {
  const columns: Column<ActivityByAddressOwner>[] = [
    { id: 'owner', header: t('Owner'), cell: ({ owner, isMe }) => (isMe ? t('You') : nameOf(owner)) },
    { id: 'usd', header: t('Turnover'), align: 'end', cell: (row) => <Usd value={row.grossTurnoverUsd} /> },
    { id: 'count', header: t('Operations'), align: 'end', cell: (row) => formatCount(row.operationsCount) },
  ]
  return (
    <Card title={t('By owner of the addresses')}>
      <SmallTable
        caption={t('By owner of the addresses')}
        columns={columns}
        rows={rows}
        rowKey={({ ownerId }) => ownerId}
      />
    </Card>
  )
}

/** The opening balance, the movements and the closing balance, by the ledger. */
export function BalanceMovements({ rows }: { rows: readonly AssetBalance[] }) {
  const amount = (id: keyof AssetBalance, header: string): Column<AssetBalance> => ({
    id,
    header,
    align: 'end',
    cell: (row) => <Amount decimal={String(row[id])} unit={row.assetSymbol} />,
  })
  const columns: Column<AssetBalance>[] = [
    { id: 'token', header: t('Token'), cell: (row) => <TokenName {...row} /> },
    amount('openingBalance', t('Opening')),
    amount('incoming', t('In')),
    amount('outgoing', t('Out')),
    {
      id: 'fees',
      header: t('Network fees'),
      align: 'end',
      cell: ({ fees, feesUsd, assetSymbol }) => (
        <>
          <Amount decimal={fees} unit={assetSymbol} />
          {!isZero(fees) && <div className="text-[0.8125rem] text-quiet">{formatUsd(knownUsd(feesUsd, [fees]))}</div>}
        </>
      ),
    },
    amount('adjustments', t('Adjustments')),
    amount('closingBalance', t('Closing')),
  ]
  return (
    <Card title={t('Balances')}>
      <SmallTable caption={t('Balances')} columns={columns} rows={rows} rowKey={({ tokenId }) => tokenId} />
    </Card>
  )
}

const tones: Record<ReportObservation['severity'], Tone> = { info: 'neutral', warning: 'warn', critical: 'bad' }

/** Observations for the reader, each with its operations. */
export function Observations({ observations }: { observations: readonly ReportObservation[] }) {
  const { code } = useShownReport()
  const words = { info: t('Note'), warning: t('Warning'), critical: t('Critical') }
  if (observations.length === 0) return null
  return (
    <Card title={t('Unusual operations')}>
      <ul className="grid gap-3">
        {observations.map(({ code: kind, severity, title, description, drilldownFilters }, index) => (
          <li key={`${kind}-${index}`} className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
            <Badge tone={tones[severity]}>{words[severity]}</Badge>
            <div className="min-w-0 flex-1 basis-64">
              <p className="font-medium">{said(title)}</p>
              <p className="text-quiet [overflow-wrap:anywhere]">{said(readable(description))}</p>
            </div>
            <OperationsLink code={code} place={{ page: 'activity', search: drilldownFilters }}>
              {t('Show the operations')}
            </OperationsLink>
          </li>
        ))}
      </ul>
    </Card>
  )
}
