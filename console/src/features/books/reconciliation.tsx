import { fromRaw, type Reconciliation } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Amount } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { reconciliationQuery } from './queries.ts'
import { type Verdict, verdictOf } from './verdict.ts'

type TokenRow = Reconciliation['tokens'][number]

/** Compares the books with themselves and with the chain. A difference is red and says what to do. */
export function ReconciliationPart({ code }: { code: string }) {
  const query = useQuery(reconciliationQuery(code))
  const { data } = query
  return (
    <DetailState query={query}>
      {data !== undefined && (
        <>
          <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
            <p className="text-quiet">{t('Compared {when}', { when: formatTime(data.checkedAt) })}</p>
            <Button icon={<RefreshCw size={16} aria-hidden />} busy={query.isFetching} onClick={() => query.refetch()}>
              {t('Compare again')}
            </Button>
          </div>
          <Inner differences={data.differences} />
          <Card title={t('Books and chain')}>
            <SmallTable
              caption={t('Books and chain')}
              columns={tokenColumns()}
              rows={data.tokens}
              rowKey={({ token }) => token.id}
              first={50}
              empty={t('No token has a balance yet.')}
            />
          </Card>
          {data.addresses.length > 0 && (
            <Card title={t('Addresses that differ')}>
              <ul className="grid gap-2 text-bad [overflow-wrap:anywhere]">
                {data.addresses.map(({ addressId, address, token, difference }) => (
                  <li key={addressId + token.id}>
                    <span className="code">{address}</span>{' '}
                    <Amount decimal={fromRaw(difference, token.decimals)} unit={token.code} />
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </>
      )}
    </DetailState>
  )
}

function Inner({ differences }: { differences: Reconciliation['differences'] }) {
  return (
    <Card title={t('The books themselves')}>
      {differences.length === 0 ? (
        <p className="flex flex-wrap items-center gap-2">
          <Badge tone="good">{t('In order')}</Badge>
          {t('Every balance is the sum of its entries, and every entry belongs to an operation.')}
        </p>
      ) : (
        <>
          <p className="mb-3 text-bad">
            {t('The books were changed outside of the service. Order nothing more, and have an operator run:')}{' '}
            <span className="code">strongroom ledger verify</span>
          </p>
          <ul className="grid gap-2">
            {differences.map(({ kind, detail }) => (
              <li key={detail} className="text-bad [overflow-wrap:anywhere]">
                <Badge tone="bad">{kind.replaceAll('_', ' ')}</Badge> {detail}
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  )
}

function tokenColumns(): Column<TokenRow>[] {
  const amount = (row: TokenRow, raw: string | null) =>
    raw === null ? '–' : <Amount decimal={fromRaw(raw, row.token.decimals)} unit={row.token.code} />
  return [
    {
      id: 'token',
      header: t('Token'),
      cell: ({ token }) => (
        <>
          <span className="font-medium">{token.code}</span> <span className="text-quiet">{token.network}</span>
        </>
      ),
    },
    { id: 'books', header: t('In the books'), align: 'end', cell: (row) => amount(row, row.recomputed) },
    {
      id: 'exposure',
      header: t('Exposure'),
      align: 'end',
      cell: (row) => <span className={row.exposure === '0' ? '' : 'text-bad'}>{amount(row, row.exposure)}</span>,
    },
    { id: 'chain', header: t('On chain'), align: 'end', cell: (row) => amount(row, row.onChain) },
    {
      id: 'difference',
      header: t('Difference'),
      align: 'end',
      cell: (row) => (
        <span className={verdictOf(row) === 'differs' || verdictOf(row) === 'broken' ? 'text-bad' : ''}>
          {amount(row, row.difference)}
        </span>
      ),
    },
    { id: 'fees', header: t('Fees not posted yet'), align: 'end', cell: (row) => amount(row, row.outstandingFees) },
    { id: 'verdict', header: t('Verdict'), cell: (row) => <VerdictCell verdict={verdictOf(row)} /> },
  ]
}

function VerdictCell({ verdict }: { verdict: Verdict }) {
  const words: Record<Verdict, [tone: 'good' | 'warn' | 'bad', word: string, todo: string | null]> = {
    agrees: ['good', t('Agrees'), null],
    fees: ['good', t('Explained by fees'), t('They are posted when the address has the coin of the network.')],
    unknown: ['warn', t('Not known'), t('The wallet service did not answer for every address. Compare again later.')],
    differs: [
      'bad',
      t('Differs'),
      t('Something is on its way, or arrived unseen: look at held and unmatched deposits, then adjust with a reason.'),
    ],
    broken: [
      'bad',
      t('Books differ'),
      t('Stored balances are not those of the entries. Call the operator of the service.'),
    ],
  }
  const [tone, word, todo] = words[verdict]
  return (
    <div className="max-md:text-right">
      <Badge tone={tone}>{word}</Badge>
      {todo !== null && <p className="mt-1 max-w-72 text-[0.8125rem] text-quiet">{todo}</p>}
    </div>
  )
}
