import type { Network } from '@strongroom/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { allOf } from './all.ts'
import { strongroom } from './api.ts'

export const networksQuery = queryOptions({
  queryKey: ['networks'],
  queryFn: ({ signal }) => allOf(strongroom.networks.list({ limit: 100 }, { signal })),
  staleTime: 300_000,
})

/** Returns a network by its name in requests; null until it was read. */
export function useNetwork(slug: string | undefined): Network | null {
  const { data: networks = [] } = useQuery(networksQuery)
  return networks.find((network) => network.slug === slug) ?? null
}

/** Returns true if payments spend outputs as a whole, so that the rest of them comes back to the sender. */
export const spendsOutputs = (network: Network | null): boolean =>
  network?.type === 'bitcoin' || network?.type === 'litecoin'
