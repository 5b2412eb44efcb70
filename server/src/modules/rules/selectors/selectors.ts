import type { FieldFault } from '../../../lib/errors.ts'
import {
  addressGroup,
  addressLookAlike,
  destination,
  destinationAgeHours,
  destinationType,
  firstPaymentToDestination,
  routeVariant,
  sourceAddress,
} from './addresses.ts'
import { type ActionType, actionTypes, type Facts } from './facts.ts'
import {
  counterparty,
  counterpartyAgeHours,
  counterpartyGroup,
  counterpartyKind,
  initiator,
  initiatorGroup,
  initiatorKind,
} from './parties.ts'
import { amount, amountUsd, category, maxFee, network, percentOfBalance, riskScore, token } from './payment.ts'
import { type Finding, type JsonSchema, type SelectorKind, unknownFinding } from './selector.ts'
import { time } from './time.ts'
import { readVelocityWindow, type VelocityWindow, velocityAmount, velocityCount, velocityUsd } from './velocity.ts'

/** The types of objects that the strings of a value can name, so that a form can offer a choice. */
export const namedBySelectors = [
  'token',
  'network',
  'address',
  'address_group',
  'route_variant',
  'counterparty',
  'counterparty_group',
  'member',
  'policy_group',
  'category',
] as const

type Entry = {
  kind: SelectorKind
  /** The actions to which the selector applies; transfers alone if left out. */
  actionTypes?: readonly ActionType[]
  /** A title in words. */
  label: string
  /** The type of the objects that the value names; left out if the vault has no list of them. */
  names?: (typeof namedBySelectors)[number]
  /** Description of the compared property. */
  summary: string
  /**
   * Returns a short name of the fact that a recorded decision lacks, because it was not recorded at the time, or null if the
   * decision lacks none. A fact that could not be determined at the time counts as recorded: it is unknown now as it was then.
   */
  lacks?(value: unknown, facts: Facts): string | null
  /** Returns the scope and window of the sum that the selector tests, or null if the value is invalid. */
  windowOf?(value: unknown): VelocityWindow | null
  /** Set when the selector tests the initiator alone, so that its result is known before there is an action. */
  isOfInitiator?: true
}

const transfers: readonly ActionType[] = ['transfer']
const transfersAndAddresses: readonly ActionType[] = ['transfer', 'create_address']
/** Actions on an existing counterparty. */
const counterpartyChanges: readonly ActionType[] = [
  'counterparty_update',
  'counterparty_archive',
  'counterparty_group_add',
  'counterparty_group_remove',
]
const lacksVelocity = (value: unknown, { velocity = [] }: Facts): string | null => {
  const window = readVelocityWindow(value)
  if (window === null) return null
  const { per, windowSeconds } = window
  const isKnown = velocity.some((sum) => sum.per === per && sum.windowSeconds === windowSeconds)
  return isKnown ? null : `velocity per ${per} in ${windowSeconds} seconds`
}

/** Returns `lacks` for a fact that decisions of the first versions did not record. */
const lacks =
  (fact: 'destinationAddedAt' | 'isFirstPayment' | 'isLookAlike' | 'initiatorKind') =>
  (_value: unknown, facts: Facts): string | null =>
    facts[fact] === undefined ? fact : null
const groupChanges: readonly ActionType[] = ['counterparty_group_update', 'counterparty_group_archive']

/**
 * The table of all selectors, with the property that each tests and the actions to which it applies. The description of the
 * API and docs/policies.md are rendered from it.
 */
