import { tooManyRequests, unavailable } from '../../../lib/errors.ts'

const retrySeconds = 10

export type Slots = ReturnType<typeof createSlots>

/**
 * Limits how many files a node sends at a time, and how many of them to one caller: a download holds connections or memory for
 * as long as its client reads.
 */
export function createSlots({ ofNode, ofCaller }: { ofNode: number; ofCaller: number }) {
  const taken = new Map<string, number>()
  let all = 0
  return {
    /**
     * Takes a slot and returns the function that releases it.
     *
     * @throws 429 when the caller has reached their limit, 503 when the node has none left
     */
    take(callerId: string): () => void {
      const takenByCaller = taken.get(callerId) ?? 0
      if (takenByCaller >= ofCaller) {
        throw tooManyRequests(
          'too_many_at_once',
          `No more than ${ofCaller} files are sent to one caller at a time`,
          retrySeconds,
        )
      }
      if (all >= ofNode) throw unavailable('overloaded', 'Too many files are being sent right now', retrySeconds)
      taken.set(callerId, takenByCaller + 1)
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
