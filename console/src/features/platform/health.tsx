import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { healthQuery } from './queries.ts'

/** Shows that this node of the service is ready: it reaches its database and takes requests. Asked every 15 seconds. */
export function Health() {
  const { data, isError, error, refetch, isPending } = useQuery(healthQuery)
  return (
    <Card title={t('This node')}>
      {isError ? (
        <Failed error={error} retry={() => refetch()} />
      ) : (
        <Facts
          facts={[
            [
              t('State'),
              <Badge key="s" tone={isPending ? 'waiting' : 'good'}>
                {isPending ? t('Being asked') : t('Ready')}
              </Badge>,
            ],
            [t('Answered in'), data === undefined ? null : t('{count} milliseconds', { count: data.milliseconds })],
            [t('Asked'), data === undefined ? null : formatTime(data.at)],
          ]}
        />
      )}
      <p className="mt-3 text-quiet">
        {t('Ready means that the service reaches its database and takes requests. Operators find figures at /metrics.')}
      </p>
    </Card>
  )
}
