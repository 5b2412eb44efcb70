import { type Backtest as Found, votesNeeded } from './backtest.ts'
import type { Backtest } from './schema.ts'

export function toBacktest({ items, next: _, ...counts }: Found, nextCursor: string | null): Backtest {
  return {
    ...counts,
    items: items.map(({ transfer, before, after, inDoubt, trace }) => ({
      transferId: transfer.id,
      createdAt: transfer.created_at.toISOString(),
      before: toOutcome(before),
      after: toOutcome(after),
      inDoubt,
      trace,
    })),
    nextCursor,
  }
}

const toOutcome = (outcome: Found['items'][number]['after']) => ({
  effect: outcome.effect,
  decisionPolicy: outcome.decisionPolicy,
  votesNeeded: votesNeeded(outcome),
})
