import { tooManyRequests, unavailable } from '../../../lib/errors.ts'

/** Limits how many of something a node does at a time, and how many of them for one caller. */
export type Slots = {
  /**
   * Takes a slot and returns the function that releases it.
   *
   * @throws 429 when the caller has reached their limit, 503 when the node has none left
   */
  take(callerId: string): () => void
}

const retrySeconds = 10

/** A download holds connections or memory for as long as its client reads, so the number of downloads is bounded. */
export function createSlots({ ofNode, ofCaller }: { ofNode: number; ofCaller: number }): Slots {
  const taken = new Map<string, number>()
  let all = 0
  return {
    take(callerId) {
      const own = taken.get(callerId) ?? 0
      if (own >= ofCaller) {
        throw tooManyRequests(
          'too_many_at_once',
          `No more than ${ofCaller} files are sent to one caller at a time`,
          retrySeconds,
        )
      }
      if (all >= ofNode) throw unavailable('overloaded', 'Too many files are being sent right now', retrySeconds)
      taken.set(callerId, own + 1)
      all += 1
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        all -= 1
        const left = taken.get(callerId)! - 1
        if (left === 0) taken.delete(callerId)
        else taken.set(callerId, left)
      }
    },
  }
}
