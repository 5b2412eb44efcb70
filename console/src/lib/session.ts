import { queryOptions } from '@tanstack/react-query'
import { strongroom } from './api.ts'

/** Who is signed in, and the vaults of this person. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => strongroom.auth.getCurrentSession({ signal }),
  staleTime: 60_000,
})

/** How a person is called where only a profile is known. People choose their own name, but not their e-mail address. */
export function nameOf(user: { name: string | null; email?: string | null; id?: string }): string {
  return user.name ?? user.email ?? user.id ?? '–'
}
