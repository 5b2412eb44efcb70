import { queryOptions } from '@tanstack/react-query'
import { allOf } from '../../lib/all.ts'
import { strongroom, vaultOf } from '../../lib/api.ts'
import { addDays, dayOf, startOfDay } from '../../lib/day.ts'
import { zone } from '../../lib/time.ts'
import { nameOfLog, notedHeadsOf } from '../audit/queries.ts'

export function balancesQuery(code: string) {
  return queryOptions({
    queryKey: ['balances', code, 'summary'],
    queryFn: ({ signal }) => vaultOf(code).balances.get({ summary: true, includeShared: true }, { signal }),
  })
}

/** Reads the balances before the last days of the reader, and at the end of each. More than 120 days are read by week. */
export function timelineQuery(code: string, days: number) {
  const to = addDays(dayOf(new Date()), 1)
  const from = addDays(to, -days - 1)
  return queryOptions({
    queryKey: ['balances', code, 'timeline', from, days],
    queryFn: ({ signal }) =>
      vaultOf(code).balances.getTimeline(
        {
          from: startOfDay(from),
          to: startOfDay(to),
          timezone: zone,
          groupBy: days > 120 ? 'week' : 'day',
          includeShared: true,
        },
        { signal },
      ),
    staleTime: 60_000,
  })
}

/** Reads the flows of the last 30 days of the reader, by day, with the observations of the service. */
export function flowsQuery(code: string) {
  const to = addDays(dayOf(new Date()), 1)
  const from = addDays(to, -30)
  return queryOptions({
    queryKey: ['reports', code, 'home', from],
    queryFn: ({ signal }) =>
      vaultOf(code).reports.transactionActivity(
        { from, to, timezone: zone, groupBy: 'day', includeShared: true },
        { signal },
      ),
    staleTime: 60_000,
  })
}

export const waitingQuery = queryOptions({
  queryKey: ['inbox', 'waiting', 'home'],
  queryFn: ({ signal }) => strongroom.inbox.list({ state: 'waiting', limit: 20 }, { signal }).page(),
})

export function latestQuery(code: string) {
  return queryOptions({
    queryKey: ['history', code, 'latest'],
    queryFn: ({ signal }) => vaultOf(code).history.list({ limit: 6, includeShared: true }, { signal }).page(),
  })
}

/** Reads the facts for the checklist of the first run. Most facts need a list of one item only. */
export function firstRunQuery(code: string) {
  return queryOptions({
    queryKey: ['first-run', code],
    queryFn: ({ signal }) => readFacts(code, signal),
    staleTime: 10_000,
  })
}

async function readFacts(code: string, signal: AbortSignal) {
  const vault = vaultOf(code)
  const firstItem = { limit: 1 }
  const [structure, members, tokens, policies, addresses, deposits, transfers, preferences] = await Promise.all([
    vault.get({ signal }),
    allOf(vault.members.list({ kind: 'person', limit: 100 }, { signal })),
    allOf(strongroom.tokens.list({ enabled: true, limit: 100 }, { signal })),
    vault.policies.list(firstItem, { signal }).page(),
    vault.addresses.list(firstItem, { signal }).page(),
    vault.deposits.list(firstItem, { signal }).page(),
    vault.transfers.list(firstItem, { signal }).page(),
    strongroom.me.getPreferences({ signal }),
  ])
  const slugs = structure.networks.map(({ slug }) => slug)
  const token = tokens.find(({ network }) => slugs.includes(network))
  const rates = token === undefined ? null : await strongroom.tokens.listRates(token.id, firstItem, { signal }).page()
  return {
    isLocked: structure.lockedAt !== null,
    administrators: members.filter(({ isAdmin }) => isAdmin).length,
    membersSeen: members.filter(({ lastSeenAt }) => lastSeenAt !== null).length,
    hasToken: token !== undefined,
    hasPolicy: policies.items.length > 0,
    hasAddress: addresses.items.length > 0,
    hasDeposit: deposits.items.length > 0,
    hasTransfer: transfers.items.length > 0,
    hasRate: rates !== null && rates.items.length > 0,
    hasNotedHead: notedHeadsOf(preferences)[nameOfLog({ code })] !== undefined,
  }
}
