import { badRequest } from '../../../lib/errors.ts'
import { backtestDaysOfVoters } from '../../../lib/limits.ts'
import type { Bounds } from '../../../lib/period.ts'
import type { Interval } from './stored-decisions.ts'

const dayMilliseconds = 86_400_000

/**
 * The interval that a voter is told about: the shortest of a few that has the one they ask for; pure. It ends when the votes were
 * asked for. Intervals of their choice would be questions: the numbers of two that differ by a minute say what happened in it
 * (decision 0054).
 *
 * @throws 400
 */
export function intervalOfVoter({ from, to }: { from: Date; to: Bounds['to'] }, askedAt: Date): Interval {
  if (to !== null) throw badRequest('to', 'must be left out: the interval ends when the votes were asked for')
  const beginnings = backtestDaysOfVoters.map((days) => new Date(askedAt.getTime() - days * dayMilliseconds))
  const beginning = beginnings.find((one) => one <= from)
  if (beginning === undefined) {
    throw badRequest('from', `must be at most ${backtestDaysOfVoters.at(-1)} days before the votes were asked for`)
  }
  return { from: beginning, to: askedAt }
}
