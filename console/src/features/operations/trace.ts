import type { PolicyTrace } from '@strongroom/sdk'
import { formatAmount, formatUsd } from '../../lib/amounts.ts'
import { formatter } from '../../lib/formatter.ts'
import { t } from '../../lib/language.ts'

type Selector = PolicyTrace['rules'][number]['selectors'][number]
export type NameKind =
  | 'person'
  | 'policyGroup'
  | 'policy'
  | 'token'
  | 'address'
  | 'folder'
  | 'counterparty'
  | 'counterpartyGroup'
  | 'category'
/** Returns the name of an object, or its id if the name is unknown. */
export type NameOf = (kind: NameKind, id: string) => string

/** Describes one comparison of a policy: "The amount (500) is more than 100." */
export function selectorSentence(selector: Selector, nameOf: NameOf): string {
  const subject = subjectOf(selector)
  const condition = conditionOf(selector, nameOf)
  const observed = observedOf(selector, nameOf)
  if (observed === null && cannotBeSeen(selector)) {
    return selector.matched
      ? t('{subject} counts as {condition}, because the value is unknown or hidden from you.', { subject, condition })
      : t('{subject} does not count as {condition}, because the value is unknown or hidden from you.', {
          subject,
          condition,
        })
  }
  // If the observed value is the expected value, the sentence shows it once.
  if (selector.matched && observed === condition) return t('{subject} is {condition}.', { subject, condition })
  const values = { subject, condition, observed: observed ?? t('none') }
  return selector.matched
    ? t('{subject} ({observed}) is {condition}.', values)
    : t('{subject} ({observed}) is not {condition}.', values)
}

/** Describes how the comparisons of a rule combine. */
export function ruleSentence({ conditionType, matched }: { conditionType: string; matched: boolean }): string {
  if (conditionType === 'any') {
    return matched ? t('At least one of these conditions is met:') : t('At least one of these conditions must be met:')
  }
  if (conditionType === 'exclude') {
    return matched ? t('None of these conditions is met:') : t('None of these conditions may be met:')
  }
  return matched ? t('All of these conditions are met:') : t('All of these conditions must be met:')
}

/** Describes the result of a policy: "“Large transfers” applied." */
export function policySentence(
  { policyId, policyCode, matched, inDoubt }: PolicyTrace,
  decidedBy: string | null,
  nameOf: NameOf,
): string {
  const known = nameOf('policy', policyId)
  const policy = known === policyId ? policyCode : known
  if (inDoubt === true) {
    return t('“{policy}” could not be decided with certainty, so the stricter outcome counts.', { policy })
  }
  if (!matched) return t('“{policy}” did not apply.', { policy })
  return policyId === decidedBy
    ? t('“{policy}” applied and decided.', { policy })
    : t('“{policy}” applied.', { policy })
}

type Decided = { effect: string; policy: string | null; votes: number }

/** Describes the decision of all policies in a sentence. */
export function decisionSentence({ effect, policy, votes }: Decided): string {
  if (effect === 'deny') return t('No policy allows it.')
  const values = { policy: policy ?? '–', votes }
  if (effect === 'block') return t('“{policy}” forbids it.', values)
  if (effect === 'allow') return t('“{policy}” allows it without a vote.', values)
  return t('“{policy}” asks for {votes, plural, one {# vote} other {# votes}}.', values)
}

/**
 * Returns true if a missing observation means that the selector could not be evaluated, or that its figure is hidden.
 * The listed types may be empty by nature: a recipient may have no counterparty.
 */
function cannotBeSeen({ selectorType }: Selector): boolean {
  return !['counterparty', 'counterpartyGroup', 'counterpartyKind', 'category'].includes(selectorType)
}

function subjectOf({ selectorType, expected }: Selector): string {
  const subjects: Record<string, () => string> = {
    amount: () => t('The amount'),
    amountUsd: () => t('The value in USD'),
    percentOfBalance: () => t('The share of what is available'),
    maxFee: () => t('The highest network fee'),
    riskScore: () => t('The risk score of the screening'),
    velocityAmount: () => t('The sum of the transfers of this token {window}', { window: windowOf(expected) }),
    velocityUsd: () => t('The value of all transfers {window}', { window: windowOf(expected) }),
    velocityCount: () => t('The number of transfers {window}', { window: windowOf(expected) }),
    token: () => t('The token'),
    network: () => t('The network'),
    sourceAddress: () => t('The paying address'),
    addressGroup: () => t('The folder of the paying address'),
    routeVariant: () => t('The purpose of the paying address'),
    destination: () => t('The address of the recipient'),
    destinationType: () => t('The recipient'),
    destinationAgeHours: () => t('The time since the address of the recipient was added'),
    firstPaymentToDestination: () => t('The first payment to this address'),
    addressLookAlike: () => t('The similarity to another known address'),
    counterparty: () => t('The counterparty'),
    counterpartyGroup: () => t('The group of the counterparty'),
    counterpartyKind: () => t('The kind of the counterparty'),
    counterpartyAgeHours: () => t('The time since the counterparty was added'),
    initiator: () => t('The initiator'),
    initiatorGroup: () => t('The group of the initiator'),
    initiatorKind: () => t('The initiator'),
    category: () => t('The category'),
    time: () => t('The time of the order'),
  }
  return subjects[selectorType]?.() ?? t('The property “{name}”', { name: selectorType })
}

function windowOf(expected: unknown): string {
  const { windowSeconds = 0, per } = (expected ?? {}) as { windowSeconds?: number; per?: string }
  const window = durationOf(windowSeconds)
  if (per === 'initiator') return t('by the same person within {window}', { window })
  if (per === 'sourceAddress') return t('from the same address within {window}', { window })
  if (per === 'destination') return t('to the same recipient within {window}', { window })
  return t('in the whole vault within {window}', { window })
}

