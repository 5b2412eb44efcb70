import { selectorValueLengthMax, selectorValuesMax } from '../../../../lib/limits.ts'
import { defineSelector, faultOf, type Reading, unknownFinding } from './selector.ts'
import { isObject, strayKey } from './values.ts'

export type RouteVariant = { route: string; variant: string }

/** A segment of the address by the codes of route and variant: one `{route, variant}`, or an array of them, meaning any of. */
export const routeVariant = defineSelector(readRouteVariants, (named, { routeVariants }) =>
  routeVariants === undefined
    ? unknownFinding
    : {
        matched: named.some(({ route, variant }) =>
          routeVariants.some((one) => one.route === route && one.variant === variant),
        ),
        observed: routeVariants,
      },
)

export function readRouteVariants(value: unknown): Reading<RouteVariant[]> {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  if (values.length === 0) return faultOf('must name at least one {route, variant}')
  if (values.length > selectorValuesMax) return faultOf(`must not name more than ${selectorValuesMax} variants`)
  const named: RouteVariant[] = []
  for (const [i, entry] of values.entries()) {
    const at = (field: string) => (Array.isArray(value) ? [String(i), field].filter(Boolean).join('.') : field)
    if (!isObject(entry)) return faultOf('must be {route, variant}', at(''))
    const stray = strayKey(entry, ['route', 'variant'])
    if (stray !== null) return faultOf('does not belong to {route, variant}', at(stray))
    const { route, variant } = entry
    if (!isCode(route)) return faultOf('must be the code of a route', at('route'))
    if (!isCode(variant)) return faultOf('must be the code of a variant', at('variant'))
    named.push({ route, variant })
  }
  return { value: named }
}

function isCode(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= selectorValueLengthMax
}
