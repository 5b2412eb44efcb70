import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Link, Navigate } from '@tanstack/react-router'
import { InboxList } from '../features/approvals/inbox-list.tsx'
import { t } from '../lib/language.ts'
import { sessionQuery } from '../lib/session.ts'
import { Frame } from '../ui/frame.tsx'
import { ListState } from '../ui/list-states.tsx'
import { Card, Page } from '../ui/page.tsx'

export const Route = createFileRoute('/')({ component: AllVaults })

/** All vaults of the reader, and the items in them that wait for the reader's vote. */
function AllVaults() {
  const session = useQuery(sessionQuery)
  const only = session.data?.vaults.length === 1 && !session.data.isPlatformAdmin ? session.data.vaults[0] : undefined
  // A reader with a single vault starts in it, because a list of one vault would only cost a click.
  if (only !== undefined) return <Navigate to="/v/$code" params={{ code: only.code }} replace />
  return (
    <Frame isPlatformAdmin={session.data?.isPlatformAdmin ?? false}>
      <Page title={t('Your vaults')}>
        <Card>
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
        <h2 className="mb-3">{t('Waits for you')}</h2>
        <InboxList state="waiting" />
      </Page>
    </Frame>
  )
}
