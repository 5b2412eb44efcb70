import { setImmediate } from 'node:timers/promises'
import type { Viewer } from '../../../access/address-scope.ts'
import type { Db } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'
import { backtestPageRows } from '../../../lib/limits.ts'
import { addDecimals, usdValueOf } from '../../../lib/money.ts'
import { type Again, type Change, changes, createDecideAgain, type Rules } from './decide-again.ts'
import { type Interval, listStoredDecisions, type StoredDecision, subjectTypes } from './stored-decisions.ts'

/** `hiddenCount` of the decisions are not seen by the viewer; what they are worth is no part of the sum. */
type Sum = { count: number; hiddenCount: number; usdValue: string; unratedCount: number }
/** The number of decisions that stay and that change, with the USD value of their orders and the number without a rate. */
export type BacktestResult = { evaluated: number } & Record<Change, Sum>

export type ChangedDecision = Pick<StoredDecision, 'type' | 'id' | 'createdAt'> & { change: Exclude<Change, 'same'> }

/** Called with every page: what was evaluated so far, and what changed in it and is seen. false: nobody waits for the result any more. */
type OnPage = (evaluated: number, changed: ChangedDecision[]) => Promise<boolean>

/**
 * Decides the recorded decisions of an interval again under these rules, page by page. Changes nothing. All of the vault is
 * counted; of what the viewer may not see nothing but the count is told (decision 0054).
 *
 * @returns null when `onPage` ended it
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
        // Other requests get their turn meanwhile.
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

/** The pages of a list, of which the database reads the next while this process works on the one before. */
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
      // Its failure is seen when it is awaited; a caller that stops before that does not ask.
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

/** An exact sum, rounded once at the end. */
export function inCents(usd: string): string {
  const [whole = '0', fraction = ''] = usd.split('.')
  return usdValueOf(BigInt(whole + fraction), fraction.length, '1')
}
