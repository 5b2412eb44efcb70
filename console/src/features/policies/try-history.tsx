import type { Backtest, BacktestChange } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { formatUsd } from '../../lib/amounts.ts'
import { addDays, dayOf, isDay } from '../../lib/day.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Failed, Skeleton } from '../../ui/list-states.tsx'
import { OutcomeBadge } from './matrix-table.tsx'
import { askBacktest, type Backtested, backtestChangesQuery, backtestQuery, type Vocabulary } from './queries.ts'
import { TraceList } from './simulation-result.tsx'
import { actionWords } from './words.ts'

type TryHistoryProps = {
  code: string
  /** The tried policies, which are not saved and decide together with the saved policies, or a change set. */
  tried: Backtested['tried']
  vocabulary: Vocabulary
  nameOf: (id: string, code: string) => string
  /** The reason why the draft cannot be tried yet. */
  disabledBecause?: string | null
  /** Set for an approver of a change set who may not read the whole vault: the time when the votes were requested. */
  askedAt?: string | undefined
}

/** The periods that the service offers to approvers, in days. */
const periods = [30, 90, 365]

/** Decides the past requests of a period again. Nothing changes. */
export function TryHistory({ code, tried, vocabulary, nameOf, disabledBecause = null, askedAt }: TryHistoryProps) {
  const today = dayOf(new Date())
  const [start, setStart] = useState(addDays(today, -30))
  const [end, setEnd] = useState(today)
  const [days, setDays] = useState(periods[0]!)
  // The service takes the shortest of its periods that contains this day.
  const from = askedAt === undefined ? start : addDays(dayOf(new Date(askedAt)), 1 - days)
  const until = askedAt === undefined ? end : null
  // Keeps the tried draft and period unchanged while the reader edits the draft.
  const asking = useMutation({ mutationFn: (wanted: Backtested) => askBacktest(code, wanted) })
  const backtest = useQuery(backtestQuery(code, asking.data))
  const isPeriod = until === null || (isDay(from) && isDay(until) && from <= until)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (disabledBecause === null && isPeriod) asking.mutate({ tried, from, until })
  }
  const triedBefore = asking.variables
  const isOutdated = triedBefore !== undefined && JSON.stringify(triedBefore) !== JSON.stringify({ tried, from, until })
  const found = asking.data === undefined ? undefined : (backtest.data ?? asking.data)
  return (
    <>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
        {askedAt === undefined ? (
          <>
            <TextField label={t('From')} type="date" value={start} onChange={({ target }) => setStart(target.value)} />
            <TextField label={t('Until')} type="date" value={end} onChange={({ target }) => setEnd(target.value)} />
          </>
        ) : (
          <SelectField
            label={t('Days before the votes were asked for')}
            value={days}
            onChange={({ target }) => setDays(Number(target.value))}
          >
            {periods.map((period) => (
              <option key={period}>{period}</option>
            ))}
          </SelectField>
        )}
        <Button
          type="submit"
          className="mb-4"
          busy={asking.isPending}
          disabledBecause={disabledBecause ?? (isPeriod ? null : t('Choose a period that begins before it ends.'))}
        >
          {t('Try on history')}
        </Button>
      </form>
      {triedBefore === undefined && (
        <p className="text-quiet">
          {t('What was decided is decided again, as if this draft had been in force. Nothing changes.')}
        </p>
      )}
      {askedAt !== undefined && (
        <p className="mt-2 mb-3 text-quiet">
          {t(
            'All decisions of the vault are counted, because you vote. Which they are and what they are worth is shown of those alone that you may see.',
          )}
        </p>
      )}
      {asking.isError && (
        <Failed error={asking.error} retry={() => triedBefore !== undefined && asking.mutate(triedBefore)} />
      )}
      {backtest.isError && <Failed error={backtest.error} retry={() => backtest.refetch()} />}
      {isOutdated && found !== undefined && (
        <p className="mb-3 text-warn">{t('The draft or the period has changed since. Try again to see its effect.')}</p>
      )}
      {found !== undefined && <Found {...{ code, vocabulary, nameOf }} backtest={found} />}
    </>
  )
}

type FoundProps = Pick<TryHistoryProps, 'code' | 'vocabulary' | 'nameOf'> & { backtest: Backtest }

function Found({ backtest, ...rest }: FoundProps) {
  const { result, status, progress, failure } = backtest
  if (status === 'failed') return <p className="text-bad">{failure}</p>
  if (result === null) {
    return (
      <p role="status" className="text-quiet">
        {t('{progress} % of the decisions are decided again …', { progress })}
      </p>
    )
  }
  const sums = [
    { word: t('Decided the same'), sum: result.same },
    { word: t('Stricter'), sum: result.stricter },
    { word: t('Looser'), sum: result.looser },
    { word: t('Not decidable'), sum: result.undecidable },
  ]
  const hiddenCount = [result.stricter, result.looser, result.undecidable].reduce(
    (sum, count) => sum + count.hiddenCount,
    0,
  )
  return (
    <div aria-live="polite">
      <p className="mb-2">
        {t('{count, plural, one {# decision} other {# decisions}} of this period', { count: result.evaluated })}
      </p>
      <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
        {sums.map(({ word, sum }) => (
          <div key={word} className="rounded-md border border-line p-3">
            <dt className="text-[0.8125rem] text-quiet">{word}</dt>
            <dd className="figures text-lg">{sum.count}</dd>
            <dd className="figures text-[0.8125rem] text-quiet">{formatUsd(sum.usdValue)}</dd>
          </div>
        ))}
      </dl>
      {result.undecidable.count > 0 && (
        <p className="mb-3 text-[0.8125rem] text-quiet">
          {t('Not decidable: a fact that a policy asks for was not recorded then. It is not guessed.')}
        </p>
      )}
      {hiddenCount > 0 && (
        <p className="mb-3">
          {t(
            '{count, plural, one {# of the decisions that change is} other {# of the decisions that change are}} not shown, because you may not see what was decided. Amounts leave out what you may not see.',
            { count: hiddenCount },
          )}
        </p>
      )}
      {result.same.count === result.evaluated && <p className="text-quiet">{t('No decision changes.')}</p>}
      {result.same.count + hiddenCount < result.evaluated && <Changes {...rest} backtest={backtest} />}
    </div>
  )
}

