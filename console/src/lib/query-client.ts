import { ConnectionError, StrongroomError } from '@strongroom/sdk'
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { said } from './language.ts'
import { noteReached } from './reached.ts'

/** The SDK repeats what can be repeated: the cache does not do it again. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onSuccess: () => noteReached(true),
    onError: (error) => isUnreached(error) && noteReached(false),
  }),
  defaultOptions: {
    queries: {
      retry: false,
      staleTime: 15_000,
      refetchOnWindowFocus: true,
      throwOnError: false,
    },
    mutations: { retry: false },
  },
})

/** What a person is told about a fault: the words of the service, which name the rule and what to do. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return said(error.message, (error as Partial<StrongroomError>).reason)
}

/** What support needs to find the request. */
export function requestIdOf(error: unknown): string | null {
  return error instanceof StrongroomError ? error.requestId : null
}

/** Nothing is known about what was asked for: the service did not answer, or could not. */
export function isUnreached(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof StrongroomError && error.status >= 500)
}

/** Whether the service asks to wait before the next request, which says nothing about what was asked for. */
export function isRateLimited(error: unknown): boolean {
  return error instanceof StrongroomError && error.status === 429
}
