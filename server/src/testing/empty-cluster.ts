import { constants, cpSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Gives a data directory the empty cluster from the set-up of the suite, for tests that are not about creating one. Creating a
 * cluster takes a second of CPU, and a copy takes a fifth of it. Without the set-up of the suite the server creates its own
 * cluster when it starts.
 */
export function copyEmptyCluster(dataDir: string): void {
  const source = process.env.TEST_EMPTY_CLUSTER
  if (source !== undefined) copyCluster(source, dataDir)
}

/** Copies the cluster of a data directory into another one. No server may run on it meanwhile. */
export function copyCluster(source: string, dataDir: string): void {
  for (const name of ['postgres', 'postgres-password']) {
    cpSync(join(source, name), join(dataDir, name), { recursive: true, mode: constants.COPYFILE_FICLONE })
  }
}
