import { createFileRoute, Outlet } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { UnlessHeld } from '../features/holds/held-notice.tsx'
import { Shell } from '../features/shell/shell.tsx'

const Palette = lazy(() => import('../features/search/palette.tsx'))
const Keys = lazy(() => import('../features/shell/keys.tsx'))

/** Loaded separately, because otherwise each page of a vault would load the pages of administrators. */
const AuthorityAlarm = lazy(async () => ({
  default: (await import('../features/vault-settings/authority-alarm.tsx')).AuthorityAlarm,
}))

const HaltAlarm = lazy(async () => ({
  default: (await import('../features/vault-settings/halt-alarm.tsx')).HaltAlarm,
}))

const PendingAuthorityNotice = lazy(async () => ({
  default: (await import('../features/vault-settings/pending-authority.tsx')).PendingAuthorityNotice,
}))

export const Route = createFileRoute('/v/$code')({
  component: () => (
    <Shell code={Route.useParams().code} Palette={Palette} Keys={Keys}>
      <UnlessHeld code={Route.useParams().code}>
        <Suspense>
          <AuthorityAlarm code={Route.useParams().code} />
          <HaltAlarm code={Route.useParams().code} />
          <PendingAuthorityNotice code={Route.useParams().code} />
        </Suspense>
        <Outlet />
      </UnlessHeld>
    </Shell>
  ),
})
