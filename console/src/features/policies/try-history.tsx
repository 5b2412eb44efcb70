import type { Backtest, BacktestOrder } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { addDays, dayOf, isDay } from '../../lib/day.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failed, Skeleton } from '../../ui/list-states.tsx'
import { SmallTable } from '../../ui/small-table.tsx'
import { OutcomeBadge } from './matrix-table.tsx'
import { type Backtested, backtestQuery } from './queries.ts'

type TryHistoryProps = {
  code: string
  /** Policies that are not saved, which decide beside the saved ones. */
  draft: BacktestOrder['draft']
  /** Why the draft cannot be tried yet. */
  disabledBecause: string | null
}

type Row = Backtest['items'][number]

/** Asks what would have become of the transfers of a period. Nothing changes. */
export function TryHistory({ code, draft, disabledBecause }: TryHistoryProps) {
  const today = dayOf(new Date())
  const [from, setFrom] = useState(addDays(today, -30))
  const [until, setUntil] = useState(today)
  // What was asked stays as it was while the draft is worked on.
  const [asked, ask] = useState<Backtested | null>(null)
  const query = useInfiniteQuery(backtestQuery(code, asked))
  const isPeriod = isDay(from) && isDay(until) && from <= until
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (disabledBecause === null && isPeriod) ask({ draft, from, until })
  }
  const isOutdated = asked !== null && JSON.stringify(asked) !== JSON.stringify({ draft, from, until })
  return (
    <>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
        <TextField label={t('From')} type="date" value={from} onChange={({ target }) => setFrom(target.value)} />
        <TextField label={t('Until')} type="date" value={until} onChange={({ target }) => setUntil(target.value)} />
        <Button
          type="submit"
          className="mb-4"
          busy={query.isFetching}
          disabledBecause={disabledBecause ?? (isPeriod ? null : t('Choose a period that begins before it ends.'))}
        >
          {t('Try on history')}
        </Button>
      </form>
      {asked === null && (
        <p className="text-quiet">
          {t('Past transfers are decided again, as if this draft had been in force. Nothing changes.')}
        </p>
      )}
      {asked !== null && query.isPending && <Skeleton rows={3} />}
      {query.isError && <Failed error={query.error} retry={() => query.refetch()} />}
      {isOutdated && query.data !== undefined && (
        <p className="mb-3 text-warn">{t('The draft or the period has changed since. Try again to see its effect.')}</p>
      )}
      {query.data !== undefined && <Result code={code} parts={query.data.pages} />}
      {query.hasNextPage && (
        <Button className="mt-3" busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          {t('Go on with older transfers')}
        </Button>
      )}
    </>
  )
}

function Result({ code, parts }: { code: string; parts: readonly Backtest[] }) {
  const sum = (of: 'evaluated' | 'same' | 'stricter' | 'looser' | 'inDoubt') =>
    parts.reduce((total, part) => total + part[of], 0)
  const counts = [
    { word: t('Decided the same'), count: sum('same') },
    { word: t('Stricter'), count: sum('stricter') },
    { word: t('Looser'), count: sum('looser') },
    { word: t('In doubt'), count: sum('inDoubt') },
  ]
  const isWhole = parts.at(-1)?.nextCursor === null
  const words = { count: sum('evaluated') }
  return (
    <div aria-live="polite">
      <p className="mb-2">
        {isWhole
          ? t('{count, plural, one {# transfer} other {# transfers}} of this period', words)
          : t('The newest {count, plural, one {transfer} other {# transfers}} of this period', words)}
      </p>
      <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
        {counts.map(({ word, count }) => (
          <div key={word} className="rounded-md border border-line p-3">
            <dt className="text-[0.8125rem] text-quiet">{word}</dt>
            <dd className="figures text-lg">{count}</dd>
          </div>
        ))}
      </dl>
      {sum('inDoubt') > 0 && (
        <p className="mb-3 text-[0.8125rem] text-quiet">
          {t('In doubt: a fact that a policy asks for was not recorded then. It is assumed against the transfer.')}
        </p>
      )}
      <SmallTable
        caption={t('Transfers whose decision changes')}
        columns={columnsOf(code)}
        rows={parts.flatMap(({ items }) => items)}
        rowKey={({ transferId }) => transferId}
        empty={t('No decision changes.')}
      />
    </div>
  )
}

function columnsOf(code: string): Column<Row>[] {
  return [
    {
      id: 'transfer',
      header: t('Transfer'),
      cell: ({ transferId, createdAt, inDoubt }) => (
        <>
          <Link
            to="/v/$code/transfers/$id"
            params={{ code, id: transferId }}
            className="text-accent hover:underline"
            target="_blank"
          >
            {formatTime(createdAt)}
          </Link>{' '}
          {inDoubt && <Badge tone="warn">{t('In doubt')}</Badge>}
        </>
      ),
    },
    { id: 'before', header: t('Before'), cell: ({ before }) => <Decision {...before} /> },
    { id: 'after', header: t('After'), cell: ({ after }) => <Decision {...after} /> },
  ]
}

function Decision({ effect, votesNeeded, decisionPolicy }: Row['before']) {
  return (
    <>
      <OutcomeBadge result={effect} />
      <p className="text-[0.8125rem] text-quiet">
        {[
          ...(effect === 'approval'
            ? [t('{count, plural, one {# vote} other {# votes}}', { count: votesNeeded })]
            : []),
          ...(decisionPolicy === null ? [] : [decisionPolicy.name]),
        ].join(' · ')}
      </p>
    </>
  )
}