/** The decisions that would change, each with both traces. */
function Changes({ code, vocabulary, nameOf, backtest }: FoundProps) {
  const query = useInfiniteQuery(backtestChangesQuery(code, backtest))
  if (query.isPending) return <Skeleton rows={3} />
  if (query.isError) return <Failed error={query.error} retry={() => query.refetch()} />
  return (
    <>
      <h3 className="mb-2 font-medium">{t('Decisions that change')}</h3>
      <ul className="divide-y divide-line border-y border-line">
        {query.data.pages
          .flatMap(({ items }) => items)
          .map((change) => (
            <li key={change.subjectId}>
              <Change {...{ code, vocabulary, nameOf, change }} />
            </li>
          ))}
      </ul>
      {query.hasNextPage && (
        <Button className="mt-3" busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          {t('Show more')}
        </Button>
      )}
    </>
  )
}

function Change({ code, vocabulary, nameOf, change }: Omit<FoundProps, 'backtest'> & { change: BacktestChange }) {
  const [isOpen, open] = useState(false)
  const { subjectType, subjectId, before, after, lacking } = change
  const words: Record<string, string> = actionWords()
  // Both wait for votes: the difference is in how many, or in who votes.
  const differsInVotes = before.effect === 'approval' && after.effect === 'approval'
  return (
    <details className="py-3" onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary className="flex cursor-pointer flex-wrap items-center gap-x-3 gap-y-1">
        <span>{formatTime(change.createdAt)}</span>
        <span className="text-quiet">{words[change.actionType] ?? change.actionType}</span>
        {change.usdValue !== null && <span className="figures">{formatUsd(change.usdValue)}</span>}
        <ChangeBadge change={change.change} />
        <span className="inline-flex items-center gap-2">
          <OutcomeBadge result={before.effect} />
          {differsInVotes && votesWord(before)}
          <span className="sr-only">{t('would be')}</span>
          <span aria-hidden>→</span>
          <OutcomeBadge result={after.effect} />
          {differsInVotes && (after.votesNeeded === before.votesNeeded ? t('others vote') : votesWord(after))}
        </span>
      </summary>
      {isOpen && (
        <div className="mt-3 grid gap-4 md:grid-cols-2">
          {lacking.length > 0 && (
            <p className="text-warn md:col-span-2">
              {t('The record lacks: {facts}', { facts: lacking.map(factWord).join(', ') })}
            </p>
          )}
          <Decision title={t('Before')} decision={before} {...{ vocabulary, nameOf }} />
          <Decision title={t('After')} decision={after} {...{ vocabulary, nameOf }} />
          {subjectType === 'transfer' && (
            <a
              className="text-accent hover:underline"
              href={`/v/${code}/transfers/${subjectId}`}
              target="_blank"
              rel="noopener"
            >
              {t('Open the transfer')}
            </a>
          )}
        </div>
      )}
    </details>
  )
}

type DecisionProps = Pick<TryHistoryProps, 'vocabulary' | 'nameOf'> & {
  title: string
  decision: BacktestChange['before']
}

function Decision({ title, decision, vocabulary, nameOf }: DecisionProps) {
  const { effect, decisionPolicy, trace } = decision
  const facts = [
    ...(effect === 'approval' ? [votesWord(decision)] : []),
    ...(decisionPolicy === null ? [] : [decisionPolicy.name]),
  ]
  return (
    <section className="min-w-0">
      <h4 className="text-[0.8125rem] text-quiet">{title}</h4>
      <p className="mb-2">
        <OutcomeBadge result={effect} /> {facts.join(' · ')}
      </p>
      <TraceList {...{ trace, vocabulary, nameOf }} />
    </section>
  )
}

const votesWord = ({ votesNeeded }: Pick<BacktestChange['before'], 'votesNeeded'>) =>
  t('{count, plural, one {# vote} other {# votes}}', { count: votesNeeded })

function ChangeBadge({ change }: Pick<BacktestChange, 'change'>) {
  if (change === 'stricter') return <Badge tone="waiting">{t('Stricter')}</Badge>
  if (change === 'looser') return <Badge tone="bad">{t('Looser')}</Badge>
  return <Badge tone="warn">{t('Not decidable')}</Badge>
}

/** Describes a fact that the record lacks. The sum of a window has the name that the service uses. */
function factWord(fact: string): string {
  const words: Record<string, string> = {
    facts: t('every fact'),
    destinationAddedAt: t('since when the address is in the address book'),
    isFirstPayment: t('whether it was the first payment to the address'),
    isLookAlike: t('whether the address looks like another one'),
    initiatorKind: t('whether a person or a service ordered it'),
  }
  return words[fact] ?? (fact.startsWith('velocity') ? t('a sum that nothing asked for then') : fact)
}
