import type { UncreditedEvent } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { formatTime, formatTimeInFull } from '../../lib/time.ts'
import { uncreditedWords } from '../../lib/uncredited.ts'
import { Address } from '../../ui/address.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { walletEventsQuery } from './queries.ts'

/** Events of wallet services that credited nothing and belong to no vault. Events of a vault are shown in its books. */
export function WalletEvents() {
  const [outcome, setOutcome] = useState<UncreditedEvent['outcome']>('unmatched')
  const query = useInfiniteQuery(walletEventsQuery(outcome))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns = useMemo(columnsOfEvents, [])
  return (
    <>
      <p className="mb-3 text-quiet">
        {t(
          'Events that wallet services reported, that were not credited, and that belong to no vault. Each vault shows its own events in its books.',
        )}
      </p>
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
        <Card>
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

function columnsOfEvents(): Column<UncreditedEvent>[] {
  return [
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
      id: 'contract',
      header: t('Contract'),
      cell: ({ contractAddress }) => (contractAddress === null ? '–' : <Address address={contractAddress} />),
    },
    {
      id: 'hash',
      header: t('Transaction'),
      cell: ({ txHash }) => <span className="code [overflow-wrap:anywhere]">{txHash ?? '–'}</span>,
    },
    {
      id: 'why',
      header: t('Why'),
      cell: ({ reason }) => (reason === null ? t('The address belongs to no vault.') : uncreditedWords(reason)),
    },
  ]
}
