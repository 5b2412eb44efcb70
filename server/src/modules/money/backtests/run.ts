import { sql } from 'kysely'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { findMembership } from '../../rules/policies/queries.ts'
import { backtest } from './evaluate.ts'
import { type BacktestRow, backtestJobs, deleteChanges, insertChanges, listGroupIds } from './queries.ts'

/** Makes the backtests that wait, one after the other, until none waits or `signal` aborts. */
export async function runDueBacktests(deps: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const taken = await backtestJobs.take(deps.db, deps.clock())
    if (taken === null) return
    await runBacktest(deps, taken, signal)
  }
}

async function runBacktest(deps: Deps, taken: BacktestRow, signal: AbortSignal): Promise<void> {
  const { db, clock, log, slowReads } = deps
  const { vault_id: vaultId, requester_id: requesterId, policies, moves } = taken
  try {
    const requester = await findMembership(db, vaultId, requesterId)
    const readsAll = requester !== null && (requester.isAdmin || requester.isAuditor)
    if (!readsAll) return await backtestJobs.fail(db, taken, 'Who asked for it no longer may', clock())
    const scope = visibleScopeOf({ ...requester, readsAll, vault: { id: vaultId } })
    const { administratorsId } = await listGroupIds(db, vaultId)
    await deleteChanges(db, taken)
    const rules = { vaultId, policies, moves, administratorsId }
    const interval = { from: taken.from_at, to: taken.to_at }
    const result = await backtest(slowReads.db, scope, rules, interval, {
      async onPage(evaluated, changed) {
        if (signal.aborted) return false
        await insertChanges(db, taken, changed)
        return backtestJobs.renew(db, taken, clock(), sql`, evaluated_count = ${evaluated}`)
      },
    })
    // Another node has it, or this one stops.
    if (result === null) return await backtestJobs.release(db, taken)
    await backtestJobs.finish(db, taken, sql`result = ${JSON.stringify(result)}`, clock())
  } catch (error) {
    if (signal.aborted) return await backtestJobs.release(db, taken)
    log.error({ err: error, backtestId: taken.id }, 'a backtest failed')
    await backtestJobs.fail(db, taken, 'The backtest could not be made; the log of the service says why', clock())
  }
}
