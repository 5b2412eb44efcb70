/** Limits a kind of work for each vault on this node: the number in progress, and the number begun in a second. */
export type Lanes = {
  /** Places of a lane that is empty. */
  max: number
  /** The places of the lanes that have fewer, by vault. */
  places(now: Date): Record<string, number>
  /**
   * Takes a place for each of the work that was claimed for these places. The functions that it returns, in the same order,
   * give a place back and tell whether there may be more work that it could begin.
   *
   * @param isCut whether more may be due in any lane, because the claim was limited otherwise
   */
  enter(vaultIds: string[], places: Record<string, number>, isCut: boolean): (() => boolean)[]
  /** When a lane has places again that began too often; null: no lane did. */
  refilledAt(now: Date): Date | null
  /** The vaults with work in progress. */
  busy(): string[]
}

type Lane = { inProgress: number; left: number; countedAt: number; hasMore: boolean }

/** Pause until a lane that began too often is looked at again: it then has several places, not one. */
const refillMilliseconds = 250

/** @param perSecond how often work may begin in a lane; a lane that was idle has saved up a second of it */
export function createLanes(max: number, perSecond = Number.POSITIVE_INFINITY): Lanes {
  const lanes = new Map<string, Lane>()
  const isLimited = Number.isFinite(perSecond)
  const placesAtFirst = isLimited ? Math.min(max, perSecond) : max

  const placesOf = ({ inProgress, left }: Lane) => Math.max(0, Math.min(max - inProgress, Math.floor(left)))
  const refill = (now: Date) => {
    for (const [vaultId, lane] of lanes) {
      const passed = Math.max(0, now.getTime() - lane.countedAt) / 1_000
      if (isLimited) lane.left = Math.min(perSecond, lane.left + passed * perSecond)
      lane.countedAt = now.getTime()
      if (lane.inProgress === 0 && lane.left >= perSecond) lanes.delete(vaultId)
    }
  }
  let at = 0
  return {
    max: placesAtFirst,
    places(now) {
      refill(now)
      at = now.getTime()
      return Object.fromEntries([...lanes].map(([vaultId, lane]) => [vaultId, placesOf(lane)]))
    },
    enter(vaultIds, places, isCut) {
      const taken = new Map<string, number>()
      const entered = vaultIds.map((vaultId) => {
        taken.set(vaultId, (taken.get(vaultId) ?? 0) + 1)
        const lane = lanes.get(vaultId) ?? { inProgress: 0, left: perSecond, countedAt: at, hasMore: false }
        lanes.set(vaultId, lane)
        lane.inProgress += 1
        lane.left -= 1
        return lane
      })
      for (const [vaultId, lane] of lanes) {
        const offered = places[vaultId] ?? placesAtFirst
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
