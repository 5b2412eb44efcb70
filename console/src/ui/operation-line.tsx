import type { HistoryItem } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { ArrowDownLeft, ArrowUpRight } from 'lucide-react'
import { formatRecent, formatTimeInFull } from '../lib/time.ts'
import { SignedAmount } from './amount.tsx'
import { OperationStatus, operationTitle } from './operation-status.tsx'

/** An operation in a short list: with whom, when, its status and its amount. Leads to its page. */
export function OperationLine({ code, item }: { code: string; item: HistoryItem }) {
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
        <span className="min-w-0 flex-1 basis-[calc(100%-3rem)] sm:basis-40">
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
