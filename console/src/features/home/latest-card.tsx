import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { ListState } from '../../ui/list-states.tsx'
import { OperationLine } from '../../ui/operation-line.tsx'
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
            <OperationLine key={`${item.operationType}-${item.id}`} code={code} item={item} />
          ))}
        </ul>
      </ListState>
    </Card>
  )
}
