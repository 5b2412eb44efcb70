import type { FieldFault } from '../../../lib/errors.ts'
import { type ActionType, actionTypes, type Facts } from './decision.ts'
import { addressGroup, destination, destinationType, routeVariant, sourceAddress } from './selectors/addresses.ts'
import { amount, amountUsd, category, network, percentOfBalance, token } from './selectors/order.ts'
import {
  counterparty,
  counterpartyAgeHours,
  counterpartyGroup,
  counterpartyKind,
  initiator,
  initiatorGroup,
} from './selectors/parties.ts'
import type { Finding, SelectorKind } from './selectors/selector.ts'
import { time } from './selectors/time.ts'
import { velocityAmount, velocityCount, velocityUsd } from './selectors/velocity.ts'

type Entry = {
  kind: SelectorKind
  actionTypes: readonly ActionType[]
  /** Description of what it compares. */
  summary: string
  /** It looks at the initiator alone, so that its result is known before there is an action. */
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
const groupChanges: readonly ActionType[] = ['counterparty_group_update', 'counterparty_group_archive']

/**
 * The table of all selectors, with what each compares and the actions to which it applies. The description of the API and
 * docs/policies.md are rendered from it.
 */
const entries = {
  amount: { kind: amount, actionTypes: transfers, summary: 'amount in token units' },
  amountUsd: { kind: amountUsd, actionTypes: transfers, summary: 'amount in USD at the newest rate' },
  percentOfBalance: {
    kind: percentOfBalance,
    actionTypes: transfers,
    summary: 'amount in per cent of what the source address has available of the token before the transfer',
  },
  velocityAmount: {
    kind: velocityAmount,
    actionTypes: transfers,
    summary: 'sum of the transfers of the token in a window, this one included, in token units',
  },
  velocityUsd: {
    kind: velocityUsd,
    actionTypes: transfers,
    summary: 'sum of the transfers of all tokens in a window, this one included, in USD',
  },
  velocityCount: {
    kind: velocityCount,
    actionTypes: transfers,
    summary: 'number of transfers in a window, this one included',
  },
  token: { kind: token, actionTypes: transfers, summary: 'token by id or code' },
  network: { kind: network, actionTypes: transfersAndAddresses, summary: 'network by slug' },
  sourceAddress: {
    kind: sourceAddress,
    actionTypes: transfers,
    summary: 'source address, by id or on-chain address',
  },
  addressGroup: {
    kind: addressGroup,
    actionTypes: transfers,
    summary: 'folder of the source address, by id',
  },
  routeVariant: {
    kind: routeVariant,
    actionTypes: transfersAndAddresses,
    summary: 'segment of the source address, or of the one to create, by the codes of route and variant',
  },
  destination: { kind: destination, actionTypes: transfers, summary: 'on-chain address of the recipient' },
  destinationType: {
    kind: destinationType,
    actionTypes: transfers,
    summary: 'internal (an address of the vault), counterparty (of the address book) or unknown',
  },
  counterparty: {
    kind: counterparty,
    actionTypes: [...transfers, ...counterpartyChanges],
    summary: 'counterparty that is paid or changed, by id',
  },
  counterpartyGroup: {
    kind: counterpartyGroup,
    actionTypes: [...transfers, ...counterpartyChanges, ...groupChanges],
    summary: 'group of the counterparty by id; for counterparty_group_* the group that is changed',
  },
  counterpartyKind: {
    kind: counterpartyKind,
    actionTypes: [...transfers, 'counterparty_create', ...counterpartyChanges],
    summary: 'individual, company, exchange, service or other',
  },
  counterpartyAgeHours: {
    kind: counterpartyAgeHours,
    actionTypes: [...transfers, ...counterpartyChanges],
    summary: 'hours since the counterparty was created',
  },
  initiator: { kind: initiator, actionTypes, summary: 'initiator, by user id', isOfInitiator: true },
  initiatorGroup: {
    kind: initiatorGroup,
    actionTypes,
    summary: 'policy group of the initiator, by id',
    isOfInitiator: true,
  },
  category: {
    kind: category,
    actionTypes: transfers,
    summary: 'operation category that the order declares, by key',
  },
  time: { kind: time, actionTypes, summary: 'weekly window on the wall clock of a zone' },
} satisfies Record<string, Entry>

export type SelectorType = keyof typeof entries

/** A map, in which a name such as `constructor` finds nothing. */
const registry: ReadonlyMap<string, Entry> = new Map(Object.entries(entries))

/** The selectors that a policy may use. */
export const selectorTypes: readonly string[] = [...registry.keys()]

/** The table of selectors in Markdown, for the description of the API and the manual. */
export function renderSelectorTable(): string {
  const rows = [...registry].map(([name, entry]) => {
    const actions = entry.actionTypes.length === actionTypes.length ? 'every action' : entry.actionTypes.join(', ')
    return `| \`${name}\` | ${entry.summary} | ${actions} |`
  })
  return ['| Selector | Looks at | Applies to |', '|---|---|---|', ...rows].join('\n')
}

/** The fault of a selector in a policy of the given action, or null; its field is relative to the selector. */
export function findSelectorFault(actionType: string, selectorType: string, value: unknown): FieldFault | null {
  const entry = registry.get(selectorType)
  if (entry === undefined) {
    return { field: 'selectorType', message: `must be one of ${selectorTypes.join(', ')}` }
  }
  if (!(entry.actionTypes as readonly string[]).includes(actionType)) {
    return { field: 'selectorType', message: `the selector ${selectorType} does not apply to ${actionType}` }
  }
  const fault = entry.kind.findFault(value)
  return fault === null
    ? null
    : { field: fault.field === '' ? 'value' : `value.${fault.field}`, message: fault.message }
}

/** The result of an unknown selector or an invalid value is unknown, so it fails closed. */
export function evaluateSelector(selector: { selectorType: string; value: unknown }, facts: Facts): Finding {
  const entry = registry.get(selector.selectorType)
  return entry === undefined ? { matched: null, observed: null } : entry.kind.evaluate(selector.value, facts)
}

/** As `evaluateSelector` before there is an action: what does not look at the initiator alone is unknown. */
export const evaluateOfInitiator: typeof evaluateSelector = (selector, facts) =>
  registry.get(selector.selectorType)?.isOfInitiator === true
    ? evaluateSelector(selector, facts)
    : { matched: null, observed: null }
