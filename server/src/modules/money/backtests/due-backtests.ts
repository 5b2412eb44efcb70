import { sql } from 'kysely'
import type { Viewer } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { findMembership } from '../../rules/decisions/decide.ts'
import { findOpenVote } from '../../rules/governance/voters.ts'
import { backtest } from './evaluate.ts'
import { type BacktestRow, backtestJobs, deleteChanges, insertChanges, listGroupIds } from './queries.ts'

/** Runs the waiting backtests one after the other, until none waits or `signal` aborts. */
export async function runDueBacktests(deps: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const taken = await backtestJobs.take(deps.db, deps.clock())
    if (taken === null) return
    await runBacktest(deps, taken, signal)
  }
}

async function runBacktest(deps: Deps, taken: BacktestRow, signal: AbortSignal): Promise<void> {
  const { db, clock, log, slowReads } = deps
  const { vault_id: vaultId, policies, moves } = taken
  try {
    const viewer = await findViewer(deps, taken)
    if (viewer === null) return await backtestJobs.fail(db, taken, 'The requester may no longer run it', clock())
    const { administratorsId } = await listGroupIds(db, vaultId)
    await deleteChanges(db, taken)
    const rules = { vaultId, policies, moves, administratorsId }
    const interval = { from: taken.from_at, to: taken.to_at }
    const result = await backtest(slowReads.db, viewer, rules, interval, async (evaluated, changed) => {
      if (signal.aborted) return false
      await insertChanges(db, taken, changed)
      return backtestJobs.renew(db, taken, clock(), sql`, evaluated_count = ${evaluated}`)
    })
    // Another node has the backtest, or this node stops.
    if (result === null) return await backtestJobs.release(db, taken)
    await backtestJobs.finish(db, taken, sql`result = ${JSON.stringify(result)}`, clock())
  } catch (error) {
    if (signal.aborted) return await backtestJobs.release(db, taken)
    log.error({ err: error, backtestId: taken.id }, 'a backtest failed')
    await backtestJobs.fail(db, taken, 'The backtest could not be made; the log of the service says why', clock())
  }
}

/**
 * Returns the requester as a viewer, or null when they may no longer run the backtest. They must read the whole vault or have a
 * vote on the change of rules that is tried.
 */
async function findViewer({ db, clock }: Deps, taken: BacktestRow): Promise<Viewer | null> {
  const { vault_id: vaultId, requester_id: requesterId, request_id: requestId } = taken
  const requester = await findMembership(db, vaultId, requesterId)
  if (requester === null) return null
  if (requestId !== null) {
    // The viewer is the voter, even if they have come to read more since: the result shows only what a voter may see.
    const openVote = await findOpenVote(db, { vaultId, userId: requesterId }, { requestId }, clock())
    return openVote === null ? null : { ...requester, readsAll: false, vault: { id: vaultId } }
  }
  const readsAll = requester.isAdmin || requester.isAuditor
  return readsAll ? { ...requester, readsAll, vault: { id: vaultId } } : null
}
