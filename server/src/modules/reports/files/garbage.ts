import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/** The amount of garbage before a collection; more than the young generation of V8, which V8 collects itself. */
const garbageBytesMax = (isMainThread ? 32 : 16) * 1_048_576

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
setFlagsFromString('--no-expose-gc')

/** The least memory in use since our last collection, for any file, because buffers are freed with a delay. */
let floor = bytesInUse()

/**
 * Collects garbage when there is enough of it, which takes as long as a few database queries. Millions of rows leave garbage
 * that outlives the young generation of V8, and V8 lets it grow with the memory of the machine: a file that itself needs little
 * memory would make the node several times its size. Called from time to time while a file is made.
 */
export function collectGarbageAbove(): void {
  const used = bytesInUse()
  if (used - floor < garbageBytesMax) {
    floor = Math.min(floor, used)
    return
  }
  collect()
  floor = bytesInUse()
}

function bytesInUse(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}
