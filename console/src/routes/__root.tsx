import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { sessionQuery } from '../lib/session.ts'
import { Toasts } from '../ui/toast.tsx'

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  // Every page but /verify needs somebody who is signed in; without a session the API answers 401, which leads to the sign-in.
  beforeLoad: ({ context, location }) => {
    if (location.pathname !== '/verify') void context.queryClient.prefetchQuery(sessionQuery)
  },
  component: () => (
    <>
      <Outlet />
      <Toasts />
    </>
  ),
})
