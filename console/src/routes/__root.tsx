import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { sessionQuery } from '../lib/session.ts'
import { ConnectionBar } from '../ui/connection-bar.tsx'
import { Toasts } from '../ui/toast.tsx'

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  // All other pages need a session. Without a session the API answers 401, which leads to the sign-in.
  beforeLoad: ({ context, location }) => {
    if (!/^\/(verify|docs)(\/|$)/.test(location.pathname)) void context.queryClient.prefetchQuery(sessionQuery)
  },
  component: () => (
    <>
      <ConnectionBar />
      <Outlet />
      <Toasts />
    </>
  ),
})
