import { nodeRequestsMax } from '../limits.ts'

/** Runs `work` for every item with at most `nodeRequestsMax` at a time; the first error is thrown after all have ended. */
export async function eachLimited<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const faults: unknown[] = []
  async function run() {
    while (next < items.length && faults.length === 0) {
      const item = items[next++]!
      await work(item).catch((error: unknown) => faults.push(error))
    }
  }
  await Promise.all(Array.from({ length: Math.min(nodeRequestsMax, items.length) }, run))
  if (faults.length > 0) throw faults[0]
}
