import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Link } from '@tanstack/react-router'
import { t } from '../lib/language.ts'
import { nameOf, sessionQuery } from '../lib/session.ts'
import { ListState } from '../ui/list-states.tsx'
import { Card, Page } from '../ui/page.tsx'

export const Route = createFileRoute('/')({ component: AllVaults })

function AllVaults() {
  const session = useQuery(sessionQuery)
  return (
    <main className="mx-auto max-w-3xl p-4 md:p-8">
      <Page title={t('Your vaults')}>
        <Card title={session.data === undefined ? '' : nameOf(session.data.user)}>
          <ListState
            query={session}
            isEmpty={session.data?.vaults.length === 0}
            empty={<p>{t('You are a member of no vault. An administrator can invite you.')}</p>}
          >
            <ul className="grid gap-2">
              {session.data?.vaults.map(({ code, name }) => (
                <li key={code}>
                  <Link to="/v/$code" params={{ code }} className="font-medium text-accent underline">
                    {name}
                  </Link>
                </li>
              ))}
            </ul>
          </ListState>
        </Card>
      </Page>
    </main>
  )
}
