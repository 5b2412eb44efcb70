import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { Sessions } from '../features/me/sessions.tsx'
import { t } from '../lib/language.ts'
import { sessionQuery } from '../lib/session.ts'
import { Frame } from '../ui/frame.tsx'
import { Page } from '../ui/page.tsx'

/** The page of the reader's sessions. A mail links to it when an operator has made a sign-in link for the reader. */
export const Route = createFileRoute('/me_/sessions')({ component: OwnSessions })

function OwnSessions() {
  const { data: session } = useQuery(sessionQuery)
  return (
    <Frame isPlatformAdmin={session?.isPlatformAdmin ?? false}>
      <Page title={t('Me')}>
        <Sessions />
      </Page>
    </Frame>
  )
}
