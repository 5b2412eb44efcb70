import { useInfiniteQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useMemo } from 'react'
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
  /** Where the operations of this filter are exported. */
  exportHref: string
  tagCell: TagCell
}

export function ActivityPage({ code, filter, onFilter, exportHref, tagCell }: ActivityPageProps) {
  const query = useInfiniteQuery(activityQuery(code, filter))
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data])
  const last = query.data?.pages.at(-1)
  // An empty page that is not the end: the list has gone on by itself often enough, and asks before it looks further.
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
        {items.length > 0 && (
          <ActivityTable code={code} items={items} tagCell={tagCell} {...(hasPaused ? {} : { more: query })} />
        )}
        {hasPaused && <Paused cursor={last.nextCursor!} busy={query.isFetchingNextPage} onMore={query.fetchNextPage} />}
      </ListState>
    </Page>
  )
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
