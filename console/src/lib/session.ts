import { queryOptions } from '@tanstack/react-query'
import { strongroom } from './api.ts'

/** Reads the signed-in person and their vaults. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => strongroom.auth.getCurrentSession({ signal }),
  staleTime: 60_000,
})

/** Returns the name of a person, or the e-mail address. People choose their own name, but not their e-mail address. */
export function nameOf(user: { name: string | null; email?: string | null; id?: string }): string {
  return user.name ?? user.email ?? user.id ?? '–'
}
