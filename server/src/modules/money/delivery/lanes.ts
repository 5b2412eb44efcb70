/** A piece of work for the lane of its vault. `perSecond` is the number of pieces of this lane that may begin in a second. */
type Entrant = { vaultId: string; perSecond: number }

/** Limits a kind of work for each vault on this node: the number in progress, and the number begun in a second. */
export type Lanes = {
  /** The number of places of an empty lane, unless its vault permits fewer pieces of work in a second. */
  max: number
  /** Returns the free places of the lanes that are not empty, by vault. */
  places(now: Date): Record<string, number>
  /**
   * Takes a place for each piece of work that was claimed for these places. Returns functions in the same order; each gives its
   * place back and returns true if there may be more work that could begin.
   *
   * @param isCut true if more work may be due in any lane, because the claim was limited for another reason
   */
  enter(entrants: Entrant[], places: Record<string, number>, isCut: boolean): (() => boolean)[]
  /** Returns the time when an exhausted lane has places again; null when no lane is exhausted. */
  refilledAt(now: Date): Date | null
  /** The vaults with work in progress. */
  busy(): string[]
  /** The number of pieces of work in progress, over all vaults. */
  inProgress(): number
}

type Lane = { inProgress: number; left: number; countedAt: number; hasMore: boolean; perSecond: number }

/** The pause until an exhausted lane is checked again: it then has several places instead of one. */
const refillMilliseconds = 250

/** Returns lanes with `max` places each. An idle lane saves up the quota of one second. */
export function createLanes(max: number): Lanes {
  const lanes = new Map<string, Lane>()

  const placesOf = ({ inProgress, left }: Lane) => Math.max(0, Math.min(max - inProgress, Math.floor(left)))
  const refill = (now: Date) => {
    for (const [vaultId, lane] of lanes) {
      const passed = Math.max(0, now.getTime() - lane.countedAt) / 1_000
      // Zero times infinity is not a number.
      if (Number.isFinite(lane.perSecond)) lane.left = Math.min(lane.perSecond, lane.left + passed * lane.perSecond)
      lane.countedAt = now.getTime()
      if (lane.inProgress === 0 && lane.left >= lane.perSecond) lanes.delete(vaultId)
    }
  }
  const laneOf = ({ vaultId, perSecond }: Entrant): Lane => {
    const lane = lanes.get(vaultId) ?? { inProgress: 0, left: perSecond, countedAt, hasMore: false, perSecond }
    // The vault may have set another rate since.
    lane.perSecond = perSecond
    lane.left = Math.min(lane.left, perSecond)
    lanes.set(vaultId, lane)
    return lane
  }
  let countedAt = 0
  return {
    max,
    places(now) {
      refill(now)
      countedAt = now.getTime()
      return Object.fromEntries([...lanes].map(([vaultId, lane]) => [vaultId, placesOf(lane)]))
    },
    enter(entrants, places, isCut) {
      const taken = new Map<string, number>()
      const entered = entrants.map((entrant) => {
        taken.set(entrant.vaultId, (taken.get(entrant.vaultId) ?? 0) + 1)
        const lane = laneOf(entrant)
        lane.inProgress += 1
        lane.left -= 1
        return lane
      })
      for (const [vaultId, lane] of lanes) {
        const offered = places[vaultId] ?? Math.min(max, lane.perSecond)
        // A full lane was not checked: the earlier result stays.
        if (offered > 0) lane.hasMore = isCut || (taken.get(vaultId) ?? 0) >= offered
      }
      return entered.map((lane) => () => {
        lane.inProgress -= 1
        return lane.hasMore && placesOf(lane) > 0
      })
    },
    refilledAt(now) {
      const isExhausted = [...lanes.values()].some(({ left }) => left < 1)
      return isExhausted ? new Date(now.getTime() + refillMilliseconds) : null
    },
    inProgress: () => [...lanes.values()].reduce((sum, { inProgress }) => sum + inProgress, 0),
    busy: () => [...lanes].filter(([, { inProgress }]) => inProgress > 0).map(([vaultId]) => vaultId),
  }
}
