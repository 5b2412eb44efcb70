import type { HistoryItem } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useMemo, useState } from 'react'
import { t } from '../../lib/language.ts'
import { formatDay } from '../../lib/time.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Empty, ListState } from '../../ui/list-states.tsx'
import { Page } from '../../ui/page.tsx'
import { ActivityTable, type TagCell } from './activity-table.tsx'
import { type ActivityFilter, lookedBackTo } from './filter.ts'
import { FilterBar } from './filter-bar.tsx'
import { activityQuery } from './queries.ts'

type ActivityPageProps = {
  code: string
  filter: ActivityFilter
  onFilter: (filter: ActivityFilter) => void
  /** The page on which the operations of this filter are exported. */
  exportHref: string
  tagCell: TagCell
  /** Shows the details of an operation beside the list; without it a row leads to their page. */
  onOpen?: (item: HistoryItem) => void
  /** True if details stand beside the list. */
  isNarrow: boolean
}

export function ActivityPage({ code, filter, onFilter, exportHref, ...table }: ActivityPageProps) {
  const query = useInfiniteQuery(activityQuery(code, filter))
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data])
  const { shown, news, showNews } = useHeldBack(items, JSON.stringify(filter))
  const last = query.data?.pages.at(-1)
  // True for an empty page before the end. The list then stops loading by itself, and the reader decides whether to
  // look further.
  const hasPaused = last !== undefined && last.items.length === 0 && last.nextCursor !== null
  const isFiltered = Object.keys(filter).length > 0
  const exportLink = (
    <a className={buttonClass()} href={exportHref} data-hotkey="e">
      <Download size={16} aria-hidden />
      {t('Export')}
    </a>
  )
  return (
    <Page title={t('Activity')} actions={exportLink}>
      <FilterBar code={code} filter={filter} onFilter={onFilter} />
      <ListState
        query={query}
        isEmpty={items.length === 0 && !hasPaused}
        empty={
          <p>
            {t(
              'Nothing that you may see was received or sent yet. Deposits appear here as soon as the chain confirms them.',
            )}
          </p>
        }
        clearFilter={isFiltered ? () => onFilter({}) : undefined}
        rows={8}
      >
        {news > 0 && (
          <p role="status" className="mb-3">
            <Button onClick={showNews}>{t('{count} new', { count: news })}</Button>
          </p>
        )}
        {items.length > 0 && (
          <ActivityTable code={code} items={shown} {...table} {...(hasPaused ? {} : { more: query })} />
        )}
        {hasPaused && <Paused cursor={last.nextCursor!} busy={query.isFetchingNextPage} onMore={query.fetchNextPage} />}
      </ListState>
    </Page>
  )
}

/** Holds new operations back above the list while somebody reads it, so that no row moves under the pointer. */
function useHeldBack(items: readonly HistoryItem[], list: string) {
  const top = items[0]?.id
  const [seen, setSeen] = useState({ list, top })
  const news = seen.list === list ? items.findIndex(({ id }) => id === seen.top) : -1
  if (news === -1 && (seen.top !== top || seen.list !== list)) setSeen({ list, top })
  return { shown: news > 0 ? items.slice(news) : items, news, showNews: () => setSeen({ list, top }) }
}

function Paused({ cursor, busy, onMore }: { cursor: string; busy: boolean; onMore: () => unknown }) {
  const until = lookedBackTo(cursor)
  return (
    <div className="my-4">
      <Empty>
        <p role="status">
          {until === null
            ? t('Nothing more was found so far, and there is more to look through.')
            : t('Looked back to {day}; nothing more was found so far.', { day: formatDay(until) })}
        </p>
        <Button busy={busy} onClick={() => onMore()}>
          {t('Look further back')}
        </Button>
      </Empty>
    </div>
  )
}