const entries = {
  amount: { kind: amount, label: 'Amount', summary: 'amount in token units' },
  amountUsd: { kind: amountUsd, label: 'Amount in USD', summary: 'amount in USD at the newest rate' },
  percentOfBalance: {
    kind: percentOfBalance,
    label: 'Share of the balance in per cent',
    summary: 'amount in per cent of the available balance of the source address before the transfer',
  },
  velocityAmount: {
    kind: velocityAmount,
    windowOf: readVelocityWindow,
    lacks: lacksVelocity,
    label: 'Amount within a period',
    summary: 'sum of the transfers of the token in a window, this one included, in token units',
  },
  velocityUsd: {
    kind: velocityUsd,
    windowOf: readVelocityWindow,
    lacks: lacksVelocity,
    label: 'USD within a period',
    summary: 'sum of the transfers of all tokens in a window, this one included, in USD',
  },
  velocityCount: {
    kind: velocityCount,
    windowOf: readVelocityWindow,
    lacks: lacksVelocity,
    label: 'Transfers within a period',
    summary: 'number of transfers in a window, this one included',
  },
  maxFee: {
    kind: maxFee,
    label: 'Highest network fee',
    summary: 'highest network fee that the order permits, in units of the coin; unknown without a limit',
  },
  riskScore: {
    kind: riskScore,
    label: 'Risk score',
    summary: 'score from 0 to 100 that the screening gives the payment; unknown without an answer or without screening',
  },
  token: { kind: token, label: 'Token', names: 'token', summary: 'token by id or code' },
  network: {
    kind: network,
    label: 'Network',
    names: 'network',
    actionTypes: transfersAndAddresses,
    summary: 'network by slug',
  },
  sourceAddress: {
    kind: sourceAddress,
    label: 'Paying address',
    names: 'address',
    summary: 'source address, by id or on-chain address',
  },
  addressGroup: {
    kind: addressGroup,
    label: 'Folder of the paying address',
    names: 'address_group',
    summary: 'folder of the source address, by id',
  },
  routeVariant: {
    kind: routeVariant,
    label: 'Segment of the address',
    names: 'route_variant',
    actionTypes: transfersAndAddresses,
    summary: 'segment of the source address, or of the address to create, by the codes of route and variant',
  },
  destination: { kind: destination, label: 'Recipient address', summary: 'on-chain address of the recipient' },
  destinationType: {
    kind: destinationType,
    label: 'Kind of recipient',
    summary: 'internal (an address of the vault), counterparty (of the address book) or unknown',
  },
  destinationAgeHours: {
    kind: destinationAgeHours,
    lacks: lacks('destinationAddedAt'),
    label: 'Age of the recipient address in hours',
    summary: 'hours since the address of the recipient was added to the address book; unknown outside of it',
  },
  firstPaymentToDestination: {
    kind: firstPaymentToDestination,
    lacks: lacks('isFirstPayment'),
    label: 'First payment to the recipient',
    summary: 'true until a transfer of the vault to this address is confirmed',
  },
  addressLookAlike: {
    kind: addressLookAlike,
    lacks: lacks('isLookAlike'),
    label: 'Recipient looks like another one',
    summary: 'true for an unknown address that begins and ends like an address that the vault knows',
  },
  counterparty: {
    kind: counterparty,
    label: 'Counterparty',
    names: 'counterparty',
    actionTypes: [...transfers, ...counterpartyChanges],
    summary: 'counterparty that is paid or changed, by id',
  },
  counterpartyGroup: {
    kind: counterpartyGroup,
    label: 'Counterparty group',
    names: 'counterparty_group',
    actionTypes: [...transfers, ...counterpartyChanges, ...groupChanges],
    summary: 'group of the counterparty by id; for counterparty_group_* the group that is changed',
  },
  counterpartyKind: {
    kind: counterpartyKind,
    label: 'Kind of counterparty',
    actionTypes: [...transfers, 'counterparty_create', ...counterpartyChanges],
    summary: 'individual, company, exchange, service or other',
  },
  counterpartyAgeHours: {
    kind: counterpartyAgeHours,
    label: 'Age of the counterparty in hours',
    actionTypes: [...transfers, ...counterpartyChanges],
    summary: 'hours since the counterparty was created',
  },
  initiator: {
    kind: initiator,
    label: 'Initiator',
    names: 'member',
    actionTypes,
    summary: 'initiator, by user id',
    isOfInitiator: true,
  },
  initiatorGroup: {
    kind: initiatorGroup,
    label: 'Group of the initiator',
    names: 'policy_group',
    actionTypes,
    summary: 'policy group of the initiator, by id',
    isOfInitiator: true,
  },
  initiatorKind: {
    kind: initiatorKind,
    lacks: lacks('initiatorKind'),
    label: 'Kind of initiator',
    actionTypes,
    summary: 'person or service',
    isOfInitiator: true,
  },
  category: {
    kind: category,
    label: 'Category',
    names: 'category',
    summary: 'operation category that the order declares, by key',
  },
  time: { kind: time, label: 'Time of the week', actionTypes, summary: 'weekly window on the wall clock of a zone' },
} satisfies Record<string, Entry>

