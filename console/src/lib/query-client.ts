import { StrongroomError } from '@strongroom/sdk'
import { QueryClient } from '@tanstack/react-query'
import { said } from './language.ts'

/** The SDK repeats what can be repeated: the cache does not do it again. */
export const queryClient = new QueryClient({
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
