import type { ExceptionOperation, OperationsExceptionsReport, ReportDataQuality } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { formatTime, formatTimeInFull } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { type Column, DataTable, type More } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/list-states.tsx'
import { OperationStatus } from '../../ui/operation-status.tsx'
import { Card } from '../../ui/page.tsx'
import { exceptionsSearchOf } from './drilldown.ts'
import { ExceptionsLink, operationPath, useShownReport } from './drilldown-link.tsx'
import { formatCount } from './figures.tsx'
import { type Gap, gaps, gapWords } from './quality.ts'

/** The gaps of a report as a list of tasks, each with a link to its operations. */
export function DataQuality({ quality }: { quality: ReportDataQuality }) {
  const shown = useShownReport()
  const open = gaps.filter((gap) => quality[gap] > 0)
  return (
    <Card title={t('Data quality')}>
      {open.length === 0 ? (
        <p className="flex items-center gap-2">
          <Badge tone="good">{t('Complete')}</Badge>
          {t('Nothing is missing in these operations.')}
        </p>
      ) : (
        <ul className="grid gap-2">
          {open.map((gap) => (
            <li key={gap} className="grid gap-x-4 sm:grid-cols-[4rem_1fr]">
              <span className="figures text-lg font-semibold sm:text-right">{formatCount(quality[gap])}</span>
              <span>
                <ExceptionsLink search={exceptionsSearchOf(shown, gap)} className="font-medium text-accent underline">
                  {gapWords(gap).title}
                </ExceptionsLink>
                <span className="block text-quiet">{gapWords(gap).todo}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

/** The operations behind the gaps. */
export function Exceptions({ pages, more }: { pages: readonly OperationsExceptionsReport[]; more: More }) {
  const columns = useColumns()
  const items = pages.flatMap((page) => page.items)
  const { dataQuality, accountDifferences } = pages[0]!
  return (
    <>
      <DataQuality quality={dataQuality} />
      {accountDifferences.length > 0 && (
        <Card title={t('Differences in the books')}>
          <p className="mb-2 text-bad">{gapWords('ledgerReconciliationDifferences').todo}</p>
          <ul className="grid gap-1">
            {accountDifferences.map(({ accountId, balance, balanceOfEntries }) => (
              <li key={accountId}>
                <span className="code">{accountId}</span>{' '}
                {t('has the balance {balance}, but its entries add up to {expected}', {
                  balance,
                  expected: balanceOfEntries,
                })}
              </li>
            ))}
          </ul>
        </Card>
      )}
      {items.length === 0 ? (
        <Empty>
          <p>{t('No operation has these gaps. There is nothing to do.')}</p>
        </Empty>
      ) : (
        <Card title={t('Operations to complete')}>
          <DataTable
            caption={t('Operations to complete')}
            columns={columns}
            rows={items}
            rowKey={({ id }) => id}
            more={more}
            estimate={76}
          />
        </Card>
      )}
    </>
  )
}

function useColumns(): Column<ExceptionOperation>[] {
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
      id: 'operation',
      header: t('Operation'),
      cell: ({ address, counterparty, status, operationType }) => (
        <div>
          {operationType === 'deposit' ? t('Received on') : t('Paid from')} <Address address={address} />{' '}
          {status !== 'confirmed' && <OperationStatus status={status} />}
          {counterparty !== null && (
            <p className="text-quiet [overflow-wrap:anywhere]">
              {operationType === 'deposit'
                ? t('from {name}', { name: counterparty.name })
                : t('to {name}', { name: counterparty.name })}
            </p>
          )}
        </div>
      ),
    },
    {
      id: 'amount',
      header: t('Amount'),
      align: 'end',
      cell: (row) => <Amount decimal={row.amount} unit={row.asset} className="md:whitespace-nowrap" />,
    },
    { id: 'usd', header: t('In USD'), align: 'end', cell: ({ usdValue }) => <Usd value={usdValue} /> },
    {
      id: 'gaps',
      header: t('What is missing'),
      cell: ({ exceptions }) => (
        <ul>
          {exceptions.map((gap) => (
            <li key={gap}>{gapWords(gap as Gap).title}</li>
          ))}
        </ul>
      ),
    },
  ]
}
