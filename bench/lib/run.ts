import type { BenchRecord } from './record.ts'
import type { Stack } from './stack.ts'
import type { World } from './world.ts'

/** The context of every measurement. */
export type Run = {
  stack: Stack
  world: World
  record: BenchRecord
  rounds: number
  /** Duration of one measurement. */
  seconds: number
  load: { port: number; seconds: number }
  /** Number of deposits that were answered as credited. The ledger must hold as many at the end. */
  acknowledged: number
  /** Number of operations that the vault held before the measurements. */
  operations: number
}
