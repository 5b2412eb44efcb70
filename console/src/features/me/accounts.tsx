import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Card, Facts } from '../../ui/page.tsx'
import { identitiesQuery } from './queries.ts'

/** The accounts of the reader at identity providers; nothing where there are none. A platform administrator removes one. */
export function Accounts() {
  const { data = [] } = useQuery(identitiesQuery)
  if (data.length === 0) return null
  return (
    <Card title={t('Accounts that sign you in')}>
      <p className="mb-4">{t('If you do not know one of them, ask a platform administrator to remove it.')}</p>
      {data.map(({ id, issuer, subject, providerName, linkedAt, lastUsedAt }) => (
        <Facts
          key={id}
          facts={[
            [t('Identity provider'), providerName ?? issuer],
            [
              t('Account'),
              <span key="subject" className="code">
                {subject}
              </span>,
            ],
            [t('Linked at'), formatTime(linkedAt)],
            [t('Last sign-in'), formatTime(lastUsedAt)],
          ]}
        />
      ))}
    </Card>
  )
}
