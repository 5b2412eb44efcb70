/** A piece of work for the lane of its vault. `perSecond` is the number of pieces that may begin in a second. */
type Entrant = { vaultId: string; perSecond: number }

/** Limits a kind of work for each vault on this node: the number in progress, and the number begun in a second. */
export type Lanes = {
  /** The places of an empty lane, unless its vault permits fewer a second. */
  max: number
  /** The places of the lanes that have fewer, by vault. */
  places(now: Date): Record<string, number>
  /**
   * Takes a place for each of the work that was claimed for these places. The functions that it returns, in the same order,
   * give a place back and tell whether there may be more work that it could begin.
   *
   * @param isCut whether more may be due in any lane, because the claim was limited otherwise
   */
  enter(entrants: Entrant[], places: Record<string, number>, isCut: boolean): (() => boolean)[]
  /** When a lane has places again that began too often; null: no lane did. */
  refilledAt(now: Date): Date | null
  /** The vaults with work in progress. */
  busy(): string[]
}

type Lane = { inProgress: number; left: number; countedAt: number; hasMore: boolean; perSecond: number }

/** Pause until a lane that began too often is looked at again: it then has several places, not one. */
const refillMilliseconds = 250

/** Returns lanes with `max` places each. An idle lane saves up the work of one second. */
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
    const lane = lanes.get(vaultId) ?? { inProgress: 0, left: perSecond, countedAt: at, hasMore: false, perSecond }
    // The vault may have set another rate since.
    lane.perSecond = perSecond
    lane.left = Math.min(lane.left, perSecond)
    lanes.set(vaultId, lane)
    return lane
  }
  let at = 0
  return {
    max,
    places(now) {
      refill(now)
      at = now.getTime()
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
        // A full lane was not looked into: what was known of it stays.
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
    busy: () => [...lanes].filter(([, { inProgress }]) => inProgress > 0).map(([vaultId]) => vaultId),
  }
}
