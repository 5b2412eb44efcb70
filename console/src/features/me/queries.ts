import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { strongroom } from '../../lib/api.ts'

export const profileQuery = queryOptions({
  queryKey: ['me', 'profile'],
  queryFn: ({ signal }) => strongroom.me.get({ signal }),
})

export const sessionsQuery = infiniteQueryOptions({
  queryKey: ['me', 'sessions'],
  queryFn: ({ signal, pageParam }) =>
    strongroom.auth.listSessions({ limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }).page(),
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor,
})

export const preferencesQuery = queryOptions({
  queryKey: ['me', 'preferences'],
  queryFn: ({ signal }) => strongroom.me.getPreferences({ signal }),
})
