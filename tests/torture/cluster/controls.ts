import { buildWithout, guards } from '../unguarded.ts'
import { ClusterViolation, tortureCluster } from './cluster.ts'
import { commitsCancelled, cutAndKilled, type Fault, pausedAndWokenAfter } from './faults.ts'
import type { StageOptions } from './stage.ts'

/** A protection that is taken away, and the fault that must then lose something that was acknowledged. */
type Control = {
  about: string
  fault: Fault
  isMended?: boolean
  isUnnoticed?: boolean
  configuration?: object
}

export const controls = {
  shipped: { about: 'Patroni 3.0.2 as Debian ships it', fault: pausedAndWokenAfter, isMended: false },
  asynchronous: {
    about: 'asynchronous replication',
    fault: cutAndKilled,
    configuration: { synchronous_mode: false, synchronous_mode_strict: false, maximum_lag_on_failover: 1_000_000_000 },
  },
  unnoticed: {
    about: 'a service that does not hear that a wait for a standby was cancelled',
    fault: commitsCancelled,
    isUnnoticed: true,
  },
} satisfies Record<string, Control>

/**
 * Runs the fault of a control. Returns the violation that it must end with.
 * @throws when nothing was lost, because the harness would then notice no loss
 */
export async function runControl(
  name: keyof typeof controls,
  { seed, ...options }: StageOptions & { seed: number; print?: (line: string) => void },
): Promise<ClusterViolation> {
  const { about, fault, isMended, isUnnoticed, configuration }: Control = controls[name]
  const build = isUnnoticed === true ? buildWithout(guards.standbyNotice, options.serverDir) : null
  const serverDir = build?.serverDir ?? options.serverDir
  try {
    await tortureCluster({ ...options, serverDir, seed, faults: [fault], isMended, configuration })
  } catch (error) {
    if (error instanceof ClusterViolation && error.lost !== null && error.lost.transfers + error.lost.votes > 0)
      return error
    throw error
  } finally {
    build?.remove()
  }
  throw new Error(`${about}: nothing was lost, although a protection is off`)
}
