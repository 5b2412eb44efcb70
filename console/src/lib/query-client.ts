import { ConnectionError, StrongroomError } from '@strongroom/sdk'
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { noteReached } from './reached.ts'

/** The cache does not repeat queries, because the SDK already does. */
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

/** Returns the request id, by which support finds the request. */
export function requestIdOf(error: unknown): string | null {
  return error instanceof StrongroomError ? error.requestId : null
}

/** Returns true if the service did not or could not answer, so that the outcome is unknown. */
export function isUnreached(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof StrongroomError && error.status >= 500)
}

/** Returns true if the service asks to wait before the next request. That says nothing about the requested object. */
export function isRateLimited(error: unknown): boolean {
  return error instanceof StrongroomError && error.status === 429
}
