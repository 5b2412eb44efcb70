import { useInfiniteQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { ExportState } from './export-panel.tsx'
import { exportsQuery } from './queries.ts'
import { exportTitle } from './types.ts'

/** The exports that the reader requested, or those of one type, with their progress and their hashes. */
export function ExportsList({ code, only }: { code: string; only?: 'auditor_archive' }) {
  const query = useInfiniteQuery(exportsQuery(code))
  const all = query.data?.pages.flatMap(({ items }) => items) ?? []
  const reports = only === undefined ? all : all.filter(({ type }) => type === only)
  return (
    <Card title={t('My exports')}>
      <p className="mb-3 text-quiet">{t('Exports are kept for 24 hours; their hash for a month.')}</p>
      <ListState
        query={query}
        isEmpty={reports.length === 0}
        empty={<p>{t('You have made no export yet.')}</p>}
        rows={2}
      >
        <ul className="grid gap-4">
          {reports.map((report) => (
            <li key={report.id} className="border-b border-line pb-3 last:border-0">
              <p className="mb-1">
                <span className="font-medium">{exportTitle(report.type)}</span>{' '}
                <span className="text-quiet">{`${report.format.toUpperCase()} · ${formatTime(report.createdAt)}`}</span>
              </p>
              <ExportState code={code} report={report} />
            </li>
          ))}
        </ul>
        {query.hasNextPage && (
          <Button busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
            {t('Load more')}
          </Button>
        )}
      </ListState>
    </Card>
  )
}
