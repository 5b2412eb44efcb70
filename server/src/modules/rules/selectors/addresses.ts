import { selectorValueLengthMax, selectorValuesMax } from '../../../lib/limits.ts'
import { ageInHours } from './age.ts'
import { destinationTypes } from './facts.ts'
import {
  addressKeyOf,
  anyOfSchema,
  anySet,
  defineSelector,
  faultOf,
  flag,
  isAmong,
  isObject,
  objectSchema,
  onchainSet,
  type Reading,
  selectorOf,
  setOf,
  spellingKey,
  strayKey,
  unknownFinding,
  type ValueForm,
} from './selector.ts'

/** The address that pays, by its id or its on-chain address. */
export const sourceAddress = defineSelector(onchainSet, (named, { sourceAddressId, sourceAddress }) => {
  const observed = sourceAddress ?? sourceAddressId
  if (observed === undefined) return unknownFinding
  const keys = named.map(spellingKey)
  const isNamed =
    (sourceAddressId !== undefined && named.includes(sourceAddressId)) ||
    (sourceAddress !== undefined && keys.includes(spellingKey(sourceAddress)))
  const isCertain = isNamed || (sourceAddressId !== undefined && sourceAddress !== undefined)
  return { matched: isCertain ? isNamed : null, observed }
})

/**
 * A folder that the source address is in, by its id. `observed` contains only named folders, because not every reader of
 * a trace may know the other folders of the owner.
 */
export const addressGroup = defineSelector(anySet, (groupIds, { addressGroupIds }) => {
  if (addressGroupIds === undefined) return unknownFinding
  const observed = groupIds.filter((id) => addressGroupIds.includes(id))
  return { matched: observed.length > 0, observed }
})

export type RouteVariant = { route: string; variant: string }

const codeSchema = { type: 'string', minLength: 1, maxLength: selectorValueLengthMax }
const variants: ValueForm<RouteVariant[]> = {
  read: readRouteVariants,
  operators: [],
  schema: anyOfSchema(objectSchema({ route: codeSchema, variant: codeSchema })),
}

/** A segment of the address by the codes of route and variant: one `{route, variant}`, or an array of them, meaning any of. */
export const routeVariant = selectorOf(
  variants,
  ({ routeVariants }) => routeVariants,
  (named, segments) =>
    named.some(({ route, variant }) =>
      segments.some((segment) => segment.route === route && segment.variant === variant),
    ),
)

function readRouteVariants(value: unknown): Reading<RouteVariant[]> {
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

/** The on-chain address that is paid, compared as its network compares addresses. */
export const destination = defineSelector(onchainSet, (named, { destination }) => {
  if (destination === undefined) return unknownFinding
  const { address, key, networkType } = destination
  return { matched: named.some((text) => addressKeyOf(text, networkType) === key), observed: address }
})

/** The type of the destination: an address of the vault, an address of the address book, or an unknown address. */
export const destinationType = selectorOf(setOf(destinationTypes), ({ destinationType }) => destinationType, isAmong)

/**
 * Hours since the destination came into the address book: `{op: "lt", value: "24"}` is an address of less than a day,
 * however old its counterparty is. A destination outside the address book has no age, so the result is unknown.
 */
export const destinationAgeHours = ageInHours(({ destinationAddedAt }) => destinationAddedAt)

const isEqual = (wanted: boolean, fact: boolean): boolean => fact === wanted

/** True if the vault has no confirmed transfer to the destination. */
export const firstPaymentToDestination = selectorOf(flag, ({ isFirstPayment }) => isFirstPayment, isEqual)

/** True if the destination begins and ends like another address that the vault knows. */
export const addressLookAlike = selectorOf(flag, ({ isLookAlike }) => isLookAlike, isEqual)
