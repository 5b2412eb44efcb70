import { createFileRoute, Outlet } from '@tanstack/react-router'
import { lazy } from 'react'
import { UnlessHeld } from '../features/holds/held-notice.tsx'
import { Shell } from '../features/shell/shell.tsx'
import { AuthorityAlarm } from '../features/vault-settings/authority-alarm.tsx'
import { PendingAuthorityNotice } from '../features/vault-settings/pending-authority.tsx'

const Palette = lazy(() => import('../features/search/palette.tsx'))
const Keys = lazy(() => import('../features/shell/keys.tsx'))

export const Route = createFileRoute('/v/$code')({
  component: () => (
    <Shell code={Route.useParams().code} Palette={Palette} Keys={Keys}>
      <UnlessHeld code={Route.useParams().code}>
        <AuthorityAlarm code={Route.useParams().code} />
        <PendingAuthorityNotice code={Route.useParams().code} />
        <Outlet />
      </UnlessHeld>
    </Shell>
  ),
})
