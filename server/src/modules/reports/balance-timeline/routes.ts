import { addressScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { badRequest } from '../../../lib/errors.ts'
import { daysBefore, isZone, parseInstant } from '../requests/buckets.ts'
import { pointsOf } from './points.ts'
import { toBalanceTimeline } from './present.ts'
import { listBalancesAt } from './queries.ts'
import { BalanceTimeline, BalanceTimelineQuery } from './schema.ts'

const defaultDays = 30

export function balanceTimelineRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Ledger', { access: 'member', scopes: { reads: 'read' } })

  api.get('getBalanceTimeline', '/vaults/:code/balances/timeline', {
    summary: 'Get the timeline of balances',
    description:
      'Balances at the end of each hour, day, week or month, per token and in USD, from one snapshot. Members see their ' +
      'own addresses, with `includeShared` also addresses shared with them; administrators see the whole vault.',
    querystring: BalanceTimelineQuery,
    answers: { 200: BalanceTimeline },
    handler: async (_db, { member, query, now }) => {
      const { timezone = 'UTC', groupBy = 'day', addressId = null, tokenId = null, folderId, includeShared } = query
      const scope = addressScopeOf(member, { folderId, includeShared })
      if (!isZone(timezone)) throw badRequest('timezone', 'must be a zone of the IANA database, such as Europe/Berlin')
      const requestedTo = query.to === undefined ? now : parseInstant('to', query.to, timezone)
      const to = new Date(Math.min(requestedTo.getTime(), now.getTime()))
      const from =
        query.from === undefined ? daysBefore(to, timezone, defaultDays) : parseInstant('from', query.from, timezone)
      if (from >= to) throw badRequest('from', 'must be before to, and before now')
      const interval = { from, to }
      const instants = pointsOf(interval, timezone, groupBy)
      const rows = await deps.slowReads.inTurn(member.userId, () =>
        deps.slowReads.onReplica((db) => listBalancesAt(db, scope, instants, { addressId, tokenId })),
      )
      return toBalanceTimeline(rows, { interval, timezone, instants })
    },
  })
}
