import { pathIndexMax } from '../../../lib/limits.ts'

type Network = { coinType: number }
type Route = { code: string; dynamic: boolean; variants: { pathId: number }[] }

type ParsedSegment<R extends Route> = { route: R; pathId: number; variant: R['variants'][number] | null }
type ParseOutcome<N, R extends Route> = { network: N; segments: ParsedSegment<R>[] } | { fault: string }

/**
 * Reads a derivation path `m/44/<coinType>/<one value per route>` against the structure of a vault; `routes` are in their
 * order. Disabled variants match too; a dynamic route has no variant. The fault names the rule that failed (contract 4.4).
 */
export function parseDerivationPath<N extends Network, R extends Route>(
  path: string,
  { networks, routes }: { networks: N[]; routes: R[] },
): ParseOutcome<N, R> {
  if (!path.startsWith('m/44/')) return { fault: 'must begin with m/44/' }
  const [coinTypeText = '', ...values] = path.slice('m/44/'.length).split('/')
  const coinType = parseIndex(coinTypeText)
  if (coinType === null) return { fault: `the coin type must be a whole number from 0 to ${pathIndexMax}` }
  const network = networks.find((candidate) => candidate.coinType === coinType)
  if (network === undefined) return { fault: `coin type ${coinType} is not connected to this vault` }
  if (values.length !== routes.length) {
    return { fault: `has ${values.length} segments after the coin type, but the vault has ${routes.length} routes` }
  }
  const segments: ParsedSegment<R>[] = []
  for (const [i, route] of routes.entries()) {
    const pathId = parseIndex(values[i] ?? '')
    if (pathId === null) {
      return { fault: `the value of segment ${route.code} must be a whole number from 0 to ${pathIndexMax}` }
    }
    const variant = route.variants.find((candidate) => candidate.pathId === pathId) ?? null
    if (!route.dynamic && variant === null) return { fault: `segment ${route.code} has no variant ${pathId}` }
    segments.push({ route, pathId, variant: route.dynamic ? null : variant })
  }
  return { network, segments }
}

/** Returns the derivation path of one value per route, in the order of the routes. */
export function formatDerivationPath(coinType: number, values: number[]): string {
  return ['m/44', coinType, ...values].join('/')
}

/** Reads a plain whole number without sign, leading zero or hardening mark. */
function parseIndex(text: string): number | null {
  if (!/^(0|[1-9][0-9]{0,9})$/.test(text)) return null
  const value = Number(text)
  return value <= pathIndexMax ? value : null
}
