import type { FieldFault } from '../../../lib/errors.ts'
import { routesPerVaultMax } from '../../../lib/limits.ts'
import { slugOf } from '../../registry/networks/coin-types.ts'
import type { RouteInput, VariantInput } from './schema.ts'

export type PlannedVariant = {
  pathId: number
  code: string
  name: string
  description: string | null
  enabled: boolean
  /** The code of a token of the vault's networks. */
  token: string | null
  /** The dotted path of the variant in the request, for faults that only the database can find. */
  field: string
}
type PlannedRoute = {
  position: number
  code: string
  name: string
  description: string | null
  dynamic: boolean
  variants: PlannedVariant[]
}
type PlannedNetwork = {
  coinType: number
  code: string
  slug: string
  name: string
  description: string | null
  field: string
}
export type Plan = { networks: PlannedNetwork[]; routes: PlannedRoute[] }

const routeCodeForm = /^[a-z][a-z0-9_-]{0,62}$/
/** The names of properties that every JavaScript object inherits. As keys of JSON they would be mistaken for those. */
const forbiddenCodes = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Converts the routes of a request to the structure of a vault. Networks become a separate list, and the other routes
 * are renumbered from 0 by their order (contract 4.1). It reports every fault with its dotted path.
 */
export function planStructure(input: Record<string, RouteInput>): { plan: Plan } | { faults: FieldFault[] } {
  const entries = Object.entries(input)
  const faults = [...faultsOfRoutes(entries), ...entries.flatMap(([code, route]) => faultsOfRoute(code, route))]
  if (faults.length > 0) return { faults }
  const others = entries.filter(([code]) => code !== 'network').sort(([, a], [, b]) => a.order - b.order)
  return {
    plan: {
      networks: (input.network?.variants ?? []).map((variant, i) => ({
        coinType: variant.id,
        code: variant.code,
        slug: slugOf(variant.code)!,
        name: variant.name,
        description: variant.description ?? null,
        field: `routes.network.variants.${i}`,
      })),
      routes: others.map(([code, route], position) => ({
        position,
        code,
        name: route.name,
        description: route.description ?? null,
        dynamic: route.dynamic ?? false,
        variants: (route.variants ?? []).map((variant, i) => planVariant(variant, `routes.${code}.variants.${i}`)),
      })),
    },
  }
}

export function planVariant(variant: VariantInput, field: string): PlannedVariant {
  return {
    pathId: variant.id,
    code: variant.code,
    name: variant.name,
    description: variant.description ?? null,
    enabled: variant.enabled ?? true,
    token: variant.token ?? null,
    field,
  }
}

function faultsOfRoutes(entries: [string, RouteInput][]): FieldFault[] {
  const faults: FieldFault[] = []
  if (!entries.some(([code]) => code === 'network')) faults.push({ field: 'routes.network', message: 'is required' })
  if (entries.length > routesPerVaultMax) {
    faults.push({ field: 'routes', message: `must have at most ${routesPerVaultMax} routes` })
  }
  const codeOfOrder = new Map<number, string>()
  let dynamicCode: string | null = null
  for (const [code, route] of entries) {
    if (code === 'network') continue
    const holder = codeOfOrder.get(route.order)
    if (holder !== undefined) faults.push({ field: `routes.${code}.order`, message: `is the order of ${holder} too` })
    codeOfOrder.set(route.order, code)
    if (route.dynamic !== true) continue
    if (dynamicCode !== null) {
      faults.push({ field: `routes.${code}.dynamic`, message: `only one route may be dynamic, and ${dynamicCode} is` })
    }
    dynamicCode = code
  }
  return faults
}

function faultsOfRoute(code: string, route: RouteInput): FieldFault[] {
  const at = `routes.${code}`
  const variants = route.variants ?? []
  if (!routeCodeForm.test(code) || forbiddenCodes.has(code)) {
    return [{ field: at, message: 'a route code must match ^[a-z][a-z0-9_-]{0,62}$ and not be a reserved word' }]
  }
  if (code === 'network' && route.dynamic === true) return [{ field: `${at}.dynamic`, message: 'must be false' }]
  if (route.dynamic === true && variants.length > 0) {
    return [{ field: `${at}.variants`, message: 'a dynamic route has no variants' }]
  }
  if (route.dynamic !== true && variants.length === 0) {
    return [{ field: `${at}.variants`, message: 'a static route needs at least one variant' }]
  }
  const faults = [
    ...duplicates(variants, (variant) => variant.id, `${at}.variants`, 'id'),
    ...duplicates(variants, (variant) => variant.code, `${at}.variants`, 'code'),
  ]
  if (code !== 'network') return faults
  return [...faults, ...faultsOfNetworks(variants)]
}

function faultsOfNetworks(variants: VariantInput[]): FieldFault[] {
  const at = 'routes.network.variants'
  const faults: FieldFault[] = []
  for (const [i, variant] of variants.entries()) {
    if (slugOf(variant.code) === null) {
      faults.push({ field: `${at}.${i}.code`, message: 'must have a letter or digit' })
    }
    // Networks cannot be disabled and have no token, so these fields are refused instead of being ignored.
    if (variant.enabled === false) faults.push({ field: `${at}.${i}.enabled`, message: 'a network is always enabled' })
    if (variant.token != null) faults.push({ field: `${at}.${i}.token`, message: 'a network has no token' })
  }
  const slugs = duplicates(variants, (variant) => slugOf(variant.code), at, 'code')
  return faults.length > 0 ? faults : slugs
}

function duplicates(
  variants: VariantInput[],
  keyOf: (variant: VariantInput) => unknown,
  at: string,
  name: string,
): FieldFault[] {
  const seen = new Set<unknown>()
  const faults: FieldFault[] = []
  for (const [i, variant] of variants.entries()) {
    if (seen.has(keyOf(variant))) faults.push({ field: `${at}.${i}.${name}`, message: 'is given twice in this route' })
    seen.add(keyOf(variant))
  }
  return faults
}
