import { createFileRoute, Outlet } from '@tanstack/react-router'
import { Shell } from '../features/shell/shell.tsx'

export const Route = createFileRoute('/v/$code')({
  component: () => (
    <Shell code={Route.useParams().code}>
      <Outlet />
    </Shell>
  ),
})
