import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import { VaultParams } from '../../../http/schema.ts'
import { cursorTag, decodeCursor, encodeCursor } from '../../../lib/cursor.ts'
import { badRequest, forbidden } from '../../../lib/errors.ts'
import { backtestItemsMax, backtestTransfersMax } from '../../../lib/limits.ts'
import { parseBounds } from '../../../lib/period.ts'
import { readDrafts } from '../../rules/policies/draft-policies.ts'
import { toPolicySimulation } from '../../rules/policies/present.ts'
import { findInitiator } from '../../rules/policies/queries.ts'
import { PolicySimulation } from '../../rules/policies/schema.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { backtest } from './backtest.ts'
import { toBacktest } from './present.ts'
import { Backtest, BacktestOrder, SimulationOrder } from './schema.ts'
import { simulate } from './simulate.ts'

/** @param executors the executors that read the payloads of counterparty actions */
export function simulationRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Policies')

  api.calculate(
    '/vaults/:code/policies/simulate',
    {
      operationId: 'simulatePolicies',
      summary: 'Simulate policies',
      description:
        'Decides an action without carrying it out. Members simulate their own actions, administrators and auditors ' +
        'those of any member. The trace shows for every candidate policy why it matches or does not; `funds` whether the ' +
        'balance suffices for a transfer. With `draft`, they try policies before they are saved.',
      access: 'member',
      errors: ['administrator_required', 'archived', 'held', 'not_permitted'],
      params: VaultParams,
      body: SimulationOrder,
      answers: { 200: PolicySimulation },
    },
    async (db, { member, body, now }) => {
      const { actionType, initiatorId = member.userId, targetId = null, payload } = body
      const isOwn = initiatorId === member.userId
      if (!isOwn && !member.readsAll)
        throw forbidden(
          'administrator_required',
          'Only administrators and auditors may simulate the actions of another member',
        )
      const initiator = isOwn ? member : await findInitiator(db, member.vault.id, initiatorId)
      // A bound that the caller chooses tells, by matching or not, the sums that the trace hides.
      if (body.draft !== undefined && !member.readsAll)
        throw forbidden(
          'administrator_required',
          'Only administrators and auditors may simulate policies that are not saved',
        )
      if (initiator === null) throw badRequest('initiatorId', 'is not a member of the vault, or is disabled')
      const drafts = body.draft === undefined ? null : await readDrafts(db, member.vault.id, body.draft, now)
      const outcome = await simulate(db, executors, { member, initiator, actionType, targetId, payload, drafts, now })
      const simulation = toPolicySimulation(outcome.decision, { readsAll: member.readsAll, isInitiator: true })
      return ok({ ...simulation, funds: outcome.funds })
    },
  )

  api.calculate(
    '/vaults/:code/policies/backtest',
    {
      operationId: 'backtestPolicies',
      summary: 'Backtest policies',
      description:
        'Decides past transfers again by policies that are not saved, from the facts recorded with their decisions. For ' +
        'administrators and auditors. Orders that were refused are in no list of transfers and are not evaluated. Sums ' +
        'of velocity windows that nothing asked for at the time were not recorded: such a limit is in doubt. A call ends ' +
        `after \`limit\` transfers or ${backtestItemsMax} changes; \`nextCursor\` goes on.`,
      access: 'auditor',
      errors: ['invalid_cursor'],
      params: VaultParams,
      body: BacktestOrder,
      answers: { 200: Backtest },
    },
    async (db, { member, body, now }) => {
      const { draft, limit = backtestTransfersMax, cursor, ...given } = body
      const { from, to } = parseBounds(given)
      if (from === null) throw badRequest('from', 'is required')
      const drafts = await readDrafts(db, member.vault.id, draft, now)
      const tag = cursorTag({ list: 'backtest', vaultId: member.vault.id, draft, ...given })
      const page = { limit, after: cursor === undefined ? null : decodeCursor(cursor, tag) }
      const found = await deps.slowReads.inTurn(member.userId, (slow) =>
        backtest(slow, visibleScopeOf(member), drafts, { from, to: to ?? now }, page),
      )
      return ok(toBacktest(found, found.next === null ? null : encodeCursor(found.next, tag)))
    },
  )
}
