import type { FieldFault } from '../../lib/errors.ts'
import type { Facts } from './facts.ts'
import { amount } from './selectors/amount.ts'
import { destination } from './selectors/destination.ts'
import { destinationType } from './selectors/destination-type.ts'
import { initiator } from './selectors/initiator.ts'
import { initiatorGroup } from './selectors/initiator-group.ts'
import { network } from './selectors/network.ts'
import type { Finding, SelectorKind } from './selectors/selector.ts'
import { sourceAddress } from './selectors/source-address.ts'
import { time } from './selectors/time.ts'
import { token } from './selectors/token.ts'

type Entry = { kind: SelectorKind; actionTypes: readonly string[] }

const everyAction = ['transfer', 'create_address'] as const
const transfersOnly = ['transfer'] as const

/** The selectors there are, and the actions each applies to. A Map: a name such as `constructor` finds nothing. */
const registry: ReadonlyMap<string, Entry> = new Map<string, Entry>([
  ['amount', { kind: amount, actionTypes: transfersOnly }],
  ['token', { kind: token, actionTypes: transfersOnly }],
  ['network', { kind: network, actionTypes: everyAction }],
  ['sourceAddress', { kind: sourceAddress, actionTypes: transfersOnly }],
  ['destination', { kind: destination, actionTypes: transfersOnly }],
  ['destinationType', { kind: destinationType, actionTypes: transfersOnly }],
  ['initiator', { kind: initiator, actionTypes: everyAction }],
  ['initiatorGroup', { kind: initiatorGroup, actionTypes: everyAction }],
  ['time', { kind: time, actionTypes: everyAction }],
])

/** Named by the interface and not built yet: refused by name, so that nobody takes a policy for working. */
const notAvailableYet: ReadonlySet<string> = new Set([
  'amountUsd',
  'percentOfBalance',
  'velocityAmount',
  'velocityUsd',
  'velocityCount',
  'addressGroup',
  'routeVariant',
  'counterparty',
  'counterpartyGroup',
  'counterpartyKind',
  'counterpartyAgeHours',
  'category',
])

export const selectorTypes: readonly string[] = [...registry.keys()]

/** What is wrong with a selector of a policy of the given action; fields are relative to the selector. null: nothing. */
export function findSelectorFault(actionType: string, selectorType: string, value: unknown): FieldFault | null {
  if (notAvailableYet.has(selectorType)) {
    return { field: 'selectorType', message: `the selector ${selectorType} is not available yet` }
  }
  const entry = registry.get(selectorType)
  if (entry === undefined) {
    return { field: 'selectorType', message: `must be one of ${selectorTypes.join(', ')}` }
  }
  if (!entry.actionTypes.includes(actionType)) {
    return { field: 'selectorType', message: `the selector ${selectorType} does not apply to ${actionType}` }
  }
  const fault = entry.kind.findFault(value)
  return fault === null
    ? null
    : { field: fault.field === '' ? 'value' : `value.${fault.field}`, message: fault.message }
}

/** Unknown selectors and values that do not fit cannot be told, so they fail closed. */
export function evaluateSelector(selector: { selectorType: string; value: unknown }, facts: Facts): Finding {
  const entry = registry.get(selector.selectorType)
  return entry === undefined ? { matched: null, observed: null } : entry.kind.evaluate(selector.value, facts)
}
