import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { strongroom } from '../../lib/api.ts'

export const profileQuery = queryOptions({
  queryKey: ['own profile'],
  queryFn: ({ signal }) => strongroom.me.get({ signal }),
})

export const sessionsQuery = infiniteQueryOptions({
  queryKey: ['own sessions'],
  queryFn: ({ signal, pageParam }) =>
    strongroom.auth.listSessions({ limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }).page(),
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor,
})

export const identitiesQuery = queryOptions({
  queryKey: ['own identities'],
  queryFn: async ({ signal }) => (await strongroom.me.listIdentities({ signal })).items,
})

export const passkeysQuery = infiniteQueryOptions({
  queryKey: ['own passkeys'],
  queryFn: ({ signal, pageParam }) =>
    strongroom.me.listPasskeys({ limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal }).page(),
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor,
})

export const preferencesQuery = queryOptions({
  queryKey: ['own preferences'],
  queryFn: ({ signal }) => strongroom.me.getPreferences({ signal }),
})
