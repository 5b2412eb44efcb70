import type { GroupThreshold } from '../decisions/decision.ts'

/**
 * How many of the votes that groups must give are given; pure. A vote counts for one group alone, so that two of one group and
 * one of another take three people even where somebody is in both (decision 0041).
 * Votes are matched with groups so that as many places as possible are taken.
 *
 * @param votes the groups that each vote may count for
 */
export function placesTaken(thresholds: readonly GroupThreshold[], votes: readonly (readonly string[])[]): number {
  const places = thresholds.flatMap(({ groupId, threshold }) => Array.from({ length: threshold }, () => groupId))
  /** The vote in each place. */
  const takenBy = new Map<number, number>()
  const takePlace = (vote: number, tried: Set<number>): boolean =>
    places.some((groupId, place) => {
      if (tried.has(place) || !votes[vote]!.includes(groupId)) return false
      tried.add(place)
      const holder = takenBy.get(place)
      // The voter who has the place may find another one.
      if (holder !== undefined && !takePlace(holder, tried)) return false
      takenBy.set(place, vote)
      return true
    })
  for (const vote of votes.keys()) {
    if (takenBy.size === places.length) break
    takePlace(vote, new Set())
  }
  return takenBy.size
}

export const placesOf = (thresholds: readonly GroupThreshold[]): number =>
  thresholds.reduce((sum, { threshold }) => sum + threshold, 0)

/** How many more votes it takes at least: for the threshold of all, and for the places of the groups. */
export function votesMissing(
  { threshold, groups }: { threshold: number; groups: readonly GroupThreshold[] },
  votesCount: number,
  votes: readonly (readonly string[])[],
): number {
  return Math.max(0, threshold - votesCount, placesOf(groups) - placesTaken(groups, votes))
}