export type SelectorType = keyof typeof entries

/** The selectors that also test the sum of the orders of a payout. */
export const summedTypes: ReadonlySet<string> = new Set<SelectorType>(['amount', 'amountUsd', 'percentOfBalance'])

/** A map, in which a name such as `constructor` finds nothing. */
const registry: ReadonlyMap<string, Entry & { actionTypes: readonly ActionType[] }> = new Map(
  Object.entries(entries).map(([name, entry]) => [name, { actionTypes: transfers, ...entry }]),
)

/** The selectors that look at a sum over time. */
export const velocityTypes: ReadonlySet<string> = new Set(
  [...registry].flatMap(([name, { windowOf }]) => (windowOf === undefined ? [] : [name])),
)

/** Returns the scope and window of the sum that a selector tests; null for a selector without a sum, or with an invalid value. */
export const velocityWindowOf = (selectorType: string, value: unknown): VelocityWindow | null =>
  registry.get(selectorType)?.windowOf?.(value) ?? null

/** The selectors that a policy may use. */
export const selectorTypes: readonly string[] = [...registry.keys()]

type SelectorDescription = Pick<Entry, 'label' | 'summary'> & {
  selectorType: string
  names: (typeof namedBySelectors)[number] | null
  operators: string[]
  valueSchema: JsonSchema
}

/** Describes the selectors that a policy for this action may use, for clients that draw a form. */
export function describeSelectors(actionType: ActionType): SelectorDescription[] {
  return [...registry].flatMap(([selectorType, { kind, label, names = null, summary, actionTypes }]) =>
    actionTypes.includes(actionType)
      ? [{ selectorType, label, summary, names, operators: [...kind.operators], valueSchema: kind.schema }]
      : [],
  )
}

/** The table of selectors in Markdown, for the description of the API and the manual. */
export function renderSelectorTable(): string {
  const rows = [...registry].map(([name, entry]) => {
    const actions = entry.actionTypes.length === actionTypes.length ? 'every action' : entry.actionTypes.join(', ')
    return `| \`${name}\` | ${entry.summary} | ${actions} |`
  })
  return ['| Selector | Looks at | Applies to |', '|---|---|---|', ...rows].join('\n')
}

/** Returns the fault of a selector in a policy for this action, or null. Its field is relative to the selector. */
export function findSelectorFault(actionType: string, selectorType: string, value: unknown): FieldFault | null {
  const entry = registry.get(selectorType)
  if (entry === undefined) {
    return { field: 'selectorType', message: `must be one of ${selectorTypes.join(', ')}` }
  }
  if (!(entry.actionTypes as readonly string[]).includes(actionType)) {
    return { field: 'selectorType', message: `the selector ${selectorType} does not apply to ${actionType}` }
  }
  const fault = entry.kind.findFault(value)
  return fault && { field: fault.field === '' ? 'value' : `value.${fault.field}`, message: fault.message }
}

/** The result of an unknown selector or an invalid value is unknown, so it fails closed. */
export function evaluateSelector(selector: { selectorType: string; value: unknown }, facts: Facts): Finding {
  const entry = registry.get(selector.selectorType)
  return entry?.kind.evaluate(selector.value, facts) ?? unknownFinding
}

/** Returns the fact that this selector needs and a recorded decision lacks, or null; see `Entry.lacks`. */
export function lackOfFact(
  { selectorType, value }: { selectorType: string; value: unknown },
  facts: Facts,
): string | null {
  return registry.get(selectorType)?.lacks?.(value, facts) ?? null
}

/** As `evaluateSelector`, before an action exists: a selector that tests more than the initiator is unknown. */
export const evaluateOfInitiator: typeof evaluateSelector = (selector, facts) =>
  registry.get(selector.selectorType)?.isOfInitiator === true ? evaluateSelector(selector, facts) : unknownFinding
