import type { PolicyTrace } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'

/** A comparison of a policy: the property, its expected value and its observed value. */
export type Comparison = { what: string; expected: string; observed: string; matched: boolean }

/**
 * Returns the deciding comparisons of a policy: those of its matching rules if the policy matched, otherwise those of
 * the rules that did not match.
 */
export function comparisonsOf(policy: PolicyTrace): Comparison[] {
  const selectors = policy.rules
    .filter(({ matched }) => matched === policy.matched)
    .flatMap(({ selectors }) => selectors)
  return selectors.map(({ selectorType, expected, observed, matched }) => ({
    what: selectorWords()[selectorType] ?? selectorType,
    expected: words(expected),
    observed: words(observed),
    matched,
  }))
}

function selectorWords(): Record<string, string> {
  return {
    amount: t('Amount'),
    amountUsd: t('Amount in USD'),
    percentOfBalance: t('Per cent of the balance'),
    maxFee: t('Highest network fee'),
    velocityAmount: t('Sum within a time'),
    velocityUsd: t('Sum in USD within a time'),
    velocityCount: t('Transfers within a time'),
    token: t('Token'),
    network: t('Network'),
    sourceAddress: t('Address that pays'),
    addressGroup: t('Folder of the address that pays'),
    routeVariant: t('Part of the vault'),
    destination: t('Address of the recipient'),
    destinationType: t('Kind of recipient'),
    destinationAgeHours: t('Hours since the address is known'),
    firstPaymentToDestination: t('First payment to the address'),
    addressLookAlike: t('Looks like another known address'),
    counterparty: t('Recipient'),
    counterpartyGroup: t('Group of the recipient'),
    counterpartyKind: t('Kind of counterparty'),
    counterpartyAgeHours: t('Hours since the recipient is known'),
    initiator: t('Who orders'),
    initiatorGroup: t('Group of who orders'),
    initiatorKind: t('Person or service'),
    category: t('Category'),
    time: t('Time'),
  }
}

function words(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'string' || typeof value === 'number') return plain(String(value))
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(words).join(', ')
  if (typeof value !== 'object') return String(value)
  const { op, min, max, windowSeconds, ...rest } = value as Record<string, unknown>
  if (op === undefined) return Object.values(value).map(words).join(', ')
  const limit = words(rest.value)
  const within = windowSeconds === undefined ? '' : ` · ${windowWords(Number(windowSeconds))}`
  switch (op) {
    case 'gt':
      return t('more than {limit}', { limit }) + within
    case 'gte':
      return t('at least {limit}', { limit }) + within
    case 'lt':
      return t('less than {limit}', { limit }) + within
    case 'lte':
      return t('at most {limit}', { limit }) + within
    default:
      return t('from {min} to {max}', { min: words(min), max: words(max) })
  }
}

function plain(text: string): string {
  const known: Record<string, string> = {
    internal: t('own address'),
    counterparty: t('in the address book'),
    unknown: t('not in the address book'),
  }
  return known[text] ?? text
}

function windowWords(seconds: number): string {
  if (seconds % 86_400 === 0) return t('{count, plural, one {in a day} other {in # days}}', { count: seconds / 86_400 })
  if (seconds % 3_600 === 0)
    return t('{count, plural, one {in an hour} other {in # hours}}', { count: seconds / 3_600 })
  return t('{count, plural, one {in a minute} other {in # minutes}}', { count: Math.round(seconds / 60) })
}
