import { setImmediate } from 'node:timers/promises'
import type { Viewer } from '../../../access/address-scope.ts'
import type { Db } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'
import { backtestPageRows } from '../../../lib/limits.ts'
import { addDecimals, usdValueOf } from '../../../lib/money.ts'
import { type Again, type Change, changes, createDecideAgain, type Rules } from './decide-again.ts'
import { type Interval, listStoredDecisions, type StoredDecision, subjectTypes } from './stored-decisions.ts'

/** `hiddenCount` of the decisions are not visible to the viewer; their value is not part of the sum. */
type Sum = { count: number; hiddenCount: number; usdValue: string; unratedCount: number }
/** The number of decisions that stay and that change, with the USD value of their orders and the number without a rate. */
export type BacktestResult = { evaluated: number } & Record<Change, Sum>

export type ChangedDecision = Pick<StoredDecision, 'type' | 'id' | 'createdAt'> & { change: Exclude<Change, 'same'> }

/**
 * Called after every page with the number of evaluated decisions and the visible changes of the page. Returns false when the
 * result is no longer needed.
 */
type OnPage = (evaluated: number, changed: ChangedDecision[]) => Promise<boolean>

/**
 * Decides the recorded decisions of an interval again under these rules, page by page. Changes nothing. The counts cover the
 * whole vault; hidden decisions are only counted (decision 0054).
 *
 * @returns null when `onPage` ended the backtest
 */
export async function backtest(
  db: Db,
  viewer: Viewer,
  rules: Rules,
  interval: Interval,
  onPage: OnPage,
): Promise<BacktestResult | null> {
  const decideAgain = createDecideAgain(rules)
  const totals = createTotals()
  for (const type of subjectTypes) {
    const pages = pagesOf((after) =>
      listStoredDecisions(db, type, { viewer, interval, after, limit: backtestPageRows }),
    )
    for await (const page of pages) {
      const changed: ChangedDecision[] = []
      for (const [i, stored] of page.entries()) {
        // Lets other requests run.
        if (i % decisionsPerTurn === decisionsPerTurn - 1) await setImmediate()
        const { change, usd } = await decideAgain(stored)
        totals.add(change, usd, stored.isSeen)
        if (change !== 'same' && stored.isSeen)
          changed.push({ type, id: stored.id, createdAt: stored.createdAt, change })
      }
      if (!(await onPage(totals.evaluated(), changed))) return null
    }
  }
  return totals.result()
}

const decisionsPerTurn = 100

/** Yields the pages of a list. The database reads the next page while this process works on the current one. */
async function* pagesOf(
  list: (after: Position | null) => Promise<StoredDecision[]>,
): AsyncGenerator<StoredDecision[], void> {
  let next: Promise<StoredDecision[]> | null = list(null)
  try {
    while (next !== null) {
      const page: StoredDecision[] = await next
      const last = page.at(-1)
      const isLast = page.length < backtestPageRows || last === undefined
      next = isLast ? null : list({ createdAt: last.createdAt, id: last.id })
      // The error is thrown at the await; a caller that stops earlier does not need it.
      next?.catch(() => {})
      yield page
    }
  } finally {
    await next?.catch(() => {})
  }
}

function createTotals() {
  const kinds: Change[] = ['same', ...changes]
  const sums = new Map(kinds.map((change) => [change, { count: 0, hiddenCount: 0, usd: '0', unratedCount: 0 }]))
  let evaluated = 0
  return {
    add(change: Change, usd: Again['usd'], isSeen: boolean): void {
      const sum = sums.get(change)!
      evaluated += 1
      sum.count += 1
      if (!isSeen) sum.hiddenCount += 1
      else if (usd === null) sum.unratedCount += 1
      else if (usd !== undefined) sum.usd = addDecimals(sum.usd, usd)
    },
    evaluated: () => evaluated,
    result(): BacktestResult {
      const ofKinds = [...sums].map(([change, { usd, ...sum }]) => [change, { ...sum, usdValue: inCents(usd) }])
      return { evaluated, ...(Object.fromEntries(ofKinds) as Record<Change, Sum>) }
    },
  }
}

/** Rounds an exact sum to cents. */
export function inCents(usd: string): string {
  const [whole = '0', fraction = ''] = usd.split('.')
  return usdValueOf(BigInt(whole + fraction), fraction.length, '1')
}
