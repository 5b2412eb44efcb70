import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { addDays, dayOf } from '../../lib/day.ts'
import { t } from '../../lib/language.ts'
import { formatDay } from '../../lib/time.ts'
import { Usd } from '../../ui/amount.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { OperationLine } from '../../ui/operation-line.tsx'
import { Card } from '../../ui/page.tsx'
import type { ActivityFilter } from './filter.ts'
import { newestQuery, type Subject, sumsQuery } from './queries.ts'

/** The newest operations with a counterparty or of an address, and their sums of the last 12 months. */
export function RecentActivity({ code, subject }: { code: string; subject: Subject }) {
  const newest = useQuery(newestQuery(code, subject))
  return (
    <Card
      title={t('Activity')}
      actions={
        <ActivityLink code={code} filter={subject}>
          {t('All activity')}
        </ActivityLink>
      }
    >
      <ListState
        query={newest}
        isEmpty={newest.data?.items.length === 0}
        empty={<p>{t('Nothing that you may see was received or sent yet.')}</p>}
        rows={4}
      >
        <Sums code={code} subject={subject} />
        <ul className="divide-y divide-line">
          {newest.data?.items.map((item) => (
            <OperationLine key={`${item.operationType}-${item.id}`} code={code} item={item} />
          ))}
        </ul>
      </ListState>
    </Card>
  )
}

const days = 365

/** Confirmed operations of the last 12 months. Each number leads to the operations that it counts. */
function Sums({ code, subject }: { code: string; subject: Subject }) {
  const from = addDays(dayOf(new Date()), 1 - days)
  const { data } = useQuery(sumsQuery(code, subject, from))
  if (data === undefined) return null
  const { outgoingCount, outgoingUsd, incomingCount, incomingUsd, lastOperationAt } = data.summary
  const linked = (direction: 'in' | 'out', count: number) => (
    <ActivityLink code={code} filter={{ ...subject, direction, statuses: 'confirmed', from }}>
      {t('{count, plural, =0 {never} one {once} other {# times}}', { count })}
    </ActivityLink>
  )
  return (
    <dl aria-label={t('Last 12 months')} className="mb-3 flex flex-wrap gap-x-8 gap-y-2">
      <Figure name={t('Sent in 12 months')} note={linked('out', outgoingCount)}>
        <Usd value={outgoingUsd} />
      </Figure>
      <Figure name={t('Received in 12 months')} note={linked('in', incomingCount)}>
        <Usd value={incomingUsd} />
      </Figure>
      {lastOperationAt !== null && <Figure name={t('Last on')}>{formatDay(lastOperationAt)}</Figure>}
    </dl>
  )
}

type FigureProps = { name: string; note?: ReactNode; children: ReactNode }

function Figure({ name, note, children }: FigureProps) {
  return (
    <div>
      <dt className="text-[0.8125rem] text-quiet">{name}</dt>
      <dd className="text-lg font-semibold">{children}</dd>
      {note !== undefined && <dd className="text-[0.8125rem]">{note}</dd>}
    </div>
  )
}

function ActivityLink({ code, filter, children }: { code: string; filter: ActivityFilter; children: ReactNode }) {
  return (
    <Link to="/v/$code/activity" params={{ code }} search={filter} className="text-accent underline">
      {children}
    </Link>
  )
}
