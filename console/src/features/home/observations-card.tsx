import type { ReportObservation } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { said, t } from '../../lib/language.ts'
import { readable } from '../../lib/readable.ts'
import { Badge } from '../../ui/badge.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { flowsQuery } from './queries.ts'

/** The observations of the service, each with a link to its operations. */
export function ObservationsCard({ code, enabled }: { code: string; enabled: boolean }) {
  const query = useQuery({ ...flowsQuery(code), enabled })
  return (
    <Card title={t('Observations')}>
      <ListState
        query={query}
        isEmpty={query.data?.observations.length === 0}
        empty={<p>{t('Nothing unusual in the last 30 days.')}</p>}
        rows={3}
      >
        <ul className="divide-y divide-line">
          {query.data?.observations.map((observation, index) => (
            <Observation key={index} code={code} observation={observation} />
          ))}
        </ul>
      </ListState>
    </Card>
  )
}

function Observation({ code, observation }: { code: string; observation: ReportObservation }) {
  const { severity, title, description, drilldownFilters } = observation
  return (
    <li className="py-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Link
          to="/v/$code/activity"
          params={{ code }}
          search={drilldownFilters}
          className="font-medium hover:text-accent hover:underline"
        >
          {titleOf(observation) ?? title}
        </Link>
        {severity !== 'info' && (
          <Badge tone={severity === 'critical' ? 'bad' : 'warn'}>
            {severity === 'critical' ? t('Critical') : t('Look at it')}
          </Badge>
        )}
      </div>
      <p className="text-[0.8125rem] text-quiet [overflow-wrap:anywhere]">{said(readable(description))}</p>
    </li>
  )
}

function titleOf({ code }: ReportObservation): string | null {
  const titles: Record<ReportObservation['code'], string> = {
    VOLUME_SPIKE: t('Much more turnover than usual'),
    LARGE_OPERATION: t('An unusually large operation'),
    NEW_COUNTERPARTY: t('A new counterparty'),
    COUNTERPARTY_CONCENTRATION: t('Much of the turnover with one counterparty'),
    HIGH_FAILURE_RATE: t('Many transfers fail'),
    DORMANT_ADDRESS_ACTIVE: t('An address moves again after a long time'),
    SLOW_APPROVALS: t('Approvals take long'),
    MISSING_RATES: t('Rates in USD are missing'),
  }
  return titles[code] ?? null
}