function durationOf(seconds: number): string {
  const sizes = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const
  const [unit, size] = sizes.find((entry) => seconds % entry[1] === 0) ?? (['second', 1] as const)
  return formatter(Intl.NumberFormat, { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / size)
}

const compared =
  /^(amount|amountUsd|percentOfBalance|maxFee|riskScore|velocity\w+|counterpartyAgeHours|destinationAgeHours)$/

function conditionOf({ selectorType, expected }: Selector, nameOf: NameOf): string {
  if (compared.test(selectorType)) return comparisonOf(selectorType, expected)
  if (selectorType === 'time') return weeklyWindowOf(expected)
  return listOf(selectorType, expected, nameOf)
}

function comparisonOf(selectorType: string, expected: unknown): string {
  const { op, value = '', min = '', max = '' } = (expected ?? {}) as Record<string, string>
  const bound = figureOf(selectorType, value)
  if (op === 'between') {
    return t('between {min} and {max}', { min: figureOf(selectorType, min), max: figureOf(selectorType, max) })
  }
  if (op === 'gt') return t('more than {bound}', { bound })
  if (op === 'gte') return t('at least {bound}', { bound })
  if (op === 'lt') return t('less than {bound}', { bound })
  return t('at most {bound}', { bound })
}

function figureOf(selectorType: string, value: string): string {
  if (!/^-?\d+(\.\d+)?$/.test(value)) return value
  if (selectorType === 'amountUsd' || selectorType === 'velocityUsd') return formatUsd(value)
  if (selectorType === 'percentOfBalance') return t('{figure} %', { figure: formatAmount(rounded(value)) })
  if (/AgeHours$/.test(selectorType)) return t('{figure} hours', { figure: formatAmount(rounded(value)) })
  return formatAmount(value)
}

/** Shares and ages are observed with many insignificant digits. */
function rounded(value: string): string {
  const [whole = '0', fraction = ''] = value.split('.')
  const shown = fraction.slice(0, 2).replace(/0+$/, '')
  return shown === '' ? whole : `${whole}.${shown}`
}

function weeklyWindowOf(expected: unknown): string {
  const {
    timezone = '',
    days = [],
    from = '',
    to = '',
  } = (expected ?? {}) as {
    timezone?: string
    days?: string[]
    from?: string
    to?: string
  }
  const names = formatter(Intl.ListFormat, { type: 'unit', style: 'short' }).format(days.map(dayName))
  return t('within {days}, {from} to {to} ({timezone})', { days: names, from, to, timezone })
}

function dayName(day: string): string {
  const index = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].indexOf(day)
  // 5 January 1970 was a Monday.
  const date = new Date(Date.UTC(1970, 0, 5 + Math.max(index, 0)))
  return formatter(Intl.DateTimeFormat, { weekday: 'short', timeZone: 'UTC' }).format(date)
}

function observedOf({ selectorType, observed }: Selector, nameOf: NameOf): string | null {
  if (observed === null || observed === undefined) return null
  if (compared.test(selectorType)) return figureOf(selectorType, String(observed))
  if (selectorType === 'time') return wallClockOf(String(observed))
  if (Array.isArray(observed) && observed.length === 0) return t('none')
  return listOf(selectorType, observed, nameOf)
}

/** Returns the local time of "2026-08-03T14:30+02:00[Europe/Berlin]" in its own zone, not in the zone of the reader. */
function wallClockOf(text: string): string {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)[^[]*(?:\[(.+)\])?$/.exec(text)
  if (match === null) return text
  const format = formatter(Intl.DateTimeFormat, {
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
  })
  return format.format(new Date(`${match[1]}:00Z`))
}

function listOf(selectorType: string, value: unknown, nameOf: NameOf): string {
  const values = Array.isArray(value) ? value : [value]
  const names = values.map((item) => wordOf(selectorType, item, nameOf))
  return formatter(Intl.ListFormat, { type: 'disjunction' }).format(names)
}

const kinds: Record<string, NameKind> = {
  token: 'token',
  sourceAddress: 'address',
  destination: 'address',
  addressGroup: 'folder',
  counterparty: 'counterparty',
  counterpartyGroup: 'counterpartyGroup',
  initiator: 'person',
  initiatorGroup: 'policyGroup',
  category: 'category',
}

function wordOf(selectorType: string, value: unknown, nameOf: NameOf): string {
  if (typeof value === 'boolean') return value ? t('yes') : t('no')
  if (typeof value !== 'string') {
    const { route, variant } = (value ?? {}) as { route?: string; variant?: string }
    return route === undefined ? JSON.stringify(value) : `${route}: ${variant ?? '–'}`
  }
  if (selectorType === 'destinationType') return destinationWords()[value] ?? value
  if (selectorType === 'initiatorKind') return value === 'service' ? t('a service') : t('a person')
  if (selectorType === 'counterpartyKind') return counterpartyWords()[value] ?? value
  const kind = kinds[selectorType]
  return kind === undefined ? value : nameOf(kind, value)
}

function destinationWords(): Record<string, string> {
  return {
    internal: t('an address of the vault'),
    counterparty: t('in the address book'),
    unknown: t('unknown to the address book'),
  }
}

function counterpartyWords(): Record<string, string> {
  return {
    individual: t('a person'),
    company: t('a company'),
    exchange: t('an exchange'),
    service: t('a service'),
    other: t('something else'),
  }
}
