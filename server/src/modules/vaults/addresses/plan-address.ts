import type { FieldFault } from '../../../lib/errors.ts'
import { formatDerivationPath } from '../structure/derivation.ts'

type PlanRoute = {
  code: string
  dynamic: boolean
  variants: { pathId: number; code: string; enabled: boolean; tokenId: string | null }[]
}
type PlanToken = { id: string; code: string; enabled: boolean; isNative: boolean }

export type AddressPlan = {
  /** The path values by segment code, without network and index. */
  segments: Record<string, number>
  /** The chosen variant of each route, by codes. */
  variants: { route: string; variant: string }[]
  hasIndex: boolean
  /** The derivation path without its dynamic segment. */
  staticPrefix: string
  /** Returns the whole path. `index` is ignored when there is no dynamic segment. */
  pathAt(index: number): string
  token: PlanToken | null
}
type PlanOutcome = { plan: AddressPlan } | { faults: FieldFault[] } | { conflict: string }

/**
 * Returns the place of a new address in the derivation structure and its primary token (contract 5.1). `tokens` are
 * those of the network of the address; `routes` are in their order.
 */
export function planAddress(
  coinType: number,
  routes: PlanRoute[],
  tokens: PlanToken[],
  wanted: { segments: Record<string, string>; token?: string },
): PlanOutcome {
  const faults: FieldFault[] = []
  const chosen: { route: PlanRoute; variant: PlanRoute['variants'][number] }[] = []
  for (const route of routes.filter(({ dynamic }) => !dynamic)) {
    const code = Object.hasOwn(wanted.segments, route.code) ? wanted.segments[route.code] : undefined
    const variant = route.variants.find((candidate) => candidate.code === code)
    if (code === undefined) faults.push({ field: `segments.${route.code}`, message: 'is required' })
    else if (variant === undefined)
      faults.push({ field: `segments.${route.code}`, message: 'is not a variant of this route' })
    else chosen.push({ route, variant })
  }
  for (const code of Object.keys(wanted.segments)) {
    const route = routes.find((candidate) => candidate.code === code)
    if (route === undefined) faults.push({ field: `segments.${code}`, message: 'is not a route of this vault' })
    else if (route.dynamic) faults.push({ field: `segments.${code}`, message: 'is numbered by the service' })
  }
  const named = wanted.token === undefined ? null : tokens.find(({ code }) => code === wanted.token)
  if (named === undefined) faults.push({ field: 'token', message: 'is not a token of this network' })
  if (faults.length > 0) return { faults }

  const disabled = chosen.find(({ variant }) => !variant.enabled)
  if (disabled !== undefined) {
    return { conflict: `The variant ${disabled.variant.code} of ${disabled.route.code} is disabled` }
  }
  if (named?.enabled === false) return { conflict: `The token ${named.code} is disabled` }

  const valueOfRoute = new Map(chosen.map(({ route, variant }) => [route.code, variant.pathId]))
  const hasIndex = routes.some(({ dynamic }) => dynamic)
  return {
    plan: {
      segments: Object.fromEntries(valueOfRoute),
      variants: chosen.map(({ route, variant }) => ({ route: route.code, variant: variant.code })),
      hasIndex,
      staticPrefix: formatDerivationPath(coinType, [...valueOfRoute.values()]),
      pathAt: (index) =>
        formatDerivationPath(
          coinType,
          routes.map((route) => valueOfRoute.get(route.code) ?? index),
        ),
      token:
        named ??
        defaultToken(
          chosen.map(({ variant }) => variant.tokenId),
          tokens,
        ),
    },
  }
}

/** Returns the only token that the chosen variants name on this network, or else the coin of the network. */
function defaultToken(tokenIds: (string | null)[], tokens: PlanToken[]): PlanToken | null {
  const usable = tokens.filter(({ enabled }) => enabled)
  const named = usable.filter(({ id }) => tokenIds.includes(id))
  if (named.length === 1) return named[0]!
  return usable.find(({ isNative }) => isNative) ?? null
}
