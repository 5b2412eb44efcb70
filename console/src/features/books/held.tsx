import type { Deposit, UncreditedEvent } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { formatTime, formatTimeInFull } from '../../lib/time.ts'
import { uncreditedWords } from '../../lib/uncredited.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Address } from '../../ui/address.tsx'
import { Amount } from '../../ui/amount.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { quarantineQuery, uncreditedQuery } from './queries.ts'
import { ResolveEvent } from './resolve-event.tsx'

/** Deposits that are not in the books, because the events of the wallet service contradict them. */
export function Quarantine({ code }: { code: string }) {
  const { isAdmin } = useViewer(code)
  const query = useInfiniteQuery(quarantineQuery(code))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns: Column<Deposit>[] = [
    {
      id: 'at',
      header: t('When'),
      cell: ({ id, createdAt }) => (
        <Link to={`/v/${code}/deposits/${id}` as '/'} className="text-accent underline">
          <time title={formatTimeInFull(createdAt)}>{formatTime(createdAt)}</time>
        </Link>
      ),
    },
    {
      id: 'to',
      header: t('Arrived on'),
      cell: ({ address }) => <Address address={address.address} name={address.label} />,
    },
    {
      id: 'amount',
      header: t('Amount'),
      align: 'end',
      cell: (row) => <Amount decimal={row.amountDecimal} unit={row.assetSymbol} />,
    },
    { id: 'why', header: t('Why it is held'), cell: ({ reason }) => reasonWords(reason) },
    ...(isAdmin
      ? [
          {
            id: 'decide',
            header: t('Decision'),
            cell: (row: Deposit) => <ResolveEvent code={code} deposit={row} />,
          },
        ]
      : []),
  ]
  return (
    <>
      <p className="mb-3 text-quiet">
        {t('What arrived and is not in the books. Two people credit it as the chain has it, or dismiss it.')}
      </p>
      <ListState query={query} isEmpty={rows.length === 0} empty={<p>{t('No deposit is held.')}</p>}>
        <Card title={t('Held deposits')}>
          <DataTable caption={t('Held deposits')} columns={columns} rows={rows} rowKey={({ id }) => id} more={query} />
        </Card>
      </ListState>
    </>
  )
}

/** Events of the wallet service that led to no deposit. */
export function Uncredited({ code }: { code: string }) {
  const [outcome, setOutcome] = useState<'unmatched' | 'ignored'>('unmatched')
  const query = useInfiniteQuery(uncreditedQuery(code, outcome))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns: Column<UncreditedEvent>[] = [
    {
      id: 'at',
      header: t('When'),
      cell: ({ createdAt }) => <time title={formatTimeInFull(createdAt)}>{formatTime(createdAt)}</time>,
    },
    {
      id: 'to',
      header: t('Sent to'),
      cell: ({ toAddress }) => (toAddress === null ? '–' : <Address address={toAddress} />),
    },
    {
      id: 'amount',
      header: t('Amount'),
      align: 'end',
      cell: ({ amountDecimal }) => (amountDecimal === null ? '–' : formatAmount(amountDecimal)),
    },
    { id: 'network', header: t('Network'), cell: ({ network }) => network ?? '–' },
    {
      id: 'hash',
      header: t('Transaction'),
      cell: ({ txHash }) => <span className="code [overflow-wrap:anywhere]">{txHash ?? '–'}</span>,
    },
    { id: 'why', header: t('Why'), cell: (row) => whyWords(row) },
  ]
  return (
    <>
      <div className="max-w-72">
        <SelectField
          label={t('Events of the wallet')}
          value={outcome}
          onChange={({ target }) => setOutcome(target.value as typeof outcome)}
        >
          <option value="unmatched">{t('that match nothing here')}</option>
          <option value="ignored">{t('that were ignored')}</option>
        </SelectField>
      </div>
      <ListState query={query} isEmpty={rows.length === 0} empty={<p>{t('There is no such event.')}</p>}>
        <Card title={t('Events of the wallet')}>
          <DataTable
            caption={t('Events of the wallet')}
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            more={query}
          />
        </Card>
      </ListState>
    </>
  )
}

function reasonWords(reason: UncreditedEvent['reason']): string {
  return reason === null ? t('The address does not belong to this vault.') : uncreditedWords(reason)
}

function whyWords({ reason, isOverdue }: UncreditedEvent): string {
  return isOverdue ? t('{why} For more than a day.', { why: reasonWords(reason) }) : reasonWords(reason)
}
