import { type ReactNode, useContext, useEffect, useState } from 'react'
import { isNotFound } from '../lib/api.ts'
import { messageOf } from '../lib/error-words.ts'
import { t } from '../lib/language.ts'
import { isRateLimited, isUnreached } from '../lib/query-client.ts'
import { formatTime } from '../lib/time.ts'
import { Button } from './button.tsx'
import { RequestId } from './problem.tsx'
import { HasTitle } from './within-page.ts'

/** The part of a query that decides what a list shows. */
export type Loading = {
  isPending: boolean
  isError: boolean
  error: unknown
  refetch: () => unknown
  /** The loaded data, and the time when it was loaded. */
  data?: unknown
  dataUpdatedAt?: number
}

type ListStateProps = {
  query: Loading
  isEmpty: boolean
  /** The purpose of the list and the next step, shown if the list is empty. */
  empty: ReactNode
  /** Set while a filter is active. An empty list then offers to clear it. */
  clearFilter?: (() => void) | undefined
  rows?: number
  children: ReactNode
}

/** The states of every list: loading, failed, empty, empty by a filter, and filled, also with outdated data. */
export function ListState({ query, isEmpty, empty, clearFilter, rows = 5, children }: ListStateProps) {
  if (query.isPending) return <Skeleton rows={rows} />
  if (query.isError && !isOld(query)) return <Failed error={query.error} retry={() => query.refetch()} />
  if (!isEmpty) return <Old query={query}>{children}</Old>
  if (clearFilter === undefined) return <Empty>{empty}</Empty>
  return (
    <Empty>
      <p>{t('Nothing matches this filter.')}</p>
      <Button onClick={clearFilter}>{t('Clear the filter')}</Button>
    </Empty>
  )
}

/** The states of a single object before it is shown: loading, failed, missing. */
export function DetailState({ query, children }: { query: Loading; children: ReactNode }) {
  if (query.isPending) return <Skeleton rows={6} />
  if (query.isError && !isOld(query)) {
    return isNotFound(query.error) ? <NotFound /> : <Failed error={query.error} retry={() => query.refetch()} />
  }
  return <Old query={query}>{children}</Old>
}

/**
 * Returns true if the data is loaded and cannot be loaded again at the moment. Data that the service refuses from now
 * on is no longer shown.
 */
function isOld({ isError, error, data }: Loading): boolean {
  return isError && data !== undefined && (isUnreached(error) || isRateLimited(error))
}

function Old({ query, children }: { query: Loading; children: ReactNode }) {
  const at = new Date(query.dataUpdatedAt ?? 0)
  return (
    <>
      {isOld(query) && <p className="mb-3 text-warn">{t('As of {time}', { time: formatTime(at.toISOString()) })}</p>}
      {children}
    </>
  )
}

/** Grey rows of the true height. They appear after a moment, so that a fast answer does not flicker. */
export function Skeleton({ rows }: { rows: number }) {
  const [shown, show] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => show(true), 150)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div role="status" aria-busy="true" className={shown ? '' : 'invisible'}>
      <span className="sr-only">{t('Loading')}</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="my-2 h-10 animate-pulse rounded-md bg-line/50" />
      ))}
    </div>
  )
}

export function Empty({ children }: { children: ReactNode }) {
  return (
    <div className="flex flex-col items-start gap-3 rounded-lg border border-dashed border-line p-6 text-quiet">
      {children}
    </div>
  )
}

export function Failed({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <div role="alert" className="flex flex-col items-start gap-3 rounded-lg border border-bad bg-bad-soft p-4">
      <p className="font-medium text-bad">{messageOf(error)}</p>
      <RequestId error={error} />
      <Button onClick={retry}>{t('Try again')}</Button>
    </div>
  )
}

export function NotFound() {
  const Heading = useContext(HasTitle) ? 'h2' : 'h1'
  return (
    <Empty>
      <Heading className="text-ink">{t('Not found')}</Heading>
      <p>{t('This does not exist, or you may not see it.')}</p>
      <a className="text-accent underline" href="/">
        {t('To the start')}
      </a>
    </Empty>
  )
}

export function Crashed({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <div className="mx-auto max-w-xl p-6">
      <Failed error={error} retry={retry} />
    </div>
  )
}
