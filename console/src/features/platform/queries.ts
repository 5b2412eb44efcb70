import type { ListHeldRatesQuery, ListPlatformUsersQuery, PlatformChange, UncreditedEvent } from '@strongroom/sdk'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { strongroom } from '../../lib/api.ts'
import { nameOf } from '../../lib/session.ts'

const cursorOf = (cursor: string) => (cursor === '' ? {} : { cursor })
const paged = { initialPageParam: '', getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor }

export const networksQuery = infiniteQueryOptions({
  queryKey: ['networks', 'all'],
  queryFn: ({ signal, pageParam }) =>
    strongroom.networks.list({ limit: 100, ...cursorOf(pageParam) }, { signal }).page(),
  ...paged,
})

export function tokensQuery(search: string) {
  return infiniteQueryOptions({
    queryKey: ['tokens', 'all', search],
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: 100, ...(search === '' ? {} : { search }), ...cursorOf(pageParam) }
      return strongroom.tokens.list(query, { signal }).page()
    },
    ...paged,
  })
}

export function ratesQuery(tokenId: string) {
  return infiniteQueryOptions({
    queryKey: ['tokens', tokenId, 'rates'],
    queryFn: ({ signal, pageParam }) =>
      strongroom.tokens.listRates(tokenId, { limit: 100, ...cursorOf(pageParam) }, { signal }).page(),
    ...paged,
    enabled: tokenId !== '',
  })
}

export function heldRatesQuery(status: NonNullable<ListHeldRatesQuery['status']>) {
  return infiniteQueryOptions({
    queryKey: ['held-rates', status],
    queryFn: ({ signal, pageParam }) =>
      strongroom.heldRates.list({ status, limit: 50, ...cursorOf(pageParam) }, { signal }).page(),
    ...paged,
  })
}

export const platformChangesQuery = infiniteQueryOptions({
  queryKey: ['platform-changes'],
  queryFn: ({ signal, pageParam }) =>
    strongroom.platformChanges.list({ status: 'held', limit: 50, ...cursorOf(pageParam) }, { signal }).page(),
  ...paged,
})

export const identityProvidersQuery = infiniteQueryOptions({
  queryKey: ['identity-providers'],
  queryFn: ({ signal, pageParam }) =>
    strongroom.identityProviders.list({ limit: 50, ...cursorOf(pageParam) }, { signal }).page(),
  ...paged,
})

export const directoriesQuery = infiniteQueryOptions({
  queryKey: ['directories'],
  queryFn: ({ signal, pageParam }) =>
    strongroom.directories.list({ limit: 50, ...cursorOf(pageParam) }, { signal }).page(),
  ...paged,
})

export const directoryPeopleQuery = (id: string, held: boolean) =>
  infiniteQueryOptions({
    queryKey: ['directories', id, 'people', held],
    queryFn: ({ signal, pageParam }) =>
      strongroom.directories.listPeople(id, { held, limit: 50, ...cursorOf(pageParam) }, { signal }).page(),
    ...paged,
  })

export const accountsQuery = (userId: string) =>
  queryOptions({
    queryKey: ['accounts', userId],
    queryFn: async ({ signal }) => (await strongroom.users.listIdentities(userId, { signal })).items,
  })

export const userSessionsQuery = (userId: string) =>
  infiniteQueryOptions({
    queryKey: ['user-sessions', userId],
    queryFn: ({ signal, pageParam }) =>
      strongroom.users.listSessions(userId, { limit: 10, ...cursorOf(pageParam) }, { signal }).page(),
    ...paged,
  })

export const breakGlassQuery = queryOptions({
  queryKey: ['break-glass-people'],
  queryFn: async ({ signal }) => (await strongroom.breakGlassPeople.list({ limit: 50 }, { signal }).page()).items,
})

/** The name of the token or user of a change, and its present values. */
type ChangeTarget = { name: string; now: Record<string, unknown> }

export const changeTargetQuery = ({ action, targetId }: PlatformChange) =>
  queryOptions({
    queryKey: ['platform-changes', action, targetId],
    queryFn: ({ signal }) => findTarget[action](targetId, signal),
  })

const findTarget: Record<PlatformChange['action'], (id: string, signal: AbortSignal) => Promise<ChangeTarget | null>> =
  {
    token_update: findToken,
    user_enable: findUser('disabled'),
    // The change itself shows all of its settings.
    identity_provider_activate: async () => null,
    directory_activate: async () => null,
    identity_provider_enforce: findProvider,
    break_glass_name: findUser('active'),
    break_glass_remove: findUser('active'),
  }

async function findToken(id: string, signal: AbortSignal): Promise<ChangeTarget | null> {
  for await (const token of strongroom.tokens.list({ limit: 100 }, { signal }))
    if (token.id === id) return { name: `${token.code} · ${token.network}`, now: { ...token } }
  return null
}

function findUser(status: UserStatus) {
  return async (id: string, signal: AbortSignal): Promise<ChangeTarget | null> => {
    for await (const user of strongroom.platform.listUsers({ limit: 100, status }, { signal }))
      if (user.userId === id) return { name: nameOf(user), now: {} }
    return null
  }
}

async function findProvider(id: string, signal: AbortSignal): Promise<ChangeTarget | null> {
  for await (const { id: providerId, name, enforce } of strongroom.identityProviders.list({ limit: 50 }, { signal }))
    if (providerId === id) return { name, now: { enforce } }
  return null
}

export const vaultsQuery = infiniteQueryOptions({
  queryKey: ['vaults', 'all'],
  queryFn: ({ signal, pageParam }) => strongroom.vaults.list({ limit: 100, ...cursorOf(pageParam) }, { signal }).page(),
  ...paged,
})

export const offboardingQuery = (userId: string) =>
  queryOptions({
    queryKey: ['platform-users', userId, 'offboarding'],
    queryFn: ({ signal }) => strongroom.users.getOffboarding(userId, { signal }),
  })

export type UserStatus = NonNullable<ListPlatformUsersQuery['status']>

export function usersQuery(search: string, status: UserStatus) {
  return infiniteQueryOptions({
    queryKey: ['platform-users', status, search],
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: 100, status, ...(search === '' ? {} : { search }), ...cursorOf(pageParam) }
      return strongroom.platform.listUsers(query, { signal }).page()
    },
    ...paged,
  })
}

export function walletEventsQuery(outcome: UncreditedEvent['outcome']) {
  return infiniteQueryOptions({
    queryKey: ['wallet-events', outcome],
    queryFn: ({ signal, pageParam }) =>
      strongroom.walletEvents.list({ outcome, limit: 50, ...cursorOf(pageParam) }, { signal }).page(),
    ...paged,
  })
}

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: async ({ signal }) => {
    const begun = performance.now()
    // Not repeated by the SDK: a service that is not ready answers that, and this page asks again.
    await strongroom.service.getReadiness({}, { signal, retries: 0 })
    return { milliseconds: Math.round(performance.now() - begun), at: new Date().toISOString() }
  },
  refetchInterval: 15_000,
})
