import type { AuditRecord, ListAuditRecordsQuery, Pages } from '@strongroom/sdk'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { strongroom, vaultOf } from '../../lib/api.ts'
import type { Seal } from '../../lib/hashes.ts'

/** The log of a vault by its code, or the log of the platform. */
export type Log = { code: string } | 'platform'
export type AuditFilter = Pick<ListAuditRecordsQuery, 'actor' | 'action' | 'target' | 'from' | 'to'>

/** The newest head of each log that a person has noted down. */
type NotedHeads = Record<string, { hash: string; sequence: number; at: string }>

export const nameOfLog = (log: Log) => (log === 'platform' ? 'platform' : `vault ${log.code}`)

export function notedHeadsOf(preferences: Record<string, unknown> | undefined): NotedHeads {
  return (preferences?.notedHeads ?? {}) as NotedHeads
}

function logOf(log: Log) {
  return log === 'platform' ? strongroom.auditLog : vaultOf(log.code).auditLog
}

export function auditQuery(log: Log, filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ['audit', log === 'platform' ? log : log.code, filter],
    queryFn: ({ signal, pageParam }) =>
      logOf(log)
        .list({ ...filter, limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** Reads every record of the log, newest first, page by page. */
export function allRecords(log: Log, signal: AbortSignal): Pages<AuditRecord> {
  return logOf(log).list({ limit: 100 }, { signal })
}

function sealsOf(log: Log, query: { sequence?: number }, signal: AbortSignal): Pages<Seal & { chain: string }> {
  if (log === 'platform') return strongroom.auditLog.listPlatformAuditSeals(query, { signal })
  return vaultOf(log.code).auditLog.listAuditSeals(query, { signal })
}

/** Reads the seals of the log, newest first. */
export function allSeals(log: Log, signal: AbortSignal): Pages<Seal & { chain: string }> {
  return sealsOf(log, {}, signal)
}

export async function sealOf(
  log: Log,
  sequence: number,
  signal: AbortSignal,
): Promise<(Seal & { chain: string }) | null> {
  const { items } = await sealsOf(log, { sequence }, signal).page()
  return items[0] ?? null
}

export function evidenceOf(code: string, transferId: string) {
  return vaultOf(code).transfers.getEvidence(transferId)
}
