import type { CategoryColumn, OperationsReport, ReportedOperation } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { formatTime, formatTimeInFull } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import { type Column, DataTable, type More } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/list-states.tsx'
import { OperationStatus } from '../../ui/operation-status.tsx'
import { Card } from '../../ui/page.tsx'
import { operationPath, useShownReport } from './drilldown-link.tsx'

/** Every operation with the values of its categories. */
export function Operations({ pages, more }: { pages: readonly OperationsReport[]; more: More }) {
  const items = pages.flatMap((page) => page.items)
  const columns = useColumns(pages[0]!.categoryColumns)
  if (items.length === 0) {
    return (
      <Empty>
        <p>{t('No operation in this period. Choose a longer period or fewer filters.')}</p>
      </Empty>
    )
  }
  return (
    <Card title={t('Operations')}>
      <div className="overflow-x-auto">
        <DataTable
          caption={t('Operations')}
          columns={columns}
          rows={items}
          rowKey={({ id, operationType, direction }) => `${operationType}-${direction}-${id}`}
          more={more}
          estimate={76}
        />
      </div>
    </Card>
  )
}

function useColumns(categories: readonly CategoryColumn[]): Column<ReportedOperation>[] {
  const { code } = useShownReport()
  return [
    {
      id: 'at',
      header: t('When'),
      className: 'md:whitespace-nowrap',
      cell: ({ createdAt, operationType, id }) => (
        <Link to={operationPath(code, operationType, id) as '/'} className="text-accent underline">
          <time title={formatTimeInFull(createdAt)}>{formatTime(createdAt)}</time>
        </Link>
      ),
    },
    {
      id: 'direction',
      header: t('Direction'),
      cell: ({ direction, flowType }) =>
        flowType === 'internal' ? t('Within the vault') : direction === 'in' ? t('In') : t('Out'),
    },
    { id: 'status', header: t('Status'), cell: ({ status }) => <OperationStatus status={status} /> },
    {
      id: 'other',
      header: t('Other side'),
      cell: ({ counterparty, otherAddress }) =>
        otherAddress === null ? '–' : <Address address={otherAddress} name={counterparty?.name} />,
    },
    {
      id: 'amount',
      header: t('Amount'),
      align: 'end',
      cell: (row) => <Amount decimal={row.amount} unit={row.asset} className="md:whitespace-nowrap" />,
    },
    { id: 'usd', header: t('In USD'), align: 'end', cell: ({ usdValue }) => <Usd value={usdValue} /> },
    {
      id: 'purpose',
      header: t('Purpose and note'),
      cell: ({ paymentPurpose, note }) => (
        <span className="[overflow-wrap:anywhere]">{[paymentPurpose, note].filter(Boolean).join(' · ') || '–'}</span>
      ),
    },
    ...categories.map(
      ({ key, categoryName, label, unit }): Column<ReportedOperation> => ({
        id: key,
        header: `${categoryName}: ${label}${unit === null ? '' : ` (${unit})`}`,
        cell: ({ categoryValues }) => categoryValues[key] ?? '–',
      }),
    ),
  ]
}
