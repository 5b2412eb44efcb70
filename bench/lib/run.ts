import type { BenchRecord } from './record.ts'
import type { Stack } from './stack.ts'
import type { World } from './world.ts'

/** What every measurement works with. */
export type Run = {
  stack: Stack
  world: World
  record: BenchRecord
  rounds: number
  /** Of one measurement. */
  seconds: number
  load: { port: number; seconds: number }
  /** Deposits that were answered as credited: so many there must be in the end. */
  acknowledged: number
}
