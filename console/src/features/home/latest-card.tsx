import type { HistoryItem } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowDownLeft, ArrowUpRight } from 'lucide-react'
import { t } from '../../lib/language.ts'
import { formatRecent, formatTimeInFull } from '../../lib/time.ts'
import { SignedAmount } from '../../ui/amount.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { OperationStatus, operationTitle } from '../../ui/operation-status.tsx'
import { Card } from '../../ui/page.tsx'
import { latestQuery } from './queries.ts'

export function LatestCard({ code, enabled }: { code: string; enabled: boolean }) {
  const query = useQuery({ ...latestQuery(code), enabled })
  return (
    <Card
      title={t('Latest activity')}
      actions={
        <Link to="/v/$code/activity" params={{ code }} className="text-accent underline">
          {t('All activity')}
        </Link>
      }
    >
      <ListState
        query={query}
        isEmpty={query.data?.items.length === 0}
        empty={<p>{t('Nothing that you may see was received or sent yet.')}</p>}
        rows={4}
      >
        <ul className="divide-y divide-line">
          {query.data?.items.map((item) => (
            <Latest key={`${item.operationType}-${item.id}`} code={code} item={item} />
          ))}
        </ul>
      </ListState>
    </Card>
  )
}

function Latest({ code, item }: { code: string; item: HistoryItem }) {
  const isIn = item.direction === 'in'
  const Icon = isIn ? ArrowDownLeft : ArrowUpRight
  return (
    <li>
      <Link
        to={item.operationType === 'transfer' ? '/v/$code/transfers/$id' : '/v/$code/deposits/$id'}
        params={{ code, id: item.id }}
        className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2 hover:bg-accent-soft/40"
      >
        <Icon size={18} aria-hidden className={isIn ? 'text-good' : 'text-quiet'} />
        <span className="min-w-0 flex-1 basis-40">
          <span className="block font-medium">{operationTitle(item)}</span>
          <time
            dateTime={item.createdAt}
            title={formatTimeInFull(item.createdAt)}
            className="text-[0.8125rem] text-quiet"
          >
            {formatRecent(item.createdAt)}
          </time>
        </span>
        <OperationStatus status={item.status} />
        <SignedAmount item={item} className="sm:min-w-36 sm:text-right" />
      </Link>
    </li>
  )
}
