import { createFileRoute, Outlet } from '@tanstack/react-router'
import { lazy } from 'react'
import { Shell } from '../features/shell/shell.tsx'

const Palette = lazy(() => import('../features/search/palette.tsx'))

export const Route = createFileRoute('/v/$code')({
  component: () => (
    <Shell code={Route.useParams().code} Palette={Palette}>
      <Outlet />
    </Shell>
  ),
})
