/** Limits a kind of work for each vault on this node: the number in progress, and the number begun in a second. */
export type Lanes = {
  /** Places of a lane that is empty. */
  max: number
  /** The places of the lanes that have fewer, by vault. */
  places(now: Date): Record<string, number>
  /** Takes a place; the returned function gives it back and tells whether the lane was full. */
  enter(vaultId: string): () => boolean
  /** When a lane has places again that began too often; null: no lane did. */
  refilledAt(now: Date): Date | null
  /** The vaults with work in progress. */
  busy(): string[]
}

type Lane = { inProgress: number; left: number; countedAt: number }

/** Pause until a lane that began too often is looked at again: it then has several places, not one. */
const refillMilliseconds = 250

/** @param perSecond how often work may begin in a lane; a lane that was idle has saved up a second of it */
export function createLanes(max: number, perSecond = Number.POSITIVE_INFINITY): Lanes {
  const lanes = new Map<string, Lane>()
  const isLimited = Number.isFinite(perSecond)

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
    max: isLimited ? Math.min(max, perSecond) : max,
    places(now) {
      refill(now)
      at = now.getTime()
      return Object.fromEntries([...lanes].map(([vaultId, lane]) => [vaultId, placesOf(lane)]))
    },
    enter(vaultId) {
      const lane = lanes.get(vaultId) ?? { inProgress: 0, left: perSecond, countedAt: at }
      lanes.set(vaultId, lane)
      lane.inProgress += 1
      lane.left -= 1
      return () => {
        const wasFull = lane.inProgress >= max
        lane.inProgress -= 1
        return wasFull
      }
    },
    refilledAt(now) {
      const isExhausted = [...lanes.values()].some(({ left }) => left < 1)
      return isExhausted ? new Date(now.getTime() + refillMilliseconds) : null
    },
    busy: () => [...lanes].filter(([, { inProgress }]) => inProgress > 0).map(([vaultId]) => vaultId),
  }
}
