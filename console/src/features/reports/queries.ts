import type { AuditorArchiveCreation, FileAnswer, Pages, ReportExport, ReportExportCreation } from '@strongroom/sdk'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { strongroom, vaultOf } from '../../lib/api.ts'
import { languageNow } from '../../lib/language.ts'
import type { ReportType } from './types.ts'

export type Parameters = Record<string, unknown>
export type Format = 'csv' | 'xlsx' | 'pdf'

/** Reads a report of a vault by its name in the API. The service refuses parameters of other reports. */
function read(code: string, type: ReportType, parameters: Parameters, signal?: AbortSignal) {
  const { reports } = vaultOf(code)
  const options = signal === undefined ? {} : { signal }
  const methods = {
    transaction_activity: () => reports.transactionActivity(parameters as never, options),
    asset_movement: () => reports.assetMovement(parameters as never, options),
    address_activity: () => reports.addressActivity(parameters as never, options),
    counterparty_activity: () => reports.counterpartyActivity(parameters as never, options),
    counterparty_group_activity: () => reports.counterpartyGroupActivity(parameters as never, options),
    account_statement: () => reports.accountStatement(parameters as never, options),
    operations: () => reports.operations(parameters as never, options),
    operations_exceptions: () => reports.operationsExceptions(parameters as never, options),
    fees: () => reports.fees(parameters as never, options),
    approval_activity: () => reports.approvalActivity(parameters as never, options),
    category_analytics: () => reports.categoryAnalytics(parameters as never, options),
  }
  return methods[type]() as Promise<unknown>
}

/** Reads a report that is a single answer. */
export function reportQuery<Report>(code: string, type: ReportType, parameters: Parameters, enabled: boolean) {
  return queryOptions({
    queryKey: ['reports', code, type, parameters],
    queryFn: ({ signal }) => read(code, type, parameters, signal) as Promise<Report>,
    enabled,
  })
}

/** Reads a report page by page. */
export function pagedReportQuery<Report extends { nextCursor: string | null }>(
  code: string,
  type: ReportType,
  parameters: Parameters,
  enabled: boolean,
) {
  return infiniteQueryOptions({
    queryKey: ['reports', code, type, parameters, 'pages'],
    queryFn: ({ signal, pageParam }) =>
      read(
        code,
        type,
        { ...parameters, limit: 100, ...(pageParam === '' ? {} : { cursor: pageParam }) },
        signal,
      ) as Promise<Report>,
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }: Report) => nextCursor,
    enabled,
  })
}

/** Reads the report as a file, which the service makes while it sends it. */
/** Returns the language of a PDF, which has no language for tests. */
const languageOfFiles = () => (languageNow() === 'de' ? 'de' : 'en')

export function readFile(code: string, type: ReportType, parameters: Parameters, format: Format): Promise<FileAnswer> {
  return read(code, type, { ...parameters, format, language: languageOfFiles() }) as Promise<FileAnswer>
}

export async function orderExport(code: string, type: ReportType, parameters: Parameters, format: Format, key: string) {
  const body = { ...parameters, format, language: languageOfFiles() } as ReportExportCreation
  return vaultOf(code).reports.createExport(type, body, { idempotencyKey: key })
}

/** Orders an archive for an auditor. */
export async function orderArchive(code: string, period: AuditorArchiveCreation, key: string) {
  const body = { ...period, language: languageOfFiles() } as const
  return vaultOf(code).reports.createAuditorArchive(body, { idempotencyKey: key })
}

export function exportQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['reports', code, 'export', id],
    queryFn: ({ signal }) => vaultOf(code).reports.getExport(id, { signal }),
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? 2_000 : false),
  })
}

/** Reads the exports of the reader, newest first. */
export function exportsQuery(code: string) {
  return infiniteQueryOptions({
    queryKey: ['reports', code, 'exports'],
    queryFn: ({ signal, pageParam }) =>
      vaultOf(code)
        .reports.listExports({ limit: 20, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ items }) => items.some(isUnderWay)) === true ? 2_000 : false,
  })
}

export function isUnderWay(report: ReportExport | undefined): boolean {
  return report === undefined || report.state === 'queued' || report.state === 'running'
}

export function downloadExport(code: string, id: string): Promise<FileAnswer> {
  return vaultOf(code).reports.downloadExport(id)
}

/** A choice of a filter. */
export type Option = { value: string; label: string }
const limit = 100

/** Reads the first 500 items or so, as many as a list of choices can show. */
async function firstOf<Item>(list: Pages<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const page of list.pages()) {
    items.push(...page.items)
    if (items.length >= 500) break
  }
  return items
}

export const tokenOptions = queryOptions({
  queryKey: ['tokens', 'options'],
  queryFn: async () => {
    const items = await firstOf(strongroom.tokens.list({ limit }))
    return items.map(({ id, symbol, network }): Option => ({ value: id, label: `${symbol} · ${network}` }))
  },
})

export const networkOptions = queryOptions({
  queryKey: ['networks', 'options'],
  queryFn: async () => {
    const items = await firstOf(strongroom.networks.list({ limit }))
    return items.map(({ slug, name }): Option => ({ value: slug, label: name }))
  },
})

export function addressOptions(code: string) {
  return queryOptions({
    queryKey: ['addresses', code, 'options'],
    queryFn: async () => {
      const items = await firstOf(vaultOf(code).addresses.list({ limit, access: 'all' }))
      return items.map(
        ({ id, label, address, network }): Option => ({
          value: id,
          label: `${label === null ? '' : `${label} · `}${address} · ${network}`,
        }),
      )
    },
  })
}

export function folderOptions(code: string) {
  return queryOptions({
    queryKey: ['address-groups', code, 'options'],
    queryFn: async () => named(await firstOf(vaultOf(code).addressGroups.list({ limit }))),
  })
}

export function counterpartyOptions(code: string) {
  return queryOptions({
    queryKey: ['counterparties', code, 'options'],
    queryFn: async () => named(await firstOf(vaultOf(code).counterparties.list({ limit }))),
  })
}

export function counterpartyGroupOptions(code: string) {
  return queryOptions({
    queryKey: ['counterparty-groups', code, 'options'],
    queryFn: async () => named(await firstOf(vaultOf(code).counterpartyGroups.list({ limit }))),
  })
}

export function memberOptions(code: string) {
  return queryOptions({
    queryKey: ['members', code, 'options'],
    queryFn: async () => {
      const items = await firstOf(vaultOf(code).members.list({ limit }))
      return items.map(({ userId, name }): Option => ({ value: userId, label: name }))
    },
  })
}

export function policyOptions(code: string) {
  return queryOptions({
    queryKey: ['policies', code, 'options'],
    queryFn: async () => named(await firstOf(vaultOf(code).policies.list({ limit }))),
  })
}

export function categoryOptions(code: string) {
  return queryOptions({
    queryKey: ['operation-categories', code, 'options'],
    queryFn: async () => {
      const items = await firstOf(vaultOf(code).operationCategories.list({ limit }))
      return items.map(({ key, name }): Option => ({ value: key, label: name }))
    },
  })
}

function named(items: readonly { id: string; name: string }[]): Option[] {
  return items.map(({ id, name }) => ({ value: id, label: name }))
}
