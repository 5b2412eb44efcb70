import type { ListHistoryQuery } from '@strongroom/sdk'
import { addDays, endOfDay, formatLocalDay, isDay, startOfDay } from '../../lib/day.ts'
import { formatter } from '../../lib/formatter.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { statusWord } from '../../ui/operation-status.tsx'

/** The filters have the names of the API, so that the link of a figure in a report opens here unchanged. */
const textFilters = [
  'direction',
  'statuses',
  'flowType',
  'asset',
  'tokenId',
  'network',
  'addressId',
  'folderId',
  'counterpartyId',
  'counterpartyGroupId',
  'counterpartyAddressId',
  'category',
  'paymentPurpose',
  'decisionPolicyId',
  'txHash',
  'initiatorId',
  'minimumAmount',
  'maximumAmount',
  'search',
  'from',
  'to',
  'userId',
  'includeShared',
] as const

export type FilterName = (typeof textFilters)[number]
/**
 * The filters of the URL. `statuses` is a comma-separated list; `from` and `to` are days in the reader's time zone, or
 * instants.
 */
export type ActivityFilter = Partial<Record<FilterName, string>>

/** Keeps the known filters and drops everything else, because a URL may hold anything. */
export function filterOf(search: Record<string, unknown>): ActivityFilter {
  const filter: ActivityFilter = {}
  // Links of older versions have `status`.
  const known: Record<string, unknown> = { ...search, statuses: search.statuses ?? search.status }
  for (const name of textFilters) {
    const value = known[name]
    const text = typeof value === 'number' ? writtenAs(value) : value === false ? 'false' : value
    if (typeof text === 'string' && text !== '' && text.length <= 300) filter[name] = text
  }
  if (filter.direction !== undefined && !['in', 'out'].includes(filter.direction)) delete filter.direction
  if (filter.includeShared !== 'false') delete filter.includeShared
  if (filter.flowType !== undefined && !['internal', 'external'].includes(filter.flowType)) delete filter.flowType
  return filter
}

/** Restores the text of a number: the router reads "123" as a number. A number that has lost digits is dropped. */
function writtenAs(value: number): string | undefined {
  const isExact = Number.isSafeInteger(value) || !Number.isInteger(value)
  return isExact ? String(value) : undefined
}

/** Returns the filter as the API takes it. Days become the instants at which they begin and end for the reader. */
export function queryOf(filter: ActivityFilter): ListHistoryQuery {
  const { from, to, statuses, minimumAmount, maximumAmount, ...rest } = filter
  // Amounts are in units of a token, and are dropped without a token.
  const amounts = rest.tokenId === undefined ? {} : { minimumAmount, maximumAmount }
  return {
    ...withoutGaps({ ...rest, ...amounts }),
    ...(statuses === undefined ? {} : { statuses: statuses.split(',') }),
    ...(from === undefined ? {} : { from: isDay(from) ? startOfDay(from) : from }),
    ...(to === undefined ? {} : { to: isDay(to) ? endOfDay(to) : to }),
    includeShared: rest.includeShared === undefined,
  } as ListHistoryQuery
}

function withoutGaps(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Returns the filter with changes. Empty values are removed, and so are the amounts when the token changes. */
export function withChanges(filter: ActivityFilter, changes: ActivityFilter): ActivityFilter {
  const amounts = 'tokenId' in changes ? { minimumAmount: '', maximumAmount: '' } : {}
  const entries = Object.entries({ ...filter, ...amounts, ...changes })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== ''))
}

type FilterNames = (name: FilterName, id: string) => string | undefined
export type Chip = { name: FilterName; text: string }

/** Describes the active filters in words, one chip per filter. */
export function chipsOf(filter: ActivityFilter, nameOf: FilterNames): Chip[] {
  return textFilters.flatMap((name) => {
    const value = filter[name]
    return value === undefined ? [] : [{ name, text: chipText(name, value, nameOf) }]
  })
}

function chipText(name: FilterName, value: string, nameOf: FilterNames): string {
  const known = nameOf(name, value) ?? value
  const texts: Record<FilterName, () => string> = {
    direction: () => (value === 'in' ? t('Received') : t('Sent')),
    statuses: () => listed(value.split(',').map((status) => statusWord(status))),
    flowType: () => (value === 'internal' ? t('Within the vault') : t('With others')),
    asset: () => t('Token: {name}', { name: value }),
    tokenId: () => t('Token: {name}', { name: known }),
    network: () => t('Network: {name}', { name: value }),
    addressId: () => t('Address: {name}', { name: known }),
    folderId: () => t('Folder: {name}', { name: known }),
    counterpartyId: () => t('Counterparty: {name}', { name: known }),
    counterpartyGroupId: () => t('Counterparty group: {name}', { name: known }),
    counterpartyAddressId: () => t('Address of the counterparty: {name}', { name: known }),
    category: () => t('Category: {name}', { name: known }),
    paymentPurpose: () => t('Purpose: {name}', { name: value }),
    decisionPolicyId: () => t('Decided by: {name}', { name: known }),
    txHash: () => t('Hash: {name}', { name: value }),
    initiatorId: () => t('Ordered by {name}', { name: known }),
    minimumAmount: () => t('At least {amount}', { amount: known }),
    maximumAmount: () => t('At most {amount}', { amount: known }),
    search: () => t('“{text}”', { text: value }),
    from: () => t('From {day}', { day: dayWords(value) }),
    to: () => t('Until {day}', { day: dayWords(value) }),
    userId: () => t('Person: {name}', { name: known }),
    includeShared: () => t('Without operations that others share'),
  }
  return texts[name]()
}

function dayWords(value: string): string {
  if (isDay(value)) return formatLocalDay(value)
  return Number.isNaN(new Date(value).getTime()) ? value : formatTime(value)
}

function listed(words: string[]): string {
  return formatter(Intl.ListFormat, { type: 'disjunction' }).format(words)
}

type Preset = { key: string; label: string; from: string; to: string }

/** Periods that are often chosen, as days in the reader's time zone. */
export function presets(today: string): Preset[] {
  const month = today.slice(0, 7)
  const lastOfLastMonth = addDays(`${month}-01`, -1)
  return [
    { key: 'today', label: t('Today'), from: today, to: today },
    { key: 'week', label: t('Last 7 days'), from: addDays(today, -6), to: today },
    { key: 'days30', label: t('Last 30 days'), from: addDays(today, -29), to: today },
    { key: 'month', label: t('This month'), from: `${month}-01`, to: today },
    { key: 'lastMonth', label: t('Last month'), from: `${lastOfLastMonth.slice(0, 7)}-01`, to: lastOfLastMonth },
    { key: 'year', label: t('This year'), from: `${today.slice(0, 4)}-01-01`, to: today },
  ]
}

/** Returns the instant back to which a list has searched, as its cursor says, or null if the cursor does not say it. */
export function lookedBackTo(cursor: string): string | null {
  try {
    const text = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))
    const milliseconds = /^(\d{12,14})\./.exec(text)?.[1]
    return milliseconds === undefined ? null : new Date(Number(milliseconds)).toISOString()
  } catch {
    return null
  }
}
