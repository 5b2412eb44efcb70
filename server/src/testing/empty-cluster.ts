import { constants, cpSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Gives a data directory the empty cluster that the suite's set-up made, for tests that are not about making one: that
 * takes a second of CPU, and a copy a fifth of it. Without the suite's set-up the server makes its own as it starts.
 */
export function copyEmptyCluster(dataDir: string): void {
  const source = process.env.TEST_EMPTY_CLUSTER
  if (source === undefined) return
  for (const name of ['postgres', 'postgres-password']) {
    cpSync(join(source, name), join(dataDir, name), { recursive: true, mode: constants.COPYFILE_FICLONE })
  }
}
