import { badRequest } from '../../../lib/errors.ts'
import { timelinePointsMax } from '../../../lib/limits.ts'
import { cutInterval, groupings, type Interval } from '../requests/buckets.ts'

export const timelineSteps = ['hour', ...groupings] as const
type TimelineStep = (typeof timelineSteps)[number]

const hour = 3_600_000

/**
 * Returns the ends of the buckets of an interval, ascending. Hours are whole hours of UTC; days, weeks and months end at
 * midnights of the zone. The last bucket ends with the interval.
 * @throws 400 when there would be too many
 */
export function pointsOf({ from, to }: Interval, zone: string, step: TimelineStep): Date[] {
  const days = (to.getTime() - from.getTime()) / (24 * hour)
  // The interval has at least this number of buckets. The test refuses long intervals before their buckets are computed.
  const bucketsMin = { hour: days * 24 - 1, day: days - 2, week: days / 7 - 2, month: days / 31 - 2 }[step]
  if (bucketsMin > timelinePointsMax) throw tooMany()
  const ends = step === 'hour' ? hoursOf(from, to) : cutInterval({ from, to }, zone, step).buckets.map(({ end }) => end)
  if (ends.length > timelinePointsMax) throw tooMany()
  return ends
}

function hoursOf(from: Date, to: Date): Date[] {
  const ends: Date[] = []
  for (let end = (Math.floor(from.getTime() / hour) + 1) * hour; end < to.getTime(); end += hour)
    ends.push(new Date(end))
  return [...ends, to]
}

const tooMany = () => badRequest('groupBy', `makes more than ${timelinePointsMax} points of this interval`)
