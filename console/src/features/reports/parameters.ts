import { addDays, intervalOf, isDay, isPeriod, todayIn } from './period.ts'
import type { ReportType } from './types.ts'

const texts = [
  'period',
  'from',
  'until',
  'timezone',
  'dateBasis',
  'groupBy',
  'comparison',
  'counterpartyClassification',
  'includeShared',
  'includeInternal',
  'breakdownBy',
  'userId',
  'addressId',
  'folderId',
  'counterpartyId',
  'counterpartyGroupId',
  'tokenId',
  'categoryKey',
  'minimumAmount',
  'maximumAmount',
] as const

const listNames = [
  'statuses',
  'flowTypes',
  'tokenIds',
  'networkIds',
  'ownAddressIds',
  'folderIds',
  'counterpartyIds',
  'counterpartyGroupIds',
  'categories',
  'initiatorIds',
  'approvalPolicyIds',
  'feePayerIds',
  'feeKinds',
  'exceptions',
] as const

export type ListName = (typeof listNames)[number]
export type SearchName = (typeof texts)[number] | ListName
/**
 * The parameters of a report in the URL, under the names of the API. A list is a text with commas; `until` is the last
 * day, inclusive.
 */
export type ReportSearch = Partial<Record<SearchName, string>>

/** Keeps the known parameters and drops everything else, because a URL may hold anything. */
export function searchOf(raw: Record<string, unknown>): ReportSearch {
  const search: ReportSearch = {}
  for (const name of [...texts, ...listNames]) {
    const value = raw[name]
    // The router reads numbers and booleans from texts that look like them.
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    if (typeof text === 'string' && text !== '' && text.length <= 4_000) search[name] = text
  }
  return search
}

export function listOf(text: string | undefined): string[] {
  return (text ?? '').split(',').filter((part) => part !== '')
}

const subjects: readonly SearchName[] = [
  'addressId',
  'folderId',
  'counterpartyId',
  'counterpartyGroupId',
  'tokenId',
  'categoryKey',
]

/** The parameters of some reports only, with the subject of each report. */
const takes: Record<ReportType, readonly SearchName[]> = {
  transaction_activity: ['groupBy', 'comparison'],
  asset_movement: ['groupBy', 'comparison'],
  address_activity: ['groupBy', 'comparison', 'addressId', 'folderId'],
  counterparty_activity: ['groupBy', 'comparison', 'counterpartyId'],
  counterparty_group_activity: ['groupBy', 'comparison', 'counterpartyGroupId'],
  account_statement: ['addressId', 'tokenId'],
  operations: [],
  operations_exceptions: ['exceptions'],
  fees: ['groupBy'],
  approval_activity: [],
  category_analytics: ['categoryKey'],
}

/** A statement covers a whole account, so filters of operations do not apply to it. */
const ofEveryReport: readonly SearchName[] = ['timezone', 'includeShared', 'userId', 'breakdownBy']

export function isTaken(type: ReportType, name: SearchName): boolean {
  if (takes[type].includes(name) || ofEveryReport.includes(name)) return true
  if (subjects.includes(name) || ['groupBy', 'comparison', 'exceptions'].includes(name)) return false
  return type !== 'account_statement'
}

/** Returns the parameter that must still be chosen before the report can be read, or null. */
export function missingSubject(type: ReportType, search: ReportSearch): SearchName | null {
  if (type === 'address_activity') return (search.addressId ?? search.folderId) ? null : 'addressId'
  return takes[type].find((name) => subjects.includes(name) && search[name] === undefined) ?? null
}

/** Returns the parameters for the API, with lists as arrays and the interval in days of the zone. */
export function parametersOf(type: ReportType, search: ReportSearch, zone: string, now?: Date) {
  const timezone = search.timezone ?? zone
  const parameters: Record<string, unknown> = { timezone, ...intervalIn(search, timezone, now) }
  for (const [name, value] of Object.entries(search) as [SearchName, string][]) {
    if (['period', 'from', 'until', 'timezone'].includes(name) || !isTaken(type, name)) continue
    const isList = (listNames as readonly string[]).includes(name)
    const isFlag = name === 'includeShared' || name === 'includeInternal'
    parameters[name] = isList ? listOf(value) : isFlag ? value === 'true' : value
  }
  return parameters
}

export function intervalIn(search: ReportSearch, timezone: string, now?: Date): { from: string; to: string } {
  const { from, until } = search
  if (from !== undefined && until !== undefined && isDay(from) && isDay(until)) return { from, to: addDays(until, 1) }
  const period = search.period !== undefined && isPeriod(search.period) ? search.period : 'last30'
  return intervalOf(period, todayIn(timezone, now))
}

/** Changes parameters of the URL. */
export type Change = (changed: Partial<Record<SearchName, string | undefined>>) => void
export type SettingsProps = { code: string; type: ReportType; search: ReportSearch; change: Change }
