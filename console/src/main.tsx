import './styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRouter, RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { loadLanguage } from './lib/language.ts'
import { queryClient } from './lib/query-client.ts'
import { applyTheme } from './lib/theme.ts'
import { routeTree } from './route-tree.gen.ts'
import { Crashed, NotFound } from './ui/list-states.tsx'

const router = createRouter({
  routeTree,
  context: { queryClient },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  // Parameters that a page does not know, such as those of a mail program, leave its URL and reach no request.
  search: { strict: true },
  defaultErrorComponent: ({ error, reset }) => <Crashed error={error} retry={reset} />,
  defaultNotFoundComponent: () => <NotFound />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

applyTheme()
await loadLanguage()
createRoot(document.getElementById('console')!).render(
  <QueryClientProvider client={queryClient}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
)
