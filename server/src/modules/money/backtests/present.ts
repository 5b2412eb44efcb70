import type { Member } from '../../../access/caller.ts'
import { toTrace } from '../../rules/decisions/present.ts'
import { type Again, type Outcome, votesNeeded } from './decide-again.ts'
import { type BacktestResult, inCents } from './evaluate.ts'
import type { BacktestRow, ChangeRow } from './queries.ts'
import type { Backtest, BacktestChange } from './schema.ts'
import type { StoredDecision } from './stored-decisions.ts'

export function toBacktest(row: BacktestRow): Backtest {
  const { decisions_count: count, evaluated_count: evaluated } = row
  return {
    id: row.id,
    status: row.state,
    progress: row.state === 'done' ? 100 : Math.min(99, Math.floor((100 * evaluated) / Math.max(1, count))),
    from: row.from_at.toISOString(),
    to: row.to_at.toISOString(),
    decisionsCount: count,
    result: row.result === null ? null : toResult(row.result),
    failure: row.failure,
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null,
  }
}

/** A result from before the introduction of voters hides nothing. */
function toResult({ evaluated, same, stricter, looser, undecidable }: BacktestResult): BacktestResult {
  const whole = (sum: BacktestResult['same']) => ({ ...{ hiddenCount: 0 }, ...sum })
  return {
    evaluated,
    ...{ same: whole(same), stricter: whole(stricter), looser: whole(looser), undecidable: whole(undecidable) },
  }
}

/** Presents a change. Both traces are limited to the parts of the decision that the viewer may read. */
export function toBacktestChange(
  { change }: ChangeRow,
  stored: StoredDecision,
  again: Again,
  { userId, readsAll }: Pick<Member, 'userId' | 'readsAll'>,
): BacktestChange {
  const reader = { readsAll, isInitiator: stored.steps[0]?.facts?.initiatorId === userId }
  return {
    subjectType: stored.type,
    subjectId: stored.id,
    actionType: stored.actionType,
    createdAt: stored.createdAt.toISOString(),
    change,
    usdValue: again.usd === null || again.usd === undefined ? null : inCents(again.usd),
    lacking: again.lacking,
    before: toOutcome(stored.outcome, toTrace(stored.trace, reader)),
    after: toOutcome(again.after, toTrace(again.trace, reader)),
  }
}

const toOutcome = (outcome: Outcome, trace: Again['trace']) => ({
  effect: outcome.effect,
  decisionPolicy: outcome.decisionPolicy,
  votesNeeded: votesNeeded(outcome),
  trace,
})
